package workload

import (
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

// InForce is a fault that a store, or what is before it, has at a moment.
type InForce struct {
	// Name names it as --at does: "delay:5ms", "kill:primary". Setting is its name among the changes.
	Name, Setting string
	// Left is how long it still lasts; 0: to the end of the run, or nobody knows.
	Left time.Duration
}

// InForce returns the faults of a run of the plan that are in force at a moment, by their kinds, from
// the changes that were made and those that are planned, each in order of time.
func (p *Plan) InForce(changes, planned []measure.Change, at time.Duration) (out []InForce) {
	var now Faults
	for _, c := range changes {
		if kind, ok := FaultSetting(c.Name); ok {
			now[kind] = c.To
		}
	}
	for kind, v := range now {
		if v == 0 {
			continue
		}
		k := &faultKinds[kind]
		f := InForce{Name: k.Name, Setting: k.Setting()}
		if size := p.FaultSize(k, v); size != "on" {
			f.Name += ":" + size
		}
		for _, c := range planned {
			if c.Name == f.Setting && c.To == 0 && c.At > at {
				f.Left = c.At - at
				break
			}
		}
		out = append(out, f)
	}
	return out
}

// String says which fault it is, and how long it still lasts: "delay:5ms, 12 s left".
func (f InForce) String() string {
	if f.Left <= 0 {
		return f.Name
	}
	return f.Name + ", " + units.Duration(max(f.Left.Round(time.Second), time.Second)) + " left"
}
