package design

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// knobs are those of the groups, and of the receivers of topics if some listen.
func knobs(s *model.Spec, listens bool) []workload.Knob {
	threads, rate := workload.Threads(), workload.Rate("invocations")
	threads.Param, threads.Sum, threads.Help = "threadCount", false, "callers of each group"
	rate.Sum, rate.Help = false, "target rate of each group: invocations are sent on schedule even if the store is slow; 0 = unlimited"
	out := []workload.Knob{threads, rate, payloadKnob(s), batchKnob(s)}
	if listens {
		out = append(out, subscribersKnob())
	}
	return out
}

// What the knob subscribers keeps in Extra: its value, as threads is another knob, and a mark of the
// tracks of receivers, whose threads it turns.
const (
	extraSubscribers = 0
	extraReceiver    = 1
)

func receiver(s workload.Settings) bool { return s.Extra[extraReceiver] != 0 }

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

// rest names the knobs that have no effect on a group's track.
func rest(t *workload.Track, g *model.Group) {
	t.Rest("subscribers", "it calls, and does not receive")
	writes, bulk := false, false
	for _, o := range g.Ops {
		bulk = bulk || o.Action.Bulk()
		for _, m := range o.Family() {
			writes = writes || m.Action.Writes() && (m.Sized() || m.Kind.Topic())
		}
	}
	if !writes {
		t.Rest("payload", "group "+g.Name+" writes no payload")
	}
	if !bulk {
		t.Rest("batch", "group "+g.Name+" makes no calls of several entries")
	}
}

// receives names the knobs that have no effect on a topic's receivers.
func receives(t *workload.Track) {
	for _, name := range []string{"threads", "rate", "payload", "batch"} {
		t.Rest(name, "receivers take what is published")
	}
}

// payloadKnob is that of what is written. It says what it does to what is read.
func payloadKnob(s *model.Spec) workload.Knob {
	k, reads, writes := workload.Payload(), false, false
	for _, o := range s.Order {
		reads, writes = reads || o.Sized() && o.Action.Reads(), writes || (o.Sized() || o.Kind.Topic()) && o.Action.Writes()
	}
	switch {
	case reads && writes:
		k.Keeps = "payload is the size of what is written from now on: what is stored keeps its size"
	case reads:
		k.Fixed = "these groups only read, and what is stored keeps its size"
	}
	return k
}

// batchKnob is that of calls with several entries; a query's limit is of the start alone.
func batchKnob(s *model.Spec) workload.Knob {
	k := workload.Batch()
	if bulk := slices.ContainsFunc(s.Order, func(o *model.Op) bool { return o.Action.Bulk() }); bulk {
		return k
	}
	if slices.ContainsFunc(s.Order, func(o *model.Op) bool { return o.Action == model.ActQuery }) {
		k.Fixed = "it is the most that a query finds, which is set at the start"
	}
	return k
}

// layOut turns the values read into a plan.
func layOut(s *model.Spec, k *keys, in workload.Inputs) *workload.Plan {
	p := &workload.Plan{
		Unit:       "invocations",
		Parameters: k.Shown, Warnings: k.Warnings, Spaces: s.Spaces(),
	}
	if s.Compat {
		p.Evenly = "compat=on"
	}
	notYet := func(int) (workload.Task, error) { return nil, errors.New("group: not connected to a store") }
	listens := false
	for i, step := range s.Steps {
		ph := workload.Phase{Name: stepName(step), Duration: in.Duration / time.Duration(len(s.Steps))}
		if i > 0 {
			ph.After = []string{p.Phases[i-1].Name}
			ph.Name = uniqueName(ph.Name, phaseNames(p))
		}
		for _, g := range step {
			t := workload.Track{Name: g.Track, Ops: g.Names, OpUnits: unitsOf(g.Names), Counted: 1, Start: g.Start, NewTask: notYet}
			rest(&t, g)
			t.Spares = s.Near || slices.ContainsFunc(g.Ops, (*model.Op).Pauses)
			if !s.Wraps(g) {
				t.Total = g.Invocations() * s.TestCount
			}
			ph.Tracks = append(ph.Tracks, t)
			ph.NoCeiling = ph.NoCeiling || s.Interval > 0 || slices.ContainsFunc(g.Ops, (*model.Op).Pauses)
			p.Writes = append(p.Writes, s.Says(g))
		}
		if s.Load != model.LoadOnly {
			for _, l := range s.Topics(i) {
				listens = true
				set := step[0].Start
				set.Threads, set.Rate = s.Subscribers, 0
				set.Extra[extraSubscribers], set.Extra[extraReceiver] = float64(s.Subscribers), 1
				t := workload.Track{Name: l.Track, Ops: []string{model.Delivery}, OpUnits: []string{"messages"}, Counted: -1, Start: set, NewTask: notYet}
				receives(&t)
				ph.Tracks = append(ph.Tracks, t)
			}
		}
		p.Phases = append(p.Phases, ph)
	}
	p.Knobs = knobs(s, listens)
	p.Parameters = append(p.Parameters, unshown(s, k)...)
	p.Bytes = s.Bytes()
	if !s.GoesOn {
		p.Ends = "load=only and resume=on end once nothing is missing"
	}
	var reloaded []string
	for _, sp := range s.Reloaded() {
		reloaded = append(reloaded, sp.Name)
	}
	p.Deletes = ownership.MayResize(reloaded)
	taken, expiring := s.Shrinking()
	if len(taken) > 0 && s.Load != model.LoadOnly {
		p.Deletes = append(p.Deletes, "during the run what operations take from "+units.Listed(taken))
	}
	if len(expiring) > 0 {
		p.Deletes = append(p.Deletes, "during the run what expires of "+units.Listed(expiring))
	}
	for _, sp := range p.Spaces {
		p.Cleanup = append(p.Cleanup, fmt.Sprintf("at the end %s, unless it was there before (--cleanup)", sp.Name))
	}
	return p
}

// unitsOf returns the units of a group's operations: calls, except for the invocation.
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

func stepName(step []*model.Group) string {
	var name strings.Builder
	name.WriteString(step[0].Track)
	for _, g := range step[1:] {
		name.WriteString("&" + g.Track)
	}
	return name.String()
}

// unshown lists the values that belong to groups and operations of the plan but were
// not shown when they were read, such as ref and factory.customerId.max.
func unshown(s *model.Spec, k *keys) []workload.Value {
	shown := map[string]bool{}
	for _, v := range k.Shown {
		shown[v.Name] = true
	}
	var out []workload.Value
	for _, n := range k.names {
		owner, key, ok := cutOwner(n)
		if !ok || shown[n] || !slices.Contains(ownedKeys, key) {
			continue
		}
		isGroup := slices.ContainsFunc(s.Groups, func(g *model.Group) bool { return g.Name == owner })
		if isGroup || s.Ops[owner] != nil || k.isOperation(owner) {
			out = append(out, k.Values[n])
		}
	}
	return out
}
