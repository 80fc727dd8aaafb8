package design

import (
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// structure finds what an operation works on: the first of its own keys in the
// original's order, or the referenced operation's.
func (b *builder) structure(o *model.Op) bool {
	coherence := b.s.Flavour == model.FlavourCoherence && b.Compat
	for cur, depth := o.Name, 0; depth < 1000; depth++ {
		for _, k := range model.Kinds {
			v, ok := b.own(cur, string(k))
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
			b.checkName(o, v)
			return true
		}
		v, ok := b.ref(cur)
		if !ok || b.Compat && !b.has(v.Text) {
			break
		}
		cur = v.Text
	}
	o.Kind, o.Target = model.KindMap, "map1"
	if other := b.otherStructure(o.Name); other.Name != "" && !b.Compat {
		_, key, _ := cutOwner(other.Name)
		hint := "one of: " + strings.Join(kindNames(), ", ")
		if near := suggest.Nearest(key, kindNames()); near != "" {
			hint = "did you mean " + o.Name + "." + near + "? There are " + strings.Join(kindNames(), ", ")
		}
		b.Blame(other.Name, hint, "%s: %s: there is no such structure here", at(other), other.Name)
		return false
	}
	b.Show(o.Name+".map", o.Target, workload.Value{Origin: workload.OriginDefault})
	return true
}

func (b *builder) checkName(o *model.Op, v workload.Value) {
	if o.Target == "" || len(o.Target) > 200 || strings.ContainsAny(o.Target, "\r\n\x00") {
		b.Blame(v.Name, "", "%s: %s: a structure's name has 1 to 200 bytes and no control characters", at(v), v.Name)
	}
}

// foreign are structures of other flavours of PadoGrid.
var foreign = []string{"rmap", "cache", "jcache", "set", "jmap", "replicatedmap", "imap", "iqueue", "itopic", "sset", "tset", "deque"}

// otherStructure returns the key of an operation that looks like a structure but is
// not.
func (b *builder) otherStructure(op string) workload.Value {
	for _, n := range b.names {
		owner, key, ok := cutOwner(n)
		if !ok || owner != op || slices.Contains(ownedKeys, key) || strings.Contains(key, ".") {
			continue
		}
		if slices.Contains(foreign, strings.ToLower(key)) || suggest.Nearest(key, kindNames()) != "" {
			return b.Values[n]
		}
	}
	return workload.Value{}
}

func kindNames() []string {
	out := make([]string, len(model.Kinds))
	for i, k := range model.Kinds {
		out[i] = string(k)
	}
	return out
}

// testCase finds what an operation does with its structure.
func (b *builder) testCase(o *model.Op) {
	v, ok := b.attribute(o.Name, "testCase")
	if all, found := b.Values["testCase"]; found && all.Origin > v.Origin {
		v, ok = all, true
	}
	fallback := model.WordsOf[o.Kind][0]
	if !ok {
		o.Word = "putall"
		o.Action, _ = model.ActionOf(o.Kind, fallback)
		if b.Compat && b.flavoured() {
			o.Action = model.CompatAction(o.Kind, "putall")
		} else if b.flavoured() && o.Kind.Topic() {
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
	case b.Compat && b.flavoured() && values.FromProperties(v):
		o.Action = was
		if !known || act != was {
			b.Warn("%s: %s=%s does %s, as PadoGrid does (compat=on)", at(v), v.Name, text, was)
		}
	case !known:
		o.Action, _ = model.ActionOf(o.Kind, fallback)
		b.Blame(v.Name, suggest.Hint(o.Word, model.WordsOf[o.Kind]), "%s: %s: %q is not a test case of a %s, which has %s", at(v), v.Name, text, o.Kind, strings.Join(model.WordsOf[o.Kind], ", "))
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
func (b *builder) asTable(o *model.Op) {
	switch act := o.Action; {
	case act == model.ActGet, act == model.ActGetAll, act == model.ActQuery, act == model.ActPutAll:
	case act.Writes() && act.Bulk():
		o.Action = model.ActPutAll
	case act.Writes():
		o.Action = model.ActPut
	default:
		b.Fail("put, putall, get, getall and query work", "%s: operation %s: a table of a database has no %s", o.Where, o.Name, act)
	}
	o.Kind, o.Table = model.KindMap, true
	o.Factory.Born = time.Now().UTC().Truncate(time.Second)
}
