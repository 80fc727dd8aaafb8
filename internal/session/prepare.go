package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// Prepared is a run that has been checked and can be started; nothing has been touched
// yet. It is not modified after Prepare, so any goroutine may read it.
type Prepared struct {
	Profile workload.Profile
	Driver  store.Driver
	Target  store.Target
	// Plan is not bound to a store; Open binds a copy of it.
	Plan   *workload.Plan
	Inputs workload.Inputs
	// Preset is the preset used; empty if files replace it.
	Preset     string
	Timetable  []engine.At
	Thresholds []condition.Threshold
	Formats    []rundir.Format
	Out        string
	Cleanup    bool
	// Until is what ends the run early; nil if nothing does.
	Until *condition.Goal
	// RequireValid makes any other verdict than VALID an error.
	RequireValid bool
	// Warnings are sentences to show before the start.
	Warnings []string
	// Keys says what became of each key of the files, as far as their reader knows.
	Keys []workload.FileKey
	// Tags are kept with the run; nil if there are none.
	Tags map[string]string
	// Given is the content of the --facts file; nil if there is none.
	Given []byte

	env     Env
	req     Request
	binding workload.Binding
	// workers describes the other processes that are to do the work; nil: this one does
	// it.
	workers *crew.Ask
	// restored is the state of a run to be continued; nil for a new run.
	restored *restored
	// search means that whoever asked for the run changes its knobs as it goes.
	search bool
	// patience is how long the search lets nothing work.
	patience time.Duration
	// designed is how long designing the plan took.
	designed time.Duration
}

// Prepare merges the values of a request by precedence, designs the plan and checks all
// that can be checked without touching a store or a disk. All problems are reported
// together, with the code of bad input.
//
// An interrupt ends the wait for it: files are read, and a plan may be large.
func Prepare(ctx context.Context, env Env, req Request) (*Prepared, error) {
	return infile.While(ctx, func() (*Prepared, error) { return anew(ctx, env, req) })
}

// changes returns the entries of the timetable: those given by hand, or else those that
// a preset or file has as the value "at".
func (p *Prepared) changes() []string {
	if len(p.req.Timetable) > 0 {
		return p.req.Timetable
	}
	var out []string
	for entry := range strings.SplitSeq(p.Inputs.Values["at"].Text, ";") {
		if entry = strings.TrimSpace(entry); entry != "" {
			out = append(out, entry)
		}
	}
	return out
}

// Threads returns the highest number of threads that the run may reach, for sizing the
// connection pool.
func (p *Prepared) Threads() int {
	now := map[string]int{}
	sum := func() int {
		n := 0
		for _, v := range now {
			n += v
		}
		return n
	}
	for _, t := range p.Plan.Tracks() {
		now[t.Name] = t.Start.Threads
	}
	most := sum()
	for _, at := range p.Timetable {
		switch {
		case at.Knob.Name != "threads":
		case at.Track == workload.AllTracks:
			n := int(at.Value)
			if !at.Knob.Sum { // each track gets that many
				n *= len(now)
			}
			most = max(most, n, len(now))
		default:
			now[p.Plan.Tracks()[at.Track].Name] = int(at.Value)
			most = max(most, sum())
		}
	}
	return max(most, p.req.MaxThreads, p.Plan.Connections)
}

// Shares reports whether the calls of the run may share connections.
func (p *Prepared) Shares() bool {
	return p.Threads() > 1 && slices.Contains(p.Driver.Params, store.Pipelining) && store.Pipelines(p.Target)
}
