package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// machineFacts are the facts of the environment that are the same for all runs of one
// machine and program.
var machineFacts = []string{"perfbench", "go", "os", "arch", "cpus", "gomaxprocs", "host"}

// Conditions say how a run was measured, and whether its figures stand.
type Conditions struct {
	ID      string `json:"id"`
	Profile string `json:"profile"`
	Mode    string `json:"mode,omitempty"`
	Unit    string `json:"unit"`
	// Units maps TRACK.OP to the unit of each operation that counts something other than
	// Unit.
	Units map[string]string `json:"units,omitempty"`
	// Target is the URL, without secrets.
	Target  string       `json:"target"`
	Store   rundir.Store `json:"store"`
	Started time.Time    `json:"started"`
	// MeasuredS is the length of the measured part in seconds.
	MeasuredS float64 `json:"measured_s"`
	EndedBy   string  `json:"ended_by"`
	Seed      int64   `json:"seed"`
	// Turn is nil for a run that did not take turns with others.
	Turn *rundir.Turn `json:"turn,omitempty"`
	// DataBytes is the total size of the values that the plan stores, 0 if unknown.
	DataBytes  int64              `json:"data_bytes,omitempty"`
	Settings   map[string]float64 `json:"settings"`
	Parameters map[string]string  `json:"parameters"`
	// Sought is what a search looked for, and Under the conditions; empty for other runs.
	Sought Figure   `json:"sought,omitempty"`
	Under  []string `json:"under,omitempty"`
	// Changes is how many live changes there were: what was done at once, such as by one key for all
	// tracks, is one.
	Changes int `json:"changes,omitempty"`
	// Turned are the settings that they turned, and how far.
	Turned map[string]Span `json:"turned,omitempty"`
	// Paced means that the rate changed as the run went.
	Paced bool `json:"paced,omitempty"`
	// Segments is how many segments its figures mix; 0 if live changes made none.
	Segments int `json:"segments,omitempty"`
	// Machine holds facts that are the same for all runs of one machine and program.
	Machine map[string]string `json:"machine,omitempty"`
	// Failed means that the stored data did not match what was acknowledged; State and
	// Causes are the verdict on the run.
	Failed bool     `json:"failed,omitempty"`
	State  string   `json:"state"`
	Causes []string `json:"causes,omitempty"`
}

// UnitOf returns the unit of the count of an operation; nil stands for all calls.
func (c *Conditions) UnitOf(op *measure.Operation) string {
	if op == nil {
		return c.Unit
	}
	return cmp.Or(c.Units[op.Track+"."+op.Op], c.Unit)
}

// otherUnits is the unit of a figure whose sides count different things.
const otherUnits = "units"

// Unit returns the unit of the count of an operation on both sides; nil stands for all calls.
func (c *Comparison) Unit(op *measure.Operation) string {
	a, b := c.A.Runs[0].Conditions.UnitOf(op), c.B.Runs[0].Conditions.UnitOf(op)
	if a != b {
		return otherUnits
	}
	return a
}

// uncounted withdraws the judgements on figures of units, where one side counts other things.
func uncounted(fs []Finding) {
	for i := range fs {
		if f := &fs[i]; f.Figure == Throughput || f.Figure == ClientCPU || f.Figure == StoreCPU || f.Figure.bySearch() && f.Figure != MostThreads {
			f.Verdict, f.Within, f.Power, f.Change = Noted, 0, nil, math.NaN()
		}
	}
}

// ConditionsOf reads the conditions of a run from its record.
func ConditionsOf(r *rundir.Run) *Conditions {
	c := Conditions{
		ID: r.ID, Profile: r.Profile, Mode: r.Mode, Unit: r.Unit, Units: r.Units, Target: r.Target, Store: r.Store, Started: r.Started,
		MeasuredS: r.MeasuredS, EndedBy: r.EndedBy, Seed: r.Seed, Turn: r.Turn, DataBytes: r.DataBytes, Settings: r.Settings, Parameters: timesAsTyped(r.Parameters),
		Changes: changes(r), Turned: turned(r), Paced: paced(r), Segments: r.Mixes(), Failed: r.Failed(), State: r.Verdict.State, Causes: r.Verdict.Causes, Machine: map[string]string{},
	}
	c.Store.Details = nil
	for _, k := range machineFacts {
		if v := r.Environment[k]; v != nil {
			c.Machine[k] = fmt.Sprint(v)
		}
	}
	return &c
}

// changes is how many live changes a run had; a pause is none.
func changes(r *rundir.Run) (n int) {
	for _, a := range r.Did() {
		if a.Knob() != "paused" {
			n++
		}
	}
	return n
}

// paced reports whether a rate was in force in part of a run, or several.
func paced(r *rundir.Run) bool {
	rates := map[float64]bool{}
	for _, s := range r.Segments {
		rates[s.Settings["rate"]] = true
		if end, ok := s.SettingsEnd["rate"]; ok {
			rates[end] = true
		}
	}
	return len(rates) > 1
}

// timesAsTyped returns a copy of parameters with times as they are recorded today: 5m in place of 5m0s.
func timesAsTyped(params map[string]string) map[string]string {
	out := maps.Clone(params)
	for name, text := range out {
		if !strings.HasSuffix(text, "m0s") {
			continue
		}
		if d, err := time.ParseDuration(text); err == nil {
			out[name] = units.Typed(d)
		}
	}
	return out
}
