package group

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// lay gives every operation the space of its structure. On a cluster, or when
// asked to, maps of parents and children lie under the tag of the first parent.
func (b *builder) lay() { b.s.lay(b.s.colocate == "on") }

func (s *spec) lay(together bool) {
	related := map[string]bool{}
	if together {
		for _, o := range s.order {
			if o.kind == kindMap && (o.er != nil || o.parent != nil) {
				related[o.target] = true
			}
		}
	}
	for _, o := range s.order {
		if o.table {
			o.space = store.Space{Namespace: s.namespace, Name: o.factory.entity.name, Shape: tableShape}
		} else if o.kind != kindSleep {
			o.space = spaceOf(s.namespace, o.kind, o.target, o.kind == kindMap && related[o.target])
		}
	}
}

// spaces lists the places that the plan touches, each once.
func (s *spec) spaces() []store.Space {
	var out []store.Space
	for _, o := range s.order {
		if o.kind == kindSleep || o.kind == kindTopic || o.kind == kindSTopic || slices.Contains(out, o.space) {
			continue
		}
		out = append(out, o.space)
	}
	return out
}

// Knobs see which track they turn by a mark in Extra: those of topics' receivers
// have threads that the knob subscribers turns, and no rate.
const (
	extraSubscribers = 0
	extraThreads     = 1
	extraRate        = 2
	extraReceiver    = 3
)

func receiver(s workload.Settings) bool { return s.Extra[extraReceiver] != 0 }

func threadsKnob() workload.Knob {
	k := workload.Threads()
	get, set := k.Get, k.Set
	k.Sum, k.Help = false, "callers of each group"
	k.Get = func(s workload.Settings) float64 {
		if receiver(s) {
			return s.Extra[extraThreads]
		}
		return get(s)
	}
	k.Set = func(s workload.Settings, v float64) workload.Settings {
		s.Extra[extraThreads] = v
		if receiver(s) {
			return s
		}
		return set(s, v)
	}
	return k
}

func rateKnob() workload.Knob {
	k := workload.Rate("invocations")
	get, set := k.Get, k.Set
	k.Sum, k.Help = false, "invocations of each group that are due per second, whatever the store does; 0: as fast as the threads go"
	k.Get = func(s workload.Settings) float64 {
		if receiver(s) {
			return s.Extra[extraRate]
		}
		return get(s)
	}
	k.Set = func(s workload.Settings, v float64) workload.Settings {
		s.Extra[extraRate] = v
		if receiver(s) {
			return s
		}
		return set(s, v)
	}
	return k
}

func subscribersKnob() workload.Knob {
	return workload.Knob{
		Name: "subscribers", Unit: "subscribers", Help: "receivers of each topic, each of every message", Min: 1, Max: 256, Step: 1,
		Get: func(s workload.Settings) float64 { return s.Extra[extraSubscribers] },
		Set: func(s workload.Settings, v float64) workload.Settings {
			s.Extra[extraSubscribers] = v
			if receiver(s) {
				s.Threads = int(v)
			}
			return s
		},
	}
}

// plan turns what was read into a plan.
func plan(s *spec, b *builder, in workload.Inputs) *workload.Plan {
	p := &workload.Plan{
		Unit:       "invocations",
		Knobs:      []workload.Knob{threadsKnob(), rateKnob(), workload.Payload(), workload.Batch()},
		Parameters: b.Shown, Warnings: b.Warnings, Binder: s, Spaces: s.spaces(),
	}
	notYet := func(int) (workload.Task, error) { return nil, errors.New("group: not connected to a store") }
	listens := false
	for i, step := range s.steps {
		ph := workload.Phase{Name: stepName(step), Duration: in.Duration / time.Duration(len(s.steps))}
		if i > 0 {
			ph.After = []string{p.Phases[i-1].Name}
			ph.Name = uniqueName(ph.Name, phaseNames(p))
		}
		for _, g := range step {
			g.start.Extra = [4]float64{float64(s.subs), float64(g.start.Threads), g.start.Rate}
			t := workload.Track{Name: g.track, Ops: g.names, OpUnits: unitsOf(g.names), Counted: 1, Start: g.start, NewTask: notYet}
			if !s.wrap {
				t.Total = g.invocations() * s.testCount
			}
			ph.Tracks = append(ph.Tracks, t)
			ph.NoCeiling = ph.NoCeiling || s.interval > 0 || slices.ContainsFunc(g.ops, (*opSpec).pauses)
			p.Writes = append(p.Writes, s.says(g))
		}
		if s.load != loadOnly {
			for _, l := range s.topics(i) {
				listens = true
				set := step[0].start
				set.Threads, set.Rate, set.Extra[extraReceiver] = s.subs, 0, 1
				ph.Tracks = append(ph.Tracks, workload.Track{Name: l.track, Ops: []string{delivery}, OpUnits: []string{"messages"}, Counted: -1, Start: set, NewTask: notYet})
			}
		}
		p.Phases = append(p.Phases, ph)
	}
	if listens {
		p.Knobs = append(p.Knobs, subscribersKnob())
	}
	p.Parameters = append(p.Parameters, b.unshown()...)
	p.Bytes = s.bytes()
	for _, sp := range p.Spaces {
		p.Deletes = append(p.Deletes, fmt.Sprintf("at the end %s, unless it was there before (--cleanup)", sp.Name))
	}
	return p
}

// unitsOf are what the operations of a group count: calls, but for its invocation.
func unitsOf(ops []string) []string {
	out := slices.Repeat([]string{"calls"}, len(ops))
	out[0] = ""
	return out
}

func phaseNames(p *workload.Plan) []string {
	var out []string
	for _, ph := range p.Phases {
		out = append(out, ph.Name)
	}
	return out
}

func stepName(step []*groupSpec) string {
	var name strings.Builder
	name.WriteString(step[0].track)
	for _, g := range step[1:] {
		name.WriteString("&" + g.track)
	}
	return name.String()
}

// listening is the receivers of one topic in one step.
type listening struct {
	op    *opSpec
	track string
	step  int
}

// topics lists what is published to in a step, when somebody is to listen.
func (s *spec) topics(step int) []listening {
	var out []listening
	if s.subs == 0 {
		return nil
	}
	for _, o := range s.flow(step) {
		if !o.kind.topic() || slices.ContainsFunc(out, func(l listening) bool { return l.op.kind == o.kind && l.op.target == o.target }) {
			continue
		}
		name := o.target + "-subscribers"
		for i := range step {
			if slices.ContainsFunc(s.topics(i), func(l listening) bool { return l.track == name }) {
				name += "#" + strconv.Itoa(step+1)
				break
			}
		}
		out = append(out, listening{o, name, step})
	}
	return out
}

// reach is how many distinct keys an operation of a group writes or may read, and
// the first and last of their numbers.
func (o *opSpec) reach(g *groupSpec) (first, last int64) {
	n := max(g.invocations(), 1)
	switch {
	case o.act == actPutAll || o.act == actAddAll && o.kind.keyed(), o.act == actGet, o.act == actGetAll, o.act == actQuery:
		return o.start, o.start + o.total - 1
	}
	return o.start, o.start + n - 1
}

// bytes is the volume of values that the plan may store.
func (s *spec) bytes() int64 {
	var sum int64
	type place struct {
		space store.Space
		form  string
	}
	most := map[place]int64{}
	for _, g := range s.groups {
		for _, o := range g.ops {
			if o.kind == kindSleep || o.kind == kindTopic || o.kind == kindSTopic {
				continue
			}
			first, last := o.reach(g)
			n := last - first + 1
			size := int64(o.payload)
			if o.factory != nil {
				size = o.factory.bytes(o.payload)
			}
			switch o.kind {
			case kindSet, kindZSet:
				size = 16
			case kindList, kindQueue, kindRTopic:
				if !o.act.writes() {
					continue
				}
				n = g.invocations() * int64(max(o.batchOf(g, &g.start), 1)) * s.testCount
				if s.trim > 0 && o.kind == kindRTopic {
					n = min(n, s.trim)
				}
			}
			if size > 0 && n > (1<<62)/size {
				return 1 << 62
			}
			key := place{o.space, o.form()}
			most[key] = max(most[key], n*size)
			for c := o.er; c != nil; c = c.child.er {
				n *= c.most
				sum += n * c.child.objectBytes()
			}
		}
	}
	for _, v := range most {
		sum += v
	}
	return max(sum, 0)
}

// pauses says whether an operation or what is done with it is a pause.
func (o *opSpec) pauses() bool {
	return slices.ContainsFunc(o.family(), func(m *opSpec) bool { return m.act == actSleep })
}

// form tells the keys of one operation from those of another on one structure:
// operations of the same form write the same keys for the same numbers.
func (o *opSpec) form() string {
	if f := o.factory; f != nil {
		if d := f.entity.object; d != nil {
			return "object " + d.Name
		}
		if f.random {
			return "random " + f.entity.name
		}
		return fmt.Sprintf("%q %d %t", f.prefix, f.length, f.zeros)
	}
	return fmt.Sprintf("%q", o.prefix)
}

// says tells what a group does to the store, in words.
func (s *spec) says(g *groupSpec) string {
	n := strconv.FormatInt(g.invocations(), 10) + " invocations"
	switch {
	case s.wrap:
		n += ", again and again,"
	case s.testCount > 1:
		n += fmt.Sprintf(", %d times,", s.testCount)
	}
	text := fmt.Sprintf("group %s: %s by %d threads", g.track, n, g.start.Threads)
	seen := []string{}
	for _, o := range g.ops {
		for _, m := range o.family() {
			if m.kind == kindSleep {
				continue
			}
			what := fmt.Sprintf("%s on %s %s", m.act, m.kind, m.target)
			if d := m.object(); d != nil {
				what = fmt.Sprintf("%s of %s on %s %s", m.act, d.Name, m.kind, m.target)
			}
			if !slices.Contains(seen, what) {
				seen = append(seen, what)
			}
		}
	}
	for i, what := range seen {
		if i == 4 && len(seen) > 5 {
			return text + fmt.Sprintf(", and %d more", len(seen)-4)
		}
		text += map[bool]string{true: ": ", false: ", "}[i == 0] + what
	}
	return text
}

// unshown lists the values that belong to groups and operations of the plan and
// that were not shown as read, such as ref and factory.customerId.max..
func (b *builder) unshown() []workload.Value {
	shown := map[string]bool{}
	for _, v := range b.Shown {
		shown[v.Name] = true
	}
	var out []workload.Value
	for _, n := range b.names {
		owner, key, ok := cutOwner(n)
		if !ok || shown[n] || !slices.Contains(ownedKeys, key) {
			continue
		}
		isGroup := slices.ContainsFunc(b.s.groups, func(g *groupSpec) bool { return g.name == owner })
		if isGroup || b.s.ops[owner] != nil || b.isOperation(owner) {
			out = append(out, b.Values[n])
		}
	}
	return out
}
