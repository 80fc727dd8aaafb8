// Package crew is the workers of one run as the coordinator's session sees them: they stand
// in for the workers of its engine. It shares settings out among them, hands what they
// measured to the run and what they did to the plan, and says what became of each.
package crew

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/fleet"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// Ask is what a user says of the workers of a run.
type Ask struct {
	// Workers is how many, Listen where they join: HOST:PORT.
	Workers int
	Listen  string
	// Token is what they must bring, empty: nothing. SelfSigned makes it TLS.
	Token      string
	SelfSigned bool
	// Version is that of this program.
	Version string
}

// Check says why a plan cannot be carried out by that many workers, or they cannot be let
// in. Errors are of input.
func (a Ask) Check(plan *workload.Plan, in workload.Inputs, inProcess bool) error {
	if a.Workers < 1 || a.Workers > fleet.MaxWorkers {
		return fault.Field("workers", fault.Input(fmt.Errorf("workers: %d is not in 1..%d", a.Workers, fleet.MaxWorkers), ""))
	}
	refuse := func(why, hint string) error {
		return fault.Field("workers", fault.Input(errors.New("workers: "+why), hint))
	}
	switch {
	case inProcess:
		return refuse("each process would have a store of its own at this target", "name a server with --target")
	case len(plan.Phases) != 1:
		return refuse("its plan has phases that wait for each other, which workers cannot yet", "run it without --workers")
	}
	q := *plan
	if err := q.Divide(0, a.Workers); err != nil {
		return refuse(err.Error(), fault.HintOf(err))
	}
	if in.Values["warmup"].Text == "auto" {
		return refuse("--warmup auto ends when one process has settled, and there are several", "give the warm-up a length")
	}
	return fleet.Check(a.Listen, a.Token != "", a.SelfSigned)
}

// Crew is the workers of a run. Its methods may be called from any goroutine; those of nil
// do nothing.
type Crew struct {
	*fleet.Coordinator
	n      int
	token  bool
	dir    string
	plan   *workload.Plan
	begun  chan struct{}
	merge  func(measure.Part) error
	stop   func(error)
	mark   func(note string)
	closed sync.Once
}

// Open begins to listen for the workers of a run, whose plan is bound, by an order. What
// they send is kept below dir until Close.
func Open(ctx context.Context, a Ask, plan *workload.Plan, run, dir string, order fleet.Order) (*Crew, error) {
	if plan.Credit == nil {
		return nil, errors.New("the plan takes nothing in from workers")
	}
	data, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("write the order for workers: %w", err)
	}
	if len(data) > fleet.MaxMessage/2 {
		return nil, fault.Input(fmt.Errorf("workers: the plan takes %d bytes, and a message %d at most", len(data), fleet.MaxMessage/2), "use a smaller --file")
	}
	c := &Crew{n: a.Workers, token: a.Token != "", dir: filepath.Join(dir, "stream"), plan: plan, begun: make(chan struct{})}
	c.Coordinator, err = fleet.Open(ctx, fleet.Options{
		Workers: a.Workers, Listen: a.Listen, Token: a.Token, SelfSigned: a.SelfSigned, Dir: c.dir,
		Version: a.Version, Run: run, Order: data, Take: c.take, Noticed: c.noticed,
	})
	return c, err
}

// Join says in words how a worker joins.
func (c *Crew) Join() string {
	words := "perfbench join " + c.URL()
	if c.token {
		words += " --token-file FILE"
	}
	if print := c.Fingerprint(); print != "" {
		words += " --fingerprint " + print
	}
	return words
}

// Follow connects the crew with the run that it works for, which has begun: merge takes
// what was measured, stop ends it when a worker cannot go on, and mark notes what became of
// one.
func (c *Crew) Follow(merge func(measure.Part) error, stop func(error), mark func(note string)) {
	c.merge, c.stop, c.mark = merge, stop, mark
	close(c.begun)
}

// noticed notes that a worker is silent, gone or back.
func (c *Crew) noticed(worker int, host string, now fleet.State) {
	<-c.begun
	if c.mark == nil {
		return
	}
	words := map[fleet.State]string{fleet.Stalled: "is connected and silent", fleet.Gone: "was lost", fleet.Working: "is back"}
	c.mark(fmt.Sprintf("worker %d (%s) %s", worker+1, host, words[now]))
}

// take hands a report on. One goroutine calls it.
func (c *Crew) take(worker int, r *fleet.Report) error {
	<-c.begun
	if c.merge == nil {
		return nil // closed before it began
	}
	if len(r.Ledger) > 0 {
		if err := c.plan.Credit(r.Ledger); err != nil {
			return err
		}
	}
	if r.Part != nil {
		if err := c.merge(*r.Part); err != nil {
			return err
		}
	}
	if r.Over && r.Err != "" {
		c.stop(fmt.Errorf("worker %d: %s", worker+1, r.Err))
	}
	return nil
}

// Steer tells each worker its part of the settings, or all to stop.
func (c *Crew) Steer(segment int, tracks []workload.Settings, stop error) {
	ctx := context.Background() // each answer has a patience of its own
	if stop != nil {
		c.Stop(ctx, stop.Error())
		return
	}
	c.Change(ctx, segment, func(i int) []workload.Settings {
		mine := make([]workload.Settings, len(tracks))
		for k, s := range tracks {
			mine[k] = Part(s, c.n, i)
		}
		return mine
	})
}

// Part is what worker i of n gets of the settings of a track. Each keeps one thread at
// least.
func Part(s workload.Settings, n, i int) workload.Settings {
	all := s.Threads
	s.Threads = max(workload.Split(all, n, i), 1)
	if all > 0 {
		s.Rate *= float64(s.Threads) / float64(max(all, n))
	}
	return s
}

// Lost tells the plan what it does not know: of workers that did not come to their end all of
// the part may have been attempted.
func (c *Crew) Lost() {
	if c == nil || c.plan.Lost == nil {
		return
	}
	for i, m := range c.Members() {
		if m.State != fleet.Ended {
			c.plan.Lost(i, c.n)
		}
	}
}

// Close ends the crew, and removes what it kept.
func (c *Crew) Close() {
	if c == nil {
		return
	}
	c.closed.Do(func() {
		select {
		case <-c.begun:
		default:
			close(c.begun)
		}
		c.Coordinator.Close()
		_ = os.RemoveAll(c.dir) // figures are in the journal by now
	})
}

// Workers is what became of each, as run.json has it; nil without a crew.
func (c *Crew) Workers() []rundir.Worker {
	if c == nil {
		return nil
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	var out []rundir.Worker
	for i, m := range c.Members() {
		w := rundir.Worker{
			Number: i + 1, Host: m.Host, PID: m.PID, CPUs: m.CPUs, State: string(m.State), Count: m.Count, Errors: m.Errors,
			OffsetMS: ms(m.Offset), RoundTripMS: ms(m.Trip), SkewMS: ms(m.Skew), ChangeMS: ms(m.Slowest), Stalls: m.Stalls,
			Doubts: m.Doubts, Fault: m.Err,
		}
		if m.State != fleet.Ended {
			w.KnownS = new(float64(max(m.Last+1, 0)))
		}
		if m.State == fleet.Gone {
			w.LostS = new(m.LostAt.Seconds())
		}
		out = append(out, w)
	}
	return out
}
