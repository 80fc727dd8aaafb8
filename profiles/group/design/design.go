// Package design works out the plan of a group run from values alone. It reads
// PadoGrid's own properties files, of both flavours, and touches no store.
package design

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// Design works out the plan. It touches nothing; all problems are returned
// joined, with the code of bad input.
func Design(in workload.Inputs) (*workload.Plan, *model.Spec, error) {
	r := values.New(in.Values)
	k := newKeys(r)
	s := &model.Spec{
		Ops: map[string]*model.Op{}, Namespace: in.Namespace, Driver: in.Driver, Allow: in.AllowExisting,
		Seed: in.Seed, Wrap: in.Wraps() && !in.Endless, GoesOn: in.GoesOn(), Exact: in.Count > 0,
	}
	r.Lenient = true
	s.Compat = r.OnOff(compat)
	r.Compat = s.Compat
	declare(s).Read(r)
	s.GoesOn = s.GoesOn && !s.Resume && s.Load != model.LoadOnly
	s.Model = datagen.Read(r)
	unless := ""
	if s.Compat {
		unless = "with compat=on, threads go from one invocation to the next, as in PadoGrid"
	}
	users := r.Users(unless, "leave it out, or use compat=off")
	if err := r.Problems.Err(); err != nil {
		return nil, nil, err
	}
	steps := readSteps(r)
	if err := r.Problems.Err(); err != nil {
		return nil, nil, err
	}
	all := slices.Concat(steps...)
	made := newGroups(k, s, all)
	for i, step := range steps {
		made.step(i, step)
	}
	if err := r.Problems.Err(); err != nil {
		return nil, nil, err
	}
	divide(s, r, in.Count)
	conflicts(s, r)
	checkResume(s, r)
	s.AssignSpaces(s.Colocate == "on") // maps of parents and children share the hash tag of the first parent
	leftovers(s, k, all)
	idle(s, r)
	if err := r.Problems.Err(); err != nil {
		return nil, nil, err
	}
	p := layOut(s, k, in)
	return p, s, users.In(p, func(t *workload.Track) bool { return !receiver(t.Start) })
}

// readSteps parses groupNames.
func readSteps(r *values.Reader) [][]string {
	v, ok := r.Values["groupNames"]
	if !ok {
		r.Blame("groupNames", "name a --preset or --file, or add --set groupNames=g1", "groupNames is missing, so there is no group to run")
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
			r.Warn("%s: groupNames: %q has a group without a name in step %d, which is left out", at(v), v.Text, i+1)
		}
		if len(names) > 0 {
			out = append(out, names)
		}
	}
	total := 0
	for _, names := range out {
		total += len(names)
	}
	switch {
	case total == 0:
		r.Blame("groupNames", "", "%s: groupNames: %q names no group", at(v), v.Text)
	case total > maxGroups:
		r.Blame("groupNames", "give each operation a group of its own only where that is needed", "%s: groupNames: %d groups are more than %d", at(v), total, maxGroups)
		return nil
	}
	r.Show("groupNames", v.Text, v)
	return out
}

// maxGroups is how many groups a run may have: each has a track of its own.
const maxGroups = 1000

// divide distributes --count over the groups, and the groups' shares over the threads.
func divide(s *model.Spec, r *values.Reader, count int64) {
	if n := int64(len(s.Groups)); count > 0 && count < n {
		r.Blame("count", "count at least one invocation a group", "count: %d is fewer than the %d groups that share it", count, n)
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
			r.Fail(fmt.Sprintf("use at most %s, or --count, which hands out every invocation", units.Plural(g.Total, "thread")),
				"%s: %s.totalInvocationCount: %d is fewer than its %d threads, so no thread has anything to do", g.Where, g.Name, g.Total, threads)
			continue
		}
		g.Divide(false)
		if left := g.Total % threads; left > 0 {
			r.Warn("%s: %d of %d invocations left out, as PadoGrid does, because %d threads share them evenly; choose a multiple of the threads, or --count",
				g.Name, left, g.Total, threads)
		}
	}
	if count > 0 && s.TestCount > 1 {
		if r.Values["testCount"].Origin > workload.OriginPreset { // what comes from a preset is not what the user asked for
			r.Warn("testCount=%d has no effect: --count invocations are done once", s.TestCount)
		}
		s.TestCount = 1
	}
}
