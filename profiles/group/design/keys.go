package design

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// keys are what is set for groups and operations, by name: OWNER.KEY.
type keys struct {
	*values.Reader
	names []string // of all values, in order
}

func newKeys(r *values.Reader) *keys {
	k := &keys{Reader: r}
	for _, n := range r.Values.Names() {
		if !datagen.Owns(r.Values[n]) {
			k.names = append(k.names, n)
		}
	}
	return k
}

// has reports whether anything is set for a group or an operation.
func (k *keys) has(owner string) bool {
	i, _ := slices.BinarySearch(k.names, owner+".")
	return i < len(k.names) && strings.HasPrefix(k.names[i], owner+".")
}

// own returns the value of an operation's own key, the one with the highest origin
// among several names.
func (k *keys) own(op string, keys ...string) (workload.Value, bool) {
	full := make([]string, len(keys))
	for i, k := range keys {
		full[i] = op + "." + k
	}
	return k.Values.Pick(full...)
}

// where returns the place of the first key of an operation or group.
func (k *keys) where(owner string) string {
	best := workload.Value{}
	for _, n := range k.names {
		if v := k.Values[n]; strings.HasPrefix(n, owner+".") && (best.Name == "" || lineOf(v) < lineOf(best)) {
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
func (k *keys) ref(op string) (workload.Value, bool) {
	v, ok := k.own(op, "ref")
	if ok {
		v.Text = k.Trim(v)
	}
	return v, ok && v.Text != ""
}

// find returns the value of an operation's key: its own, or that of the operation to
// which it refers, directly or indirectly.
func (k *keys) find(op string, keys ...string) (workload.Value, int, bool) {
	for depth := range 1000 { // cycles have been rejected before
		if v, ok := k.own(op, keys...); ok {
			return v, depth, true
		}
		v, ok := k.ref(op)
		if !ok {
			break
		}
		op = v.Text
	}
	return workload.Value{}, 0, false
}

// checkRefs rejects references to operations that do not exist, and cycles.
func (k *keys) checkRefs(op string) bool {
	path := []string{op}
	for cur := op; ; {
		v, ok := k.ref(cur)
		if !ok {
			return true
		}
		if !k.has(v.Text) {
			if k.Compat {
				k.Warn("%s: %s refers to %s, which is not defined: ignored, as PadoGrid does (compat=on)", at(v), v.Name, v.Text)
				return true
			}
			k.Blame(v.Name, fault.Suggest(v.Text, k.owners()), "%s: %s: there is no operation %q", at(v), v.Name, v.Text)
			return false
		}
		if slices.Contains(path, v.Text) {
			k.Blame(v.Name, "take one of these references out", "%s: %s: the references form a circle: %s", at(v), v.Name, strings.Join(append(path, v.Text), " → "))
			return false
		}
		path = append(path, v.Text)
		cur = v.Text
	}
}

// referred reports whether one of these operations refers to this one.
func (k *keys) referred(owner string, ops map[string]*model.Op) bool {
	for op := range ops {
		for cur, depth := op, 0; depth < 100; depth++ {
			v, ok := k.ref(cur)
			if !ok {
				break
			}
			if v.Text == owner {
				return true
			}
			cur = v.Text
		}
	}
	return false
}

// owners returns the parts of the names before their first dot.
func (k *keys) owners() []string {
	var out []string
	for _, n := range k.names {
		owner, _, ok := cutOwner(n)
		if ok && k.Values[n].Origin > workload.OriginDefault && !slices.Contains(out, owner) {
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

// listed returns the names of a group's operations as listed in the file.
func (k *keys) listed(g string) []string {
	v, ok := k.Values[g+".operations"]
	if !ok {
		return []string{"putall"}
	}
	return model.Items(v.Text)
}

// isOperation reports whether something is defined as an operation: it has a structure
// or a test case.
func (k *keys) isOperation(owner string) bool {
	for _, key := range append(kindNames(), "testCase", "ref") {
		if _, ok := k.Values[owner+"."+key]; ok {
			return true
		}
	}
	return false
}

// foreign are structures of other flavours of PadoGrid.
var foreign = []string{"rmap", "cache", "jcache", "set", "jmap", "replicatedmap", "imap", "iqueue", "itopic", "sset", "tset", "deque"}

// otherStructure returns the key of an operation that looks like a structure but is
// not.
func (k *keys) otherStructure(op string) workload.Value {
	for _, n := range k.names {
		owner, key, ok := cutOwner(n)
		if !ok || owner != op || slices.Contains(ownedKeys, key) || strings.Contains(key, ".") {
			continue
		}
		if slices.Contains(foreign, strings.ToLower(key)) || fault.Nearest(key, kindNames()) != "" {
			return k.Values[n]
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

// at names the place of a value for messages: file and line, if known.
func at(v workload.Value) string {
	if v.Where == "" {
		return v.Origin.String()
	}
	return v.Where
}

var (
	groupKeys = []string{"name", "comment", "operations", "threadCount", "totalInvocationCount", "threads", "rate", "payload", "batch", "subscribers"}
	// runNames are values that every run has, which our files may set.
	runNames = []string{"duration", "count", "warmup", "seed", "namespace", "threads", "rate", "payload", "batch"}
)
