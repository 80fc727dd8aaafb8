package design

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// Knobs recognize the kind of track by a mark in Extra: tracks of topics' receivers
// have threads that the knob subscribers changes, and no rate.
const (
	extraSubscribers = 0
	extraThreads     = 1
	extraRate        = 2
	extraReceiver    = 3
)

func receiver(s workload.Settings) bool { return s.Extra[extraReceiver] != 0 }

func threadsKnob() workload.Knob {
	return ofGroups(workload.Threads(), extraThreads, "callers of each group")
}

func rateKnob() workload.Knob {
	return ofGroups(workload.Rate("invocations"), extraRate, "target rate of each group: invocations are sent on schedule even if the store is slow; 0 = unlimited")
}

// ofGroups returns a knob for the tracks of groups; of tracks of receivers it only
// shows the value.
func ofGroups(k workload.Knob, extra int, help string) workload.Knob {
	get, set := k.Get, k.Set
	k.Sum, k.Help = false, help
	k.Get = func(s workload.Settings) float64 {
		if receiver(s) {
			return s.Extra[extra]
		}
		return get(s)
	}
	k.Set = func(s workload.Settings, v float64) workload.Settings {
		s.Extra[extra] = v
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

// payloadKnob is that of what is written. It says what it does to what is read.
func payloadKnob(s *model.Spec) workload.Knob {
	k, reads, writes := workload.Payload(), false, false
	for _, o := range s.Order {
		reads, writes = reads || o.Sized() && o.Action.Reads(), writes || o.Sized() && o.Action.Writes()
	}
	switch {
	case reads && writes:
		k.Keeps = "payload is the size of what is written from now on: what is stored keeps its size"
	case reads:
		k.Keeps = "payload changes nothing now, as these groups only read: what is stored keeps its size"
	}
	return k
}

// layOut turns the values read into a plan.
func layOut(s *model.Spec, k *keys, in workload.Inputs) *workload.Plan {
	p := &workload.Plan{
		Unit:       "invocations",
		Knobs:      []workload.Knob{threadsKnob(), rateKnob(), payloadKnob(s), workload.Batch()},
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
			g.Start.Extra[extraSubscribers], g.Start.Extra[extraThreads], g.Start.Extra[extraRate] = float64(s.Subscribers), float64(g.Start.Threads), g.Start.Rate
			t := workload.Track{Name: g.Track, Ops: g.Names, OpUnits: unitsOf(g.Names), Counted: 1, Start: g.Start, NewTask: notYet}
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
				set.Threads, set.Rate, set.Extra[extraReceiver] = s.Subscribers, 0, 1
				ph.Tracks = append(ph.Tracks, workload.Track{Name: l.Track, Ops: []string{model.Delivery}, OpUnits: []string{"messages"}, Counted: -1, Start: set, NewTask: notYet})
			}
		}
		p.Phases = append(p.Phases, ph)
	}
	if listens {
		p.Knobs = append(p.Knobs, subscribersKnob())
	}
	p.Parameters = append(p.Parameters, unshown(s, k)...)
	p.Bytes = s.Bytes()
	if !s.GoesOn {
		p.Ends = "load=only and resume=on end once nothing is missing"
	}
	for _, sp := range p.Spaces {
		p.Deletes = append(p.Deletes, fmt.Sprintf("at the end %s, unless it was there before (--cleanup)", sp.Name))
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
