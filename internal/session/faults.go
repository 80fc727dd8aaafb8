package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// faultWord is what an entry of the timetable begins with that breaks something.
const faultWord = "fault="

// parseFault parses what follows faultWord, and returns the beginning of the fault and, if it has
// one, its end.
func parseFault(word string, from, to time.Duration) ([]tableEntry, error) {
	kind, v, err := workload.ParseFault(word)
	if err != nil {
		return nil, err
	}
	name := workload.FaultKinds()[kind].Setting()
	entry := func(at time.Duration, v float64) tableEntry {
		return tableEntry{name: name, from: at, to: at, At: engine.At{Track: workload.AllTracks, Knob: workload.Knob{Name: name}, Value: v}}
	}
	if to == from {
		return []tableEntry{entry(from, v)}, nil
	}
	return []tableEntry{entry(from, v), entry(to, 0)}, nil
}

// brokenTwice refuses two faults of a kind at the same time: the end of one would end both.
func brokenTwice(list []tableEntry) error {
	var problems workload.Problems
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b tableEntry) int {
		return int(max(min(a.from-b.from, 1), -1))*2 + int(max(min(a.Value-b.Value, 1), -1)) // ends first
	})
	under := map[string]string{}
	for _, e := range list {
		if _, ok := workload.FaultSetting(e.name); !ok {
			continue
		}
		if before, ok := under[e.name]; ok && e.Value != 0 && before != e.text {
			problems.Add(fault.Input(fmt.Errorf("at %q: %q has the same fault then", e.text, before), "let one end before the other begins"))
		}
		if under[e.name] = e.text; e.Value == 0 {
			delete(under, e.name)
		}
	}
	return problems.Err()
}

// faultInWords describes the fault of a kind that begins with the first entry of a timetable, and
// nothing for its end.
func faultInWords(table []engine.At, kind int) []string {
	k := &workload.FaultKinds()[kind]
	at := table[0]
	if at.Value == 0 {
		return nil
	}
	what := k.Name
	if text := k.Format(at.Value); text != "on" {
		what += " of " + text
	}
	for _, end := range table[1:] {
		if end.Knob.Name == at.Knob.Name {
			return []string{fmt.Sprintf("from %s to %s: a fault, %s: %s", at.After, end.After, what, k.Help)}
		}
	}
	return []string{fmt.Sprintf("from %s to the end: a fault, %s: %s", at.After, what, k.Help)}
}

// breakable returns an error of bad input if a timetable has faults that the driver's connections,
// or the servers of the target, cannot have; servers returns nil if they are not the lab's.
func breakable(table []engine.At, d *store.Driver, servers func() Servers) error {
	var problems workload.Problems
	for _, at := range table {
		kind, ok := workload.FaultSetting(at.Knob.Name)
		if !ok || at.Value == 0 {
			continue
		}
		k := &workload.FaultKinds()[kind]
		if role := k.Role(at.Value); role != "" {
			problems.Add(haveRole(servers(), k.Name, role))
			continue
		}
		if d.Breaks == store.BreaksNothing {
			return fault.Input(fmt.Errorf("at: a fault is of the connection to a server, and %s has none", d.Title), "name a server with --target, or memory:")
		}
		problems.Add(k.Check(d.Breaks == store.BreaksConnections))
	}
	return problems.Err()
}

// newProxy returns what the connections of a run go through; nil if its timetable has no faults of
// them.
func newProxy(table []engine.At) *proxy.Proxy {
	if !proxied(table) {
		return nil
	}
	return proxy.New()
}

// HasFaults reports whether a timetable breaks anything.
func HasFaults(table []engine.At) bool {
	return slices.ContainsFunc(table, func(at engine.At) bool { return strings.HasPrefix(at.Knob.Name, "fault-") })
}

// proxied reports whether a timetable breaks connections.
func proxied(table []engine.At) bool {
	return slices.ContainsFunc(table, func(at engine.At) bool {
		kind, ok := workload.FaultSetting(at.Knob.Name)
		return ok && at.Value != 0 && workload.FaultKinds()[kind].Role(at.Value) == ""
	})
}
