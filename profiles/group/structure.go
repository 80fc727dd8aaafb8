package group

import (
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// structure finds what an operation works on: the first of its own keys in the
// original's order, or the referenced operation's.
func (b *builder) structure(o *opSpec) bool {
	coherence := b.s.flavour == flavourCoherence && b.Compat
	for cur, depth := o.name, 0; depth < 1000; depth++ {
		for _, k := range kinds {
			v, ok := b.own(cur, string(k))
			if !ok || k == kindSleep && depth > 0 || coherence && k != kindMap {
				continue
			}
			if b.s.flavour == flavourCoherence && k != kindMap && values.FromProperties(v) {
				b.Warn("%s: %s: PadoGrid for Coherence has maps only, and would do a putall on map1", at(v), v.Name)
			}
			if k == kindSleep {
				o.kind = k
				return true
			}
			o.kind, o.target, o.where = k, b.Trim(v), at(v)
			b.Show(o.name+"."+string(k), o.target, v)
			b.checkName(o, v)
			return true
		}
		v, ok := b.ref(cur)
		if !ok || b.Compat && !b.has(v.Text) {
			break
		}
		cur = v.Text
	}
	o.kind, o.target = kindMap, "map1"
	if other := b.otherStructure(o.name); other.Name != "" && !b.Compat {
		_, key, _ := cutOwner(other.Name)
		hint := "one of: " + strings.Join(kindNames(), ", ")
		if near := suggest.Nearest(key, kindNames()); near != "" {
			hint = "did you mean " + o.name + "." + near + "? There are " + strings.Join(kindNames(), ", ")
		}
		b.Blame(other.Name, hint, "%s: %s: there is no such structure here", at(other), other.Name)
		return false
	}
	b.Show(o.name+".map", o.target, workload.Value{Origin: workload.OriginDefault})
	return true
}

func (b *builder) checkName(o *opSpec, v workload.Value) {
	if o.target == "" || len(o.target) > 200 || strings.ContainsAny(o.target, "\r\n\x00") {
		b.Blame(v.Name, "", "%s: %s: a structure's name has 1 to 200 bytes and no control characters", at(v), v.Name)
	}
}

// foreign are structures of other flavours of PadoGrid.
var foreign = []string{"rmap", "cache", "jcache", "set", "jmap", "replicatedmap", "imap", "iqueue", "itopic", "sset", "tset", "deque"}

// otherStructure returns the key of an operation that looks like a structure and
// is none.
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
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = string(k)
	}
	return out
}

// testCase finds what an operation does with its structure.
func (b *builder) testCase(o *opSpec) {
	v, ok := b.attribute(o.name, "testCase")
	if all, found := b.Values["testCase"]; found && all.Origin > v.Origin {
		v, ok = all, true
	}
	fallback := wordsOf[o.kind][0]
	if !ok {
		o.word = "putall"
		o.act, _ = actionOf(o.kind, fallback)
		if b.Compat && b.flavoured() {
			o.act = compatAction(o.kind, "putall")
		} else if b.flavoured() && o.kind.topic() {
			b.Warn("%s: %s has no testCase and does publishall, as PadoGrid's samples say; PadoGrid would publish one message", o.where, o.name)
		}
		b.Show(o.name+".testCase", string(o.act), workload.Value{Origin: workload.OriginDefault})
		return
	}
	if values.FromProperties(v) {
		o.where = v.Where
	}
	text := b.Trim(v)
	o.word = strings.ToLower(text)
	act, known := actionOf(o.kind, o.word)
	was := compatAction(o.kind, o.word)
	if b.s.flavour == flavourCoherence && !slices.Contains([]string{"put", "putall", "get", "getall"}, o.word) {
		was = actGetAll
	}
	switch {
	case b.Compat && b.flavoured() && values.FromProperties(v):
		o.act = was
		if !known || act != was {
			b.Warn("%s: %s=%s does %s, as PadoGrid does (compat=on)", at(v), v.Name, text, was)
		}
	case !known:
		o.act, _ = actionOf(o.kind, fallback)
		b.Blame(v.Name, suggest.Hint(o.word, wordsOf[o.kind]), "%s: %s: %q is no test case of a %s, which has %s", at(v), v.Name, text, o.kind, strings.Join(wordsOf[o.kind], ", "))
	default:
		o.act = act
		if values.FromProperties(v) && slices.Contains(originalKinds, o.kind) {
			switch {
			case act == actPublishAll && was == actPublish:
				b.Warn("%s: %s=%s publishes batchSize messages in a pipeline; PadoGrid would publish one", at(v), v.Name, o.word)
			case act != was:
				b.Warn("%s: %s=%s does %s; PadoGrid would do %s", at(v), v.Name, o.word, act, was)
			}
		}
	}
	b.Show(o.name+".testCase", o.word, v)
}

// asTable turns an operation on objects into one on their table: what its structure
// is does not count.
func (b *builder) asTable(o *opSpec) {
	switch act := o.act; {
	case act == actGet, act == actGetAll, act == actQuery, act == actPutAll:
	case act.writes() && act.bulk():
		o.act = actPutAll
	case act.writes():
		o.act = actPut
	default:
		b.Fail("put, putall, get, getall and query work", "%s: operation %s: a table of a database has no %s", o.where, o.name, act)
	}
	o.kind, o.table = kindMap, true
	o.factory.born = time.Now().UTC().Truncate(time.Second)
}
