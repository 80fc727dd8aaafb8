package design

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// operations makes each operation once, with its children.
type operations struct {
	*values.Reader
	s          *model.Spec
	keys       *keys
	attributes *inheritance
	factories  *factories
	making     []string // operations being made, to detect cycles of ER
}

// operation makes an operation with its children, once.
func (b *operations) operation(name string) *model.Op {
	if o, ok := b.s.Ops[name]; ok {
		return o
	}
	if !b.keys.checkRefs(name) {
		return nil
	}
	o := &model.Op{Name: name, Where: b.keys.where(name)}
	b.s.Ops[name] = o
	b.s.Order = append(b.s.Order, o)
	if !b.structure(o) {
		return nil
	}
	if o.Kind == model.KindSleep {
		b.sleep(o)
		return o
	}
	b.testCase(o)
	o.Payload = int(b.attributes.number(name, payloadSize, true, "payloadSize", "payload"))
	o.Batch = int(b.attributes.number(name, batchSize, true, "batchSize", "batch"))
	o.Total = b.attributes.number(name, totalEntryCount, true, "totalEntryCount")
	o.Start = b.attributes.number(name, startNum, false, "key.startNum")
	o.RandomSeed = b.attributes.number(name, randomSeed, false, "randomSeed")
	o.TTL = time.Duration(b.attributes.number(name, ttl, false, "ttl")) * time.Millisecond
	if o.Start == -1 && b.Compat {
		o.Start = 1 // cannot be distinguished from not set
	}
	b.prefix(o)
	if v, _, ok := b.keys.find(name, "order"); ok {
		word, err := v.Choice("random", "sequential")
		b.Problems.Add(err)
		o.Sequential = word == "sequential"
		b.Show(name+".order", word, v)
	}
	b.factories.read(o)
	if b.Compat {
		o.Shared = model.NewRandom(o.RandomSeed)
	}
	if o.TTL > 0 && !slices.Contains([]model.Kind{model.KindCache, model.KindBucket, model.KindHash}, o.Kind) {
		b.Warn("%s: ttl has no effect on a %s; mcache, bucket and hash have one", o.Name, o.Kind)
	}
	if b.s.Database && o.Factory != nil {
		asTable(b.Reader, o)
	}
	b.relation(o)
	return o
}

// prefix reads how keys begin.
func (b *operations) prefix(o *model.Op) {
	v, ok := b.attributes.attribute(o.Name, "key.prefix")
	if !ok {
		v = workload.Value{Name: o.Name + ".key.prefix", Text: "k", Origin: workload.OriginDefault}
	}
	o.Prefix = b.Trim(v)
	if len(o.Prefix) > 200 || strings.ContainsAny(o.Prefix, "\r\n\x00") {
		b.Blame(v.Name, "", "%s: %s: a prefix has at most 200 bytes and no control characters", at(v), v.Name)
	}
	if b.factories.objectOf(o.Name) == nil { // otherwise a definition says what its keys are like
		b.Show(o.Name+".key.prefix", o.Prefix, v)
	}
}

func (b *operations) sleep(o *model.Op) {
	v, _ := b.keys.own(o.Name, "sleep")
	o.Action, o.Word, o.Target = model.ActSleep, "sleep", "sleep"
	n := b.Integer(workload.Param{Name: "sleep", Default: "0", Min: -1 << 31, Max: 1<<31 - 1}, v)
	o.Pause = time.Duration(max(n, 0)) * time.Millisecond
	b.Show(o.Name+".sleep", strconv.FormatInt(n, 10), v)
}

// structure finds what an operation works on: the first of its own keys in the
// original's order, or the referenced operation's.
func (b *operations) structure(o *model.Op) bool {
	coherence := b.s.Flavour == model.FlavourCoherence && b.Compat
	for cur, depth := o.Name, 0; depth < 1000; depth++ {
		for _, k := range model.Kinds {
			v, ok := b.keys.own(cur, string(k))
			if !ok || k == model.KindSleep && depth > 0 || coherence && k != model.KindMap {
				continue
			}
			if b.s.Flavour == model.FlavourCoherence && k != model.KindMap && values.FromProperties(v) {
				b.Warn("%s: %s: PadoGrid for Coherence has maps only, and would do a putall on map1", at(v), v.Name)
			}
			if k == model.KindSleep {
				o.Kind = k
				return true
			}
			o.Kind, o.Target, o.Where = k, b.Trim(v), at(v)
			b.Show(o.Name+"."+string(k), o.Target, v)
			checkName(b.Reader, o, v)
			return true
		}
		v, ok := b.keys.ref(cur)
		if !ok || b.Compat && !b.keys.has(v.Text) {
			break
		}
		cur = v.Text
	}
	o.Kind, o.Target = model.KindMap, "map1"
	if other := b.keys.otherStructure(o.Name); other.Name != "" && !b.Compat {
		_, key, _ := cutOwner(other.Name)
		hint := "one of: " + strings.Join(kindNames(), ", ")
		if near := fault.Nearest(key, kindNames()); near != "" {
			hint = "did you mean " + o.Name + "." + near + "? There are " + strings.Join(kindNames(), ", ")
		}
		b.Blame(other.Name, hint, "%s: %s: there is no such structure here", at(other), other.Name)
		return false
	}
	b.Show(o.Name+".map", o.Target, workload.Value{Origin: workload.OriginDefault})
	return true
}

func checkName(r *values.Reader, o *model.Op, v workload.Value) {
	if o.Target == "" || len(o.Target) > 200 || strings.ContainsAny(o.Target, "\r\n\x00") {
		r.Blame(v.Name, "", "%s: %s: a structure's name has 1 to 200 bytes and no control characters", at(v), v.Name)
	}
}

// testCase finds what an operation does with its structure.
func (b *operations) testCase(o *model.Op) {
	v, ok := b.attributes.attribute(o.Name, "testCase")
	if all, found := b.Values["testCase"]; found && all.Origin > v.Origin {
		v, ok = all, true
	}
	fallback := model.WordsOf[o.Kind][0]
	if !ok {
		o.Word = "putall"
		o.Action, _ = model.ActionOf(o.Kind, fallback)
		if b.Compat && b.attributes.original != nil {
			o.Action = model.CompatAction(o.Kind, "putall")
		} else if b.attributes.original != nil && o.Kind.Topic() {
			b.Warn("%s: %s has no testCase and does publishall, as PadoGrid's samples say; PadoGrid would publish one message", o.Where, o.Name)
		}
		b.Show(o.Name+".testCase", string(o.Action), workload.Value{Origin: workload.OriginDefault})
		return
	}
	if values.FromProperties(v) {
		o.Where = v.Where
	}
	text := b.Trim(v)
	o.Word = strings.ToLower(text)
	act, known := model.ActionOf(o.Kind, o.Word)
	was := model.CompatAction(o.Kind, o.Word)
	if b.s.Flavour == model.FlavourCoherence && !slices.Contains([]string{"put", "putall", "get", "getall"}, o.Word) {
		was = model.ActGetAll
	}
	switch {
	case b.Compat && b.attributes.original != nil && values.FromProperties(v):
		o.Action = was
		if !known || act != was {
			b.Warn("%s: %s=%s does %s, as PadoGrid does (compat=on)", at(v), v.Name, text, was)
		}
	case !known:
		o.Action, _ = model.ActionOf(o.Kind, fallback)
		b.Blame(v.Name, fault.Suggest(o.Word, model.WordsOf[o.Kind]), "%s: %s: %q is not a test case of a %s, which has %s", at(v), v.Name, text, o.Kind, strings.Join(model.WordsOf[o.Kind], ", "))
	default:
		o.Action = act
		if values.FromProperties(v) && slices.Contains(model.OriginalKinds, o.Kind) {
			switch {
			case act == model.ActPublishAll && was == model.ActPublish:
				b.Warn("%s: %s=%s publishes batchSize messages in a pipeline; PadoGrid would publish one", at(v), v.Name, o.Word)
			case act != was:
				b.Warn("%s: %s=%s does %s; PadoGrid would do %s", at(v), v.Name, o.Word, act, was)
			}
		}
	}
	b.Show(o.Name+".testCase", o.Word, v)
}

// asTable turns an operation on objects into one on their table, whatever its
// structure.
func asTable(r *values.Reader, o *model.Op) {
	switch act := o.Action; {
	case act == model.ActGet, act == model.ActGetAll, act == model.ActQuery, act == model.ActPutAll:
	case act.Writes() && act.Bulk():
		o.Action = model.ActPutAll
	case act.Writes():
		o.Action = model.ActPut
	default:
		r.Fail("put, putall, get, getall and query work", "%s: operation %s: a table of a database has no %s", o.Where, o.Name, act)
	}
	o.Kind, o.Table = model.KindMap, true
	o.Factory.Born = time.Now().UTC().Truncate(time.Second)
}
