// Package design works out the plan of a group run from values alone. It reads
// PadoGrid's own properties files, of both flavours, and touches no store.
package design

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/java"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// Design works out the plan. It touches nothing; all problems are returned
// joined, with the code of bad input.
func Design(in workload.Inputs) (*workload.Plan, *model.Spec, error) {
	b := &builder{Reader: values.New(in.Values)}
	for _, n := range in.Values.Names() {
		if !objects.Owns(in.Values[n]) {
			b.names = append(b.names, n)
		}
	}
	s := &model.Spec{
		Ops: map[string]*model.Op{}, Namespace: in.Namespace, Driver: in.Driver, Allow: in.AllowExisting,
		Seed: in.Seed, Wrap: in.Wraps() && !in.Endless, GoesOn: in.GoesOn(), Exact: in.Count > 0,
	}
	b.s = s
	b.Lenient = true
	s.Compat = b.OnOff(compat)
	b.Compat = s.Compat
	b.declare().Read(b.Reader)
	s.GoesOn = s.GoesOn && !s.Resume && s.Load != model.LoadOnly
	s.Model = objects.Read(b.Reader)
	if err := b.Problems.Err(); err != nil {
		return nil, nil, err
	}
	steps := b.steps()
	if err := b.Problems.Err(); err != nil {
		return nil, nil, err
	}
	all := slices.Concat(steps...)
	if b.Original() {
		b.simulate(all)
	}
	for i, step := range steps {
		b.step(i, step)
	}
	if err := b.Problems.Err(); err != nil {
		return nil, nil, err
	}
	b.count(in.Count)
	b.conflicts()
	b.checkResume()
	b.lay()
	b.leftovers(all)
	b.idle()
	if err := b.Problems.Err(); err != nil {
		return nil, nil, err
	}
	return layOut(s, b, in), s, nil
}

// steps parses groupNames.
func (b *builder) steps() [][]string {
	v, ok := b.Values["groupNames"]
	if !ok {
		b.Blame("groupNames", "name a --preset or --file, or add --set groupNames=g1", "groupNames is missing, so there is no group to run")
		return nil
	}
	var out [][]string
	for i, step := range strings.Split(v.Text, ",") {
		var names []string
		for name := range strings.SplitSeq(step, "&") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
				continue
			}
			b.Warn("%s: groupNames: %q has a group without a name in step %d, which is left out", at(v), v.Text, i+1)
		}
		if len(names) > 0 {
			out = append(out, names)
		}
	}
	if len(out) == 0 {
		b.Blame("groupNames", "", "%s: groupNames: %q names no group", at(v), v.Text)
	}
	b.Show("groupNames", v.Text, v)
	return out
}

// step makes the groups of one step.
func (b *builder) step(i int, names []string) {
	var list []*model.Group
	for _, name := range names {
		g := b.group(name)
		g.Step, g.Together = i, strings.Join(names, " & ")
		list = append(list, g)
		b.s.Groups = append(b.s.Groups, g)
	}
	b.s.Steps = append(b.s.Steps, list)
}

// group makes one group with its operations.
func (b *builder) group(name string) *model.Group {
	g := &model.Group{Name: name, Track: name, Where: b.where(name), Operations: "putall"}
	for n := 2; slices.ContainsFunc(b.s.Groups, func(o *model.Group) bool { return o.Track == g.Track }); n++ {
		g.Track = fmt.Sprintf("%s#%d", name, n)
	}
	if !b.has(name) && !b.Compat {
		v := b.Values["groupNames"]
		b.Blame("groupNames", suggest.Hint(name, b.owners()), "%s: groupNames: there is no group %q", at(v), name)
		return g
	}
	if v, ok := b.Values[name+".comment"]; ok {
		g.Comment = b.Trim(v)
		b.Show(name+".comment", g.Comment, v)
	}
	if v, ok := b.Values[name+".name"]; ok {
		b.Show(name+".name", v.Text, v)
	}
	b.settings(g)
	b.operationsOf(g)
	return g
}

// settings reads threads, rate and number of invocations of a group.
func (b *builder) settings(g *model.Group) {
	v := b.Pick(threadCount, g.Name+".threads", g.Name+".threadCount", "threads", "threadCount")
	g.Start.Threads = int(b.Integer(threadCount, v))
	b.Show(g.Name+".threadCount", strconv.Itoa(g.Start.Threads), v)
	if v, ok := b.Values.Pick(g.Name+".rate", "rate"); ok {
		rate, err := v.Rate()
		b.Problems.Add(err)
		g.Start.Rate = rate
	}
	v = b.Pick(totalInvocationCount, g.Name+".totalInvocationCount", "totalInvocationCount")
	g.Total = b.Integer(totalInvocationCount, v)
	b.Show(g.Name+".totalInvocationCount", strconv.FormatInt(g.Total, 10), v)
}

// operationsOf makes the operations of a group, in the order in which they run.
func (b *builder) operationsOf(g *model.Group) {
	names := []string{"putall"}
	if v, ok := b.Values[g.Name+".operations"]; ok {
		names = model.Items(v.Text)
		g.Operations, g.Where = strings.TrimSpace(v.Text), at(v)
		b.Show(g.Name+".operations", g.Operations, v)
		if len(names) == 0 {
			b.Blame(v.Name, "", "%s: %s: names no operation", at(v), v.Name)
		}
	} else if !b.Compat {
		b.Fail("add a line such as  "+g.Name+".operations=put1", "%s: group %s has no operations", g.Where, g.Name)
		return
	}
	if b.Compat && b.s.Flavour == model.FlavourRedis {
		if sorted := java.HashOrder(names); strings.Join(sorted, ",") != strings.Join(names, ",") {
			b.Warn("%s: %s.operations run in the order %s, as in PadoGrid (compat=on)", g.Where, g.Name, strings.Join(sorted, ","))
			names = sorted
		}
	} else if sorted := java.HashOrder(names); b.flavoured() && b.s.Flavour == model.FlavourRedis && strings.Join(sorted, ",") != strings.Join(names, ",") {
		b.Warn("%s: %s.operations run as listed; PadoGrid would run them in the order %s", g.Where, g.Name, strings.Join(sorted, ","))
	}
	g.Names, g.Index = []string{model.Invocation}, map[*model.Op]int{}
	for _, name := range names {
		if !b.undefined(g, name) {
			continue
		}
		o := b.operation(name)
		if o == nil {
			continue
		}
		if o.Action == model.ActSleep && o.Pause == 0 {
			b.Warn("%s: %s pauses for 0 ms and is left out", g.Where, name)
			continue
		}
		g.Ops = append(g.Ops, o)
		for _, member := range o.Family() {
			if _, ok := g.Index[member]; !ok {
				g.Index[member] = len(g.Names)
				g.Names = append(g.Names, uniqueName(member.Name, g.Names))
			}
		}
		g.Start.Payload, g.Start.Batch = max(g.Start.Payload, o.Payload), max(g.Start.Batch, 1)
		if o.Action.Bulk() {
			g.Start.Batch = max(g.Start.Batch, o.Batch)
		}
	}
	if len(g.Ops) == 0 && b.Problems.Err() == nil {
		b.Fail("", "%s: group %s has no operation that does anything", g.Where, g.Name)
	}
	g.Start.Batch = max(g.Start.Batch, 1)
}

func uniqueName(name string, taken []string) string {
	for slices.Contains(taken, name) {
		name += "_"
	}
	return name
}

// count distributes --count over the groups, and the groups' shares over the threads.
func (b *builder) count(count int64) {
	s := b.s
	if n := int64(len(s.Groups)); count > 0 && count < n {
		b.Blame("count", "count at least one invocation a group", "count: %d is fewer than the %d groups that share it", count, n)
		return
	}
	for i, g := range s.Groups {
		if count > 0 {
			g.Total = int64(workload.Split(int(count), len(s.Groups), i))
			g.Divide(true)
			continue
		}
		threads := int64(g.Start.Threads)
		if g.Total < threads {
			b.Fail(fmt.Sprintf("use at most %s, or --count, which hands out every invocation", units.Plural(g.Total, "thread")),
				"%s: %s.totalInvocationCount: %d is fewer than its %d threads, so no thread has anything to do", g.Where, g.Name, g.Total, threads)
			continue
		}
		g.Divide(false)
		if left := g.Total % threads; left > 0 {
			b.Warn("%s: %d of %d invocations left out, as PadoGrid does, because %d threads share them evenly; choose a multiple of the threads, or --count",
				g.Name, left, g.Total, threads)
		}
	}
	if count > 0 && s.TestCount > 1 {
		if b.Values["testCount"].Origin > workload.OriginPreset { // what comes from a preset is not what the user asked for
			b.Warn("testCount=%d has no effect: --count invocations are done once", s.TestCount)
		}
		s.TestCount = 1
	}
}

// leftovers names what is set but has no effect.
func (b *builder) leftovers(groups []string) {
	for _, n := range b.names {
		v := b.Values[n]
		if v.Origin != workload.OriginFile {
			continue
		}
		owner, key, ok := cutOwner(n)
		switch {
		case slices.ContainsFunc(Params(), func(p workload.Param) bool { return p.Name == n }), slices.Contains(runNames, n):
		case ok && slices.Contains(groups, owner) && slices.Contains(groupKeys, key):
		case ok && b.s.Ops[owner] != nil && slices.Contains(ownedKeys, key), ok && b.referred(owner) && slices.Contains(ownedKeys, key):
		case ok && slices.Contains(ownedKeys, key) && b.isOperation(owner):
			b.Warn("%s: operation %s is defined, but no group of groupNames lists it", b.where(owner), owner)
		case ok && slices.Contains(groupKeys, key):
			b.Warn("%s: group %s is defined, but groupNames does not name it", b.where(owner), owner)
		case ok && (b.s.Ops[owner] != nil || slices.Contains(groups, owner)):
			s := fmt.Sprintf("%s: %s is unknown and has no effect", at(v), n)
			if near := suggest.Nearest(key, ownedKeys); near != "" {
				s += "; did you mean " + owner + "." + near + "?"
			}
			b.unknown(v, s)
		default:
			s := fmt.Sprintf("%s: %s is unknown and has no effect", at(v), n)
			if near := suggest.Nearest(n, plainNames()); near != "" {
				s += "; did you mean " + near + "?"
			}
			b.unknown(v, s)
		}
	}
}

// plainNames returns the names that belong neither to a group nor to an operation.
func plainNames() []string {
	out := slices.Clone(runNames)
	for _, p := range Params() {
		out = append(out, p.Name)
	}
	return out
}

// unknown warns about a key in others' files, and rejects one in ours.
func (b *builder) unknown(v workload.Value, sentence string) {
	if values.FromProperties(v) {
		b.Warn("%s", sentence)
		return
	}
	b.Problems.Add(fault.Field(v.Name, fault.Input(errors.New(sentence), "")))
}

// referred reports whether an operation in use refers to this one.
func (b *builder) referred(owner string) bool {
	for op := range b.s.Ops {
		for cur, depth := op, 0; depth < 100; depth++ {
			v, ok := b.ref(cur)
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

var (
	groupKeys = []string{"name", "comment", "operations", "threadCount", "totalInvocationCount", "threads", "rate", "payload", "batch", "subscribers"}
	// runNames are values that every run has, which our files may set.
	runNames = []string{"duration", "count", "warmup", "seed", "namespace", "threads", "rate", "payload", "batch"}
)
