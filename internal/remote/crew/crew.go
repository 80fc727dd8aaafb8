// Package crew is the workers of one run as the coordinator's session sees them: they stand
// in for the workers of its engine. It shares settings out among them, hands what they
// measured to the run and what they did to the plan, and says what became of each. A View is
// what it shows of the run to those who watch it, as it goes over the wire.
package crew

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Ask is what a user says of the workers of a run.
type Ask struct {
	// Workers is how many, Listen where they join: HOST:PORT.
	Workers int
	Listen  string
	// Token is what they must bring, empty: nothing. Identity makes it TLS; nil: it is not.
	// WatchToken is one that lets nobody but watchers in; empty: there is none.
	Token, WatchToken string
	Identity          *remote.Identity
	// Key signs what workers are told; nil: one is made.
	Key *remote.Key
	// NATS is the user's own, which workers join instead of one that listens; nil: there is
	// none.
	NATS *remote.Server
	// Patience is how long a silent one is waited for; 0: remote.DefaultPatience.
	Patience time.Duration
	// OnLoss says what comes of a run one of whose workers is lost; empty: Degrade.
	OnLoss string
	// Line is that of the runs which this is one of; nil: it is the only one.
	Line *Relay
	// Version is that of this program.
	Version string
	// Files say where the secrets above are, for another coordinator.
	Files Files

	past *remote.Restored // of the coordinator that died; nil: there was none
}

// Check says why a plan cannot be carried out by that many workers, or they cannot be let
// in. Errors are of input.
func (a Ask) Check(plan *workload.Plan, in workload.Inputs, inProcess bool) error {
	if a.Workers < 1 || a.Workers > remote.MaxWorkers {
		return fault.Field("workers", fault.Input(fmt.Errorf("workers: %d is not in 1..%d", a.Workers, remote.MaxWorkers), ""))
	}
	refuse := func(why, hint string) error {
		return fault.Field("workers", fault.Input(errors.New("workers: "+why), hint))
	}
	switch {
	case a.Patience < 0:
		return fault.Field("patience", fault.Input(fmt.Errorf("patience: %s is less than nothing", a.Patience), "write it like --patience 15s"))
	case inProcess:
		return refuse("each process would have a store of its own at this target", "name a server with --target")
	}
	if err := a.onLoss(plan, in); err != nil {
		return err
	}
	q := *plan
	if err := q.Divide(0, a.Workers); err != nil {
		return refuse(err.Error(), fault.HintOf(err))
	}
	if in.Values["warmup"].Text == "auto" {
		return refuse("--warmup auto ends when one process has settled, and there are several", "give the warm-up a length")
	}
	if a.NATS != nil {
		return a.NATS.Check()
	}
	return remote.Check(a.Listen, a.Token != "", a.Identity != nil)
}

// Crew is the workers of one run, as the run sees them: what they measured goes into the run, its
// changes and its end go to them, and what a lost one had left is dealt to others. Its methods
// may be called from any goroutine; those of nil do nothing.
type Crew struct {
	// Coordinator brings them together, and knows of each how far it is.
	Coordinator *remote.Coordinator

	n      int
	ask    Ask
	run    string
	plan   *workload.Plan
	order  remote.Order
	closed sync.Once
	begun  *awaited

	folder  folder
	shares  *shares
	usage   usage
	display display

	// connections and redirects are what the clients of all workers told of so far.
	connections, redirects atomic.Int64
}

// Contacts returns how many connections the clients of all workers have opened since the run began,
// and how often a server sent them to another.
func (c *Crew) Contacts() (connections, redirects int64) {
	return c.connections.Load(), c.redirects.Load()
}

// Open begins to listen for the workers of a run, whose plan is bound, by an order. What
// they send is kept below dir until Close. show says how the run is, until Show is told of
// another.
func Open(ctx context.Context, a Ask, plan *workload.Plan, run, dir string, order remote.Order, show func() *View) (*Crew, error) {
	if plan.Shared.Empty() {
		return nil, errors.New("the plan takes nothing in from workers")
	}
	order.Stay = a.OnLoss == Redeal && byPart(plan, order.Inputs)
	data, err := json.Marshal(order)
	if err != nil {
		return nil, fmt.Errorf("write the order for workers: %w", err)
	}
	if len(data) > remote.MaxMessage/2 {
		return nil, fault.Input(fmt.Errorf("workers: the plan takes %d bytes, and a message %d at most", len(data), remote.MaxMessage/2), "use a smaller --file")
	}
	c := &Crew{
		n: a.Workers, ask: a, run: run, order: order, plan: plan, begun: newAwaited(),
		folder: folder{dir: filepath.Join(dir, "stream")}, shares: newShares(plan, a.Workers, a.OnLoss == Redeal && !order.Stay),
	}
	c.Show(show)
	o := remote.Options{
		Workers: a.Workers, Listen: a.Listen, Token: a.Token, WatchToken: a.WatchToken, Identity: a.Identity, Key: a.Key, Dir: c.folder.dir,
		NATS: a.NATS, Patience: a.Patience, Version: a.Version, Run: run, Order: data, Past: a.past, Tracks: len(plan.Tracks()), Received: c.deliver, Noticed: c.noticed, Show: c.display.show,
	}
	if order.Stay {
		o.Pass, o.Passed = c.pass, c.passed
	}
	if c.Coordinator, err = a.Line.open(ctx, o); err != nil {
		return nil, err
	}
	c.shares.workers = c.Coordinator
	if err := c.folder.writeAddress(c.where()); err != nil {
		c.Coordinator.Leave()
		return nil, err
	}
	return c, nil
}

// Join says in words how a worker joins.
func (c *Crew) Join() string {
	words := "perfbench join " + c.Coordinator.Connection.JoinURL()
	if s := c.ask.NATS; s != nil {
		words += " --run " + c.run
		for flag, given := range map[string]bool{" --token-file FILE": s.Token != "", " --nats-creds FILE": s.Creds != "", " --nats-nkey FILE": s.NKey != ""} {
			if given { // one of them at most
				words += flag
			}
		}
		if s.Authorities != nil {
			words += " --tls-ca FILE"
		}
		return words
	}
	if c.ask.Token != "" {
		words += " --token-file FILE"
	}
	switch id := c.ask.Identity; {
	case id == nil:
	case id.Signed:
		words += " --tls-ca FILE"
	default:
		words += " --fingerprint " + id.Fingerprint
	}
	return words
}

// Attach connects the crew with the run that it works for, which has begun.
func (c *Crew) Attach(r Run) { c.begun.set(r) }

// noticed notes that a worker is silent, gone, given up or back, and ends the run where that
// is to come of it.
func (c *Crew) noticed(worker int, host string, now remote.State) {
	run := c.begun.wait()
	if run == nil {
		return
	}
	words := map[remote.State]string{
		remote.Stalled: "is connected and silent", remote.Gone: "was lost", remote.Working: "is back",
		remote.Refused:  "sent what cannot be used: it was told to end, and nothing more of it counts",
		remote.Returned: "is back, and was told to end: what it had left to do is another's by now",
		remote.GivenUp:  "is not waited for any longer, after " + units.Duration(cmp.Or(c.ask.Patience, remote.DefaultPatience)) + " of silence",
	}
	note := fmt.Sprintf("worker %d (%s) %s", worker+1, host, words[now])
	if cut := c.Coordinator.Connection.Cut(); cut != "" {
		note += ": " + cut
	}
	run.Mark(note)
	switch {
	case c.shares.redeals && (now == remote.GivenUp || now == remote.Working):
		if note := c.shares.redeal(worker, host, now); note != "" {
			run.Mark(note) // whoever marks may be telling settings
		}
	case c.ask.OnLoss == End && (now == remote.GivenUp || now == remote.Refused):
		run.Stop(fault.Code(fmt.Errorf("worker %d (%s) was lost (--on-loss end)", worker+1, host), fault.CodeOther))
	}
}

// deliver hands a report on. One goroutine calls it.
func (c *Crew) deliver(worker int, r *remote.Report) error {
	run := c.begun.wait()
	if run == nil {
		return nil // closed before it began
	}
	if len(r.Ledger) > 0 {
		if err := c.credit(worker, r.Ledger); err != nil {
			return fmt.Errorf("take in what worker %d has done: %w", worker+1, err)
		}
	}
	c.connections.Add(r.Connections)
	c.redirects.Add(r.Redirects)
	if r.Part != nil {
		if worker < c.n { // of another in the same process they are in its own
			c.usage.add(worker, r.Part.T, r.Cores)
		}
		if err := run.Merge(*r.Part); err != nil {
			return err
		}
	}
	if r.Over && r.Err != "" {
		run.Stop(fmt.Errorf("worker %d: %s", worker+1, r.Err))
	}
	return nil
}

// credit has the plan take in what a worker has done. What would end this process there was
// made by somebody else, and is an error of the worker's.
func (c *Crew) credit(worker int, ledger []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", workload.ErrAnotherRun, r)
		}
	}()
	return c.plan.Shared.Merge(c.process(worker), ledger)
}

// process says which part of the work a worker has.
func (c *Crew) process(worker int) workload.Process {
	p := workload.Process{Number: worker, Part: worker, Of: c.n}
	if worker >= c.n {
		p.Part, p.Again = c.Coordinator.Roster.PartOf(worker)
	}
	return p
}

// Samples are how many processors each worker used in a second that has ended, of those
// that have told of it.
func (c *Crew) Samples(second int) (out []rundir.Sample) {
	if c == nil {
		return nil
	}
	return c.usage.samples(second)
}

// dealt notes that what was left of the part of that number was dealt to another.
type dealt struct {
	Dealt int `json:"dealt"`
}

// pass says what is left of a part whose worker is lost.
func (c *Crew) pass(part int, did []workload.Did) remote.Handoff {
	c.begun.wait()
	c.Note(dealt{Dealt: part + 1})
	return c.shares.left(part, did)
}

// passed notes that the rest of the part of a worker is done by another from now on.
func (c *Crew) passed(from, heir, host int) {
	c.shares.passed(from)
	if run := c.begun.wait(); run != nil {
		run.Mark(fmt.Sprintf("what worker %d had left to do was dealt to worker %d, as worker %d", from+1, host+1, heir+1))
	}
}

// Note adds to what was decided while the run goes, of a kind that encodes to JSON. What
// cannot be written is not known to another coordinator.
func (c *Crew) Note(note any) { c.folder.note(note) }

// Remote is the workers as the engine sees them: how far they are, and how they are told.
type Remote struct {
	*remote.Progress
	crew *Crew
}

// Remote returns the workers for the engine. The crew is not nil.
func (c *Crew) Remote() Remote { return Remote{c.Coordinator.Progress, c} }

// Control tells each worker its part of the settings, all that a phase may begin, or all to
// stop.
func (r Remote) Control(w workload.Word) {
	switch {
	case w.Stop != nil:
		r.crew.Coordinator.Commands.Stop(w.Stop.Error())
	case w.Phase != "":
		r.crew.Coordinator.Commands.Enter(w.Phase)
	default:
		r.crew.shares.change(w)
	}
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

// Lost tells the plan what it does not know: of workers that did not come to their end, or whose
// word cannot be used, all of the part may have been attempted.
func (c *Crew) Lost() {
	if c == nil {
		return
	}
	for i, m := range c.Coordinator.Roster.Members() {
		if m.State == remote.Ended && !m.Unusable {
			continue
		}
		c.plan.Shared.Lose(c.process(i))
	}
}

// Astray names the workers of which nobody knows whether they are still at work; empty: there
// is none. Those of this machine whose process has ended are not.
func (c *Crew) Astray() string {
	if c == nil {
		return ""
	}
	return astray(c.Coordinator.Roster.Members())
}

func astray(all []remote.Member) string {
	var lost []int
	for i, m := range all {
		if (m.State != remote.Ended || m.Unusable) && m.PID != 0 && !ownership.Ended(m.PID, m.Machine, m.Born) {
			lost = append(lost, i+1)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return units.Numbered("worker", lost)
}

// Deserted is the error of a run all of whose workers were lost, or sent what cannot be used.
func (c *Crew) Deserted() error {
	if c == nil {
		return nil
	}
	why := errors.New("all workers were lost")
	if cut := c.Coordinator.Connection.Cut(); cut != "" {
		why = fmt.Errorf("%w: %s", why, cut)
	}
	for i, m := range c.Coordinator.Roster.Members() {
		switch {
		case m.Unusable:
			why = fmt.Errorf("worker %d (%s): %s", i+1, m.Host, m.Err)
		case m.State == remote.Ended || m.LostAt == 0:
			return nil
		}
	}
	return fault.Code(why, fault.CodeOther)
}

// Idle says that all workers have ended: from now on the crew is only watched.
func (c *Crew) Idle() {
	if c != nil {
		c.Coordinator.Idle()
	}
}

// Close ends the crew, and removes what it kept. Where another run of its line follows, that
// does so when it begins.
func (c *Crew) Close() {
	if c == nil {
		return
	}
	c.end(func() {
		if c.ask.Line.hold(c) {
			return
		}
		c.Coordinator.Close()
		c.folder.clear()
	})
}

// end ends the crew once, by how.
func (c *Crew) end(how func()) {
	c.closed.Do(func() {
		c.begun.set(nil)
		how()
		c.folder.close()
	})
}

// Workers is what became of each, as run.json has it, of a run that was warmed up for so
// long; nil without a crew.
func (c *Crew) Workers(warmup time.Duration) []rundir.Worker {
	if c == nil {
		return nil
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	var out []rundir.Worker
	all, came := c.Coordinator.Roster.Members(), c.Coordinator.Roster.Arrivals(c.plan.TrackNames())
	for i, m := range all {
		if i >= c.n && m.PID == 0 {
			continue // nobody was there to take it on
		}
		w := rundir.Worker{
			Number: i + 1, Host: m.Host, PID: m.PID, CPUs: m.CPUs, State: string(m.State), Count: m.Count, Errors: m.Errors,
			OffsetMS: ms(m.Offset), RoundTripMS: ms(m.Trip), SkewMS: ms(m.Skew), ChangeMS: ms(m.Slowest), Stalls: m.Stalls,
			GivenUp: m.GivenUp, Doubts: m.Doubts, Company: m.Company, Fault: m.Err, Unusable: m.Unusable,
		}
		for _, k := range slices.Sorted(maps.Keys(m.Applied)) {
			w.Applied = append(w.Applied, rundir.Applied{Segment: k, AtS: (m.Applied[k] - warmup).Round(time.Microsecond).Seconds()})
		}
		if m.State != remote.Ended || m.Unusable {
			w.KnownS = new(float64(max(m.Last+1, 0)))
		}
		if m.LostAt > 0 && m.State != remote.Ended {
			w.LostS = new(m.LostAt.Seconds())
		}
		w.DealtS = c.shares.dealt(i)
		if i >= c.n {
			w.PartOf = m.Part + 1
		}
		if m.Heir > 0 && all[m.Heir].PID != 0 {
			w.Heir = m.Heir + 1
		}
		w.Dismissed = m.Dismissed
		for _, a := range came[i] {
			one := rundir.ArrivalsOf(a.Arrivals)
			one.Segment = new(a.Segment)
			w.Arrivals = append(w.Arrivals, one)
		}
		out = append(out, w)
	}
	return out
}
