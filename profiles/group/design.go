package group

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// Design works out the plan. It touches nothing; all problems are returned
// joined, with the code of bad input.
func Design(in workload.Inputs) (*workload.Plan, *spec, error) {
	b := &builder{Reader: values.New(in.Values, params())}
	for _, n := range in.Values.Names() {
		if !objects.Owns(in.Values[n]) {
			b.names = append(b.names, n)
		}
	}
	s := &spec{
		ops: map[string]*opSpec{}, namespace: in.Namespace, driver: in.Driver, allow: in.AllowExisting,
		seed: in.Seed, wrap: in.Duration > 0 && in.Count == 0, exact: in.Count > 0,
	}
	b.s = s
	b.Lenient = true
	b.common()
	s.model = objects.Read(b.Reader)
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

// common reads what all groups share.
func (b *builder) common() {
	s := b.s
	s.compat = b.OnOff("compat")
	b.Compat = s.compat
	s.testCount = b.Whole("testCount")
	s.interval = time.Duration(b.Whole("testIntervalInMsec")) * time.Millisecond
	b.Whole("printStatusIntervalInSec")
	if v := b.Pick(b.Param("results.dir"), "results.dir"); v.Text != "" {
		b.Warn("results.dir=%s has no effect: --out says where documents go", v.Text)
	}
	s.load = b.Choice("load")
	s.near = b.OnOff("nearCache")
	s.pipelining = b.OnOff("pipelining")
	s.resume = b.OnOff("resume")
	s.mapper = b.Choice("mapper")
	s.colocate = b.Choice("colocate")
	s.fill = b.Choice("fill")
	s.trim = b.Whole("trim")
	s.subs = int(b.Whole("subscribers"))
	b.Choice("children")
	v := b.Pick(b.Param("takeTimeout"), "takeTimeout")
	wait, err := v.Duration()
	b.Problems.Add(err)
	s.takeWait = max(wait, time.Millisecond)
	b.Show("takeTimeout", v.Text, v)
	v = b.Pick(b.Param("today"), "today")
	s.today, err = time.Parse(time.DateOnly, v.Text)
	if err != nil {
		b.Blame("today", "for example 2026-01-01", "today: %q (%s) is not a date", v.Text, v.From())
	}
	b.Show("today", v.Text, v)
	word := b.Choice("database")
	sql := slices.Contains([]string{"mysql", "postgres", "sqlite"}, s.driver)
	s.database = word == "on" || word == "auto" && sql
	b.flavour()
}

// flavour finds out for which PadoGrid the file was written. Structures that the
// Coherence flavour does not know make it one of Redis's.
func (b *builder) flavour() {
	driver := b.s.driver
	for n, v := range b.Values {
		if _, key, ok := cutOwner(n); ok && values.FromProperties(v) && slices.Contains(originalKinds[1:], kind(key)) {
			driver = ""
		}
	}
	b.s.flavour = b.Flavour(driver)
}

// steps reads groupNames.
func (b *builder) steps() [][]string {
	v, ok := b.Values["groupNames"]
	if !ok {
		b.Blame("groupNames", "name a --preset or --file, or say --set groupNames=g1", "groupNames is missing, so that there is no group to run")
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
	var list []*groupSpec
	for _, name := range names {
		g := b.group(name)
		g.step, g.together = i, strings.Join(names, " & ")
		list = append(list, g)
		b.s.groups = append(b.s.groups, g)
	}
	b.s.steps = append(b.s.steps, list)
}

// group makes one group with its operations.
func (b *builder) group(name string) *groupSpec {
	g := &groupSpec{name: name, track: name, where: b.where(name), operations: "putall"}
	for n := 2; slices.ContainsFunc(b.s.groups, func(o *groupSpec) bool { return o.track == g.track }); n++ {
		g.track = fmt.Sprintf("%s#%d", name, n)
	}
	if !b.has(name) && !b.Compat {
		v := b.Values["groupNames"]
		b.Blame("groupNames", suggest.Hint(name, b.owners()), "%s: groupNames: there is no group %q", at(v), name)
		return g
	}
	if v, ok := b.Values[name+".comment"]; ok {
		g.comment = b.Trim(v)
		b.Show(name+".comment", g.comment, v)
	}
	if v, ok := b.Values[name+".name"]; ok {
		b.Show(name+".name", v.Text, v)
	}
	b.settings(g)
	b.operationsOf(g)
	return g
}

// settings reads threads, rate and number of invocations of a group.
func (b *builder) settings(g *groupSpec) {
	p := b.Param("threadCount")
	v := b.Pick(p, g.name+".threads", g.name+".threadCount", "threads", "threadCount")
	g.start.Threads = int(b.Integer(p, v))
	b.Show(g.name+".threadCount", strconv.Itoa(g.start.Threads), v)
	if v, ok := b.Values.Pick(g.name+".rate", "rate"); ok {
		rate, err := v.Float(0, workload.MaxRate)
		b.Problems.Add(err)
		g.start.Rate = rate
	}
	p = b.Param("totalInvocationCount")
	v = b.Pick(p, g.name+".totalInvocationCount", "totalInvocationCount")
	g.total = b.Integer(p, v)
	b.Show(g.name+".totalInvocationCount", strconv.FormatInt(g.total, 10), v)
}

// operationsOf makes the operations of a group, in the order in which they run.
func (b *builder) operationsOf(g *groupSpec) {
	names := []string{"putall"}
	if v, ok := b.Values[g.name+".operations"]; ok {
		names = items(v.Text)
		g.operations, g.where = strings.TrimSpace(v.Text), at(v)
		b.Show(g.name+".operations", g.operations, v)
		if len(names) == 0 {
			b.Blame(v.Name, "", "%s: %s: names no operation", at(v), v.Name)
		}
	} else if !b.Compat {
		b.Fail("add a line such as  "+g.name+".operations=put1", "%s: group %s has no operations", g.where, g.name)
		return
	}
	if b.Compat && b.s.flavour == flavourRedis {
		if sorted := hashOrder(names); strings.Join(sorted, ",") != strings.Join(names, ",") {
			b.Warn("%s: %s.operations run in the order %s, as in PadoGrid (compat=on)", g.where, g.name, strings.Join(sorted, ","))
			names = sorted
		}
	} else if sorted := hashOrder(names); b.flavoured() && b.s.flavour == flavourRedis && strings.Join(sorted, ",") != strings.Join(names, ",") {
		b.Warn("%s: %s.operations run as listed; PadoGrid would run them in the order %s", g.where, g.name, strings.Join(sorted, ","))
	}
	g.names, g.index = []string{invocation}, map[*opSpec]int{}
	for _, name := range names {
		if !b.undefined(g, name) {
			continue
		}
		o := b.operation(name)
		if o == nil {
			continue
		}
		if o.act == actSleep && o.pause == 0 {
			b.Warn("%s: %s pauses for no time and is left out", g.where, name)
			continue
		}
		g.ops = append(g.ops, o)
		for _, member := range o.family() {
			if _, ok := g.index[member]; !ok {
				g.index[member] = len(g.names)
				g.names = append(g.names, uniqueName(member.name, g.names))
			}
		}
		g.start.Payload, g.start.Batch = max(g.start.Payload, o.payload), max(g.start.Batch, 1)
		if o.act.bulk() {
			g.start.Batch = max(g.start.Batch, o.batch)
		}
	}
	if len(g.ops) == 0 && b.Problems.Err() == nil {
		b.Fail("", "%s: group %s has no operation that does anything", g.where, g.name)
	}
	g.start.Batch = max(g.start.Batch, 1)
}

func uniqueName(name string, taken []string) string {
	for slices.Contains(taken, name) {
		name += "_"
	}
	return name
}

// count gives --count away over the groups, and their shares to the threads.
func (b *builder) count(count int64) {
	s := b.s
	if n := int64(len(s.groups)); count > 0 && count < n {
		b.Blame("count", "count at least one invocation a group", "count: %d is fewer than the %d groups that share it", count, n)
		return
	}
	for i, g := range s.groups {
		if count > 0 {
			g.total = int64(workload.Split(int(count), len(s.groups), i))
			g.divide(true)
			continue
		}
		threads := int64(g.start.Threads)
		if g.total < threads {
			b.Fail(fmt.Sprintf("use at most %d threads, or --count, which gives every invocation away", g.total),
				"%s: %s.totalInvocationCount: %d is fewer than its %d threads, so that none has anything to do", g.where, g.name, g.total, threads)
			continue
		}
		g.divide(false)
		if left := g.total % threads; left > 0 {
			b.Warn("%s: %d of %d invocations are left out, as PadoGrid does, because %d threads share them evenly; choose a multiple of the threads, or --count",
				g.name, left, g.total, threads)
		}
	}
	if count > 0 && s.testCount > 1 {
		b.Warn("testCount=%d has no effect: --count invocations are done once", s.testCount)
		s.testCount = 1
	}
}

// leftovers names what is set and has no effect.
func (b *builder) leftovers(groups []string) {
	for _, n := range b.names {
		v := b.Values[n]
		if v.Origin != workload.OriginFile {
			continue
		}
		owner, key, ok := cutOwner(n)
		switch {
		case slices.ContainsFunc(params(), func(p workload.Param) bool { return p.Name == n }), slices.Contains(runNames, n):
		case ok && slices.Contains(groups, owner) && slices.Contains(groupKeys, key):
		case ok && b.s.ops[owner] != nil && slices.Contains(ownedKeys, key), ok && b.referred(owner) && slices.Contains(ownedKeys, key):
		case ok && slices.Contains(ownedKeys, key) && b.isOperation(owner):
			b.Warn("%s: operation %s is defined and no group of groupNames lists it", b.where(owner), owner)
		case ok && slices.Contains(groupKeys, key):
			b.Warn("%s: group %s is defined and groupNames does not name it", b.where(owner), owner)
		case ok && (b.s.ops[owner] != nil || slices.Contains(groups, owner)):
			s := fmt.Sprintf("%s: %s is unknown and has no effect", at(v), n)
			if near := suggest.Nearest(key, ownedKeys); near != "" {
				s += "; did you mean " + owner + "." + near + "?"
			}
			b.unknown(v, s)
		default:
			b.unknown(v, fmt.Sprintf("%s: %s is unknown and has no effect", at(v), n))
		}
	}
}

// unknown warns of a key of others' files and refuses one of ours.
func (b *builder) unknown(v workload.Value, sentence string) {
	if values.FromProperties(v) {
		b.Warn("%s", sentence)
		return
	}
	b.Problems.Add(fault.Field(v.Name, fault.Input(errors.New(sentence), "")))
}

// referred says whether a used operation refers to this one.
func (b *builder) referred(owner string) bool {
	for op := range b.s.ops {
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
	// runNames are values that every run has; files of ours may give them.
	runNames = []string{"duration", "count", "warmup", "seed", "namespace", "threads", "rate", "payload", "batch"}
)
