package design

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/java"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// builder makes groups and operations from values. It belongs to one call of Design.
type builder struct {
	*values.Reader
	s *model.Spec
	// names are the names of all values, in order.
	names []string
	// original holds the inherited attributes that PadoGrid 1.0.2 would use.
	original map[string]attributes
	making   []string // operations being made, to detect cycles of ER
}

// has reports whether anything is set for a group or an operation.
func (b *builder) has(owner string) bool {
	i, _ := slices.BinarySearch(b.names, owner+".")
	return i < len(b.names) && strings.HasPrefix(b.names[i], owner+".")
}

// own returns the value of an operation's own key, the one with the highest origin
// among several names.
func (b *builder) own(op string, keys ...string) (workload.Value, bool) {
	full := make([]string, len(keys))
	for i, k := range keys {
		full[i] = op + "." + k
	}
	return b.Values.Pick(full...)
}

// where returns the place of the first key of an operation or group.
func (b *builder) where(owner string) string {
	best := workload.Value{}
	for _, n := range b.names {
		if v := b.Values[n]; strings.HasPrefix(n, owner+".") && (best.Name == "" || lineOf(v) < lineOf(best)) {
			best = v
		}
	}
	if best.Name == "" {
		return owner
	}
	return at(best)
}

func lineOf(v workload.Value) int {
	n, _ := strconv.Atoi(v.Where[strings.LastIndexByte(v.Where, ':')+1:])
	return n
}

// ref returns the operation to which another refers.
func (b *builder) ref(op string) (workload.Value, bool) {
	v, ok := b.own(op, "ref")
	if ok {
		v.Text = b.Trim(v)
	}
	return v, ok && v.Text != ""
}

// find returns the value of an operation's key: its own, or that of the operation to
// which it refers, directly or indirectly.
func (b *builder) find(op string, keys ...string) (workload.Value, int, bool) {
	for depth := range 1000 { // cycles have been rejected before
		if v, ok := b.own(op, keys...); ok {
			return v, depth, true
		}
		v, ok := b.ref(op)
		if !ok {
			break
		}
		op = v.Text
	}
	return workload.Value{}, 0, false
}

// checkRefs rejects references to operations that do not exist, and cycles.
func (b *builder) checkRefs(op string) bool {
	path := []string{op}
	for cur := op; ; {
		v, ok := b.ref(cur)
		if !ok {
			return true
		}
		if !b.has(v.Text) {
			if b.Compat {
				b.Warn("%s: %s refers to %s, which is not defined: ignored, as PadoGrid does (compat=on)", at(v), v.Name, v.Text)
				return true
			}
			b.Blame(v.Name, suggest.Hint(v.Text, b.owners()), "%s: %s: there is no operation %q", at(v), v.Name, v.Text)
			return false
		}
		if slices.Contains(path, v.Text) {
			b.Blame(v.Name, "take one of these references out", "%s: %s: the references form a circle: %s", at(v), v.Name, strings.Join(append(path, v.Text), " → "))
			return false
		}
		path = append(path, v.Text)
		cur = v.Text
	}
}

// owners returns the parts of the names before their first dot.
func (b *builder) owners() []string {
	var out []string
	for _, n := range b.names {
		owner, _, ok := cutOwner(n)
		if ok && b.Values[n].Origin > workload.OriginDefault && !slices.Contains(out, owner) {
			out = append(out, owner)
		}
	}
	return out
}

// cutOwner splits "put1.key.prefix" into "put1" and "key.prefix". Names of operations
// may contain dots: the longest known ending counts.
func cutOwner(name string) (owner, key string, ok bool) {
	for i := range len(name) {
		if name[i] == '.' && slices.Contains(ownedKeys, name[i+1:]) {
			return name[:i], name[i+1:], true
		}
	}
	return strings.Cut(name, ".")
}

// ownedKeys are the endings of keys that belong to a group or an operation.
var ownedKeys = func() []string {
	out := []string{
		"name", "comment", "operations", "threadCount", "totalInvocationCount", "threads", "rate", "payload", "batch", "subscribers",
		"ref", "testCase", "payloadSize", "batchSize", "totalEntryCount", "key.prefix", "key.startNum", "randomSeed", "order", "ttl",
		"object", "factory.class", "factory.key.prefix", "factory.key.length", "factory.key.isLeadingZeros", "factory.key.isRandom",
		"factory.er.operation", "factory.er.maxKeys", "factory.er.isRandom", "factory.er.distribution",
		"factory.customerId.prefix", "factory.customerId.max",
	}
	for _, k := range model.Kinds {
		out = append(out, string(k))
	}
	return out
}()

// number reads an integer attribute of an operation: its own, an inherited one, the
// value for all operations, or the default.
func (b *builder) number(op string, p workload.Param, all bool, keys ...string) int64 {
	v, ok := b.attribute(op, keys...)
	if all {
		if every, found := b.Values.Pick(append([]string{p.Name}, keys...)...); found && every.Origin > v.Origin {
			v, ok = every, true
		}
	}
	if !ok {
		v = workload.Value{Name: op + "." + keys[0], Text: p.Default, Origin: workload.OriginDefault}
	}
	n := b.Integer(p, v)
	text := strconv.FormatInt(n, 10)
	if p.Kind == workload.Size {
		text = values.BytesText(n)
	}
	b.Show(op+"."+keys[0], text, v)
	return n
}

// attribute returns an attribute that is inherited through references, as the original
// would find it if compat is on. A difference leads to a warning.
func (b *builder) attribute(op string, keys ...string) (workload.Value, bool) {
	v, depth, ok := b.find(op, keys...)
	if ok && v.Origin > workload.OriginFile && depth == 0 {
		return v, true
	}
	was, known := b.original[op][keys[0]]
	if b.flavoured() && known {
		if b.Compat {
			return was, was.Origin > workload.OriginDefault
		}
		if ok && depth > 0 && v.Text != was.Text && values.FromProperties(v) {
			b.Warn("%s: %s=%s also applies to %s, through its ref; PadoGrid would use %q", at(v), v.Name, strings.TrimSpace(v.Text), op, was.Text)
		}
	}
	return v, ok
}

// flavoured reports whether there is an original to differ from.
func (b *builder) flavoured() bool { return len(b.original) > 0 }

// operation makes an operation with its children, once.
func (b *builder) operation(name string) *model.Op {
	if o, ok := b.s.Ops[name]; ok {
		return o
	}
	if !b.checkRefs(name) {
		return nil
	}
	o := &model.Op{Name: name, Where: b.where(name)}
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
	o.Payload = int(b.number(name, payloadSize, true, "payloadSize", "payload"))
	o.Batch = int(b.number(name, batchSize, true, "batchSize", "batch"))
	o.Total = b.number(name, totalEntryCount, true, "totalEntryCount")
	o.Start = b.number(name, startNum, false, "key.startNum")
	o.RandomSeed = b.number(name, randomSeed, false, "randomSeed")
	o.TTL = time.Duration(b.number(name, ttl, false, "ttl")) * time.Millisecond
	if o.Start == -1 && b.Compat {
		o.Start = 1 // cannot be distinguished from not set
	}
	b.prefix(o)
	if v, _, ok := b.find(name, "order"); ok {
		word, err := v.Choice("random", "sequential")
		b.Problems.Add(err)
		o.Sequential = word == "sequential"
		b.Show(name+".order", word, v)
	}
	b.readFactory(o)
	if b.Compat {
		o.Shared = java.NewRandom(o.RandomSeed)
	}
	if o.TTL > 0 && !slices.Contains([]model.Kind{model.KindCache, model.KindBucket, model.KindHash}, o.Kind) {
		b.Warn("%s: ttl has no effect on a %s; mcache, bucket and hash have one", o.Name, o.Kind)
	}
	if b.s.Database && o.Factory != nil {
		b.asTable(o)
	}
	b.relation(o)
	return o
}

// prefix reads how keys begin.
func (b *builder) prefix(o *model.Op) {
	v, ok := b.attribute(o.Name, "key.prefix")
	if !ok {
		v = workload.Value{Name: o.Name + ".key.prefix", Text: "k", Origin: workload.OriginDefault}
	}
	o.Prefix = b.Trim(v)
	if len(o.Prefix) > 200 || strings.ContainsAny(o.Prefix, "\r\n\x00") {
		b.Blame(v.Name, "", "%s: %s: a prefix has at most 200 bytes and no control characters", at(v), v.Name)
	}
	if b.objectOf(o.Name) == nil { // otherwise a definition says what its keys are like
		b.Show(o.Name+".key.prefix", o.Prefix, v)
	}
}

func (b *builder) sleep(o *model.Op) {
	v, _ := b.own(o.Name, "sleep")
	o.Action, o.Word, o.Target = model.ActSleep, "sleep", "sleep"
	n := b.Integer(workload.Param{Name: "sleep", Default: "0", Min: -1 << 31, Max: 1<<31 - 1}, v)
	o.Pause = time.Duration(max(n, 0)) * time.Millisecond
	b.Show(o.Name+".sleep", strconv.FormatInt(n, 10), v)
}
