package design

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// groups makes the groups of each step, with their operations.
type groups struct {
	*values.Reader
	s          *model.Spec
	keys       *keys
	operations *operations
}

func newGroups(k *keys, s *model.Spec, names []string) *groups {
	attributes := &inheritance{Reader: k.Reader, keys: k}
	if k.Original() {
		attributes.original = simulate(k, names)
	}
	made := &factories{k.Reader, s, k, attributes}
	return &groups{k.Reader, s, k, &operations{Reader: k.Reader, s: s, keys: k, attributes: attributes, factories: made}}
}

// step makes the groups of one step.
func (b *groups) step(i int, names []string) {
	var list []*model.Group
	together := strings.Join(names, " & ")
	for _, name := range names {
		g := b.group(name)
		g.Step, g.Together = i, together
		list = append(list, g)
		b.s.Groups = append(b.s.Groups, g)
	}
	b.s.Steps = append(b.s.Steps, list)
}

// group makes one group with its operations.
func (b *groups) group(name string) *model.Group {
	g := &model.Group{Name: name, Track: name, Where: b.keys.where(name), Operations: "putall"}
	for n := 2; slices.ContainsFunc(b.s.Groups, func(o *model.Group) bool { return o.Track == g.Track }); n++ {
		g.Track = fmt.Sprintf("%s#%d", name, n)
	}
	if !b.keys.has(name) && !b.Compat {
		v := b.Values["groupNames"]
		b.Blame("groupNames", fault.Suggest(name, b.keys.owners()), "%s: groupNames: there is no group %q", at(v), name)
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
func (b *groups) settings(g *model.Group) {
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
func (b *groups) operationsOf(g *model.Group) {
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
		if sorted := model.HashOrder(names); strings.Join(sorted, ",") != strings.Join(names, ",") {
			b.Warn("%s: %s.operations run in the order %s, as in PadoGrid (compat=on)", g.Where, g.Name, strings.Join(sorted, ","))
			names = sorted
		}
	} else if sorted := model.HashOrder(names); b.Original() && b.s.Flavour == model.FlavourRedis && strings.Join(sorted, ",") != strings.Join(names, ",") {
		b.Warn("%s: %s.operations run as listed; PadoGrid would run them in the order %s", g.Where, g.Name, strings.Join(sorted, ","))
	}
	g.Names, g.Index = []string{model.Invocation}, map[*model.Op]int{}
	for _, name := range names {
		if !b.undefined(g, name) {
			continue
		}
		o := b.operations.operation(name)
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

// undefined handles an operation that is listed but for which nothing is set. In a file
// of PadoGrid's it gets all the defaults, as in the original; in a file of ours it is a
// mistake.
func (b *groups) undefined(g *model.Group, name string) bool {
	if b.keys.has(name) || b.Compat {
		return true
	}
	v := b.Values[g.Name+".operations"]
	if !values.FromProperties(v) {
		b.Fail(fault.Suggest(name, b.keys.owners()), "%s: %s.operations: there is no operation %q", g.Where, g.Name, name)
		return false
	}
	said := fmt.Sprintf("%s: %s.operations: %s is listed but not defined, so it gets PadoGrid's defaults: putall on map1", g.Where, g.Name, name)
	if near := fault.Nearest(name, b.keys.owners()); near != "" && !slices.Contains(b.keys.listed(g.Name), near) {
		said += "; was " + near + " meant?"
	}
	b.Warn("%s", said)
	return true
}

func uniqueName(name string, taken []string) string {
	for slices.Contains(taken, name) {
		name += "_"
	}
	return name
}
