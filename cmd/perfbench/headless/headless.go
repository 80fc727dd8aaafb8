// Package headless is the command that does one run without the workbench, and
// what a person or a log sees of it meanwhile.
package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"

	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
)

// command is the command in one call.
type command struct{ *cli.Call }

// Command does one run without the workbench, or what a plan file says.
func Command(c *cli.Call, others Makes) *cobra.Command { return command{c}.tree(others) }

func (a command) tree(others Makes) *cobra.Command {
	f, w := &cli.Flags{}, &cli.Workers{}
	c := &cobra.Command{
		Use: "run PROFILE | run PLAN.yaml | run FILE", Short: "Do one run, or those of a plan file, without the workbench",
		Long: `run carries out one run: a line a second goes to stderr, the summary and the
path of the report to stdout; on a terminal a small chart of throughput and p99 ends
it. With --json stdout has nothing but run.json, on one line for each run.

PROFILE may be given as --profile PROFILE, too.

With PLAN.yaml it carries out what the file says, whose keys are named like the flags;
flags on the command line win. A file with a list of runs is a suite: all are done in order, with one
summary at the end. A run of a file may be a search (find) or a sweep. --dry-run --format yaml writes such a file, and perfbench list
plan-schema the JSON Schema of it.

Each value is taken from the first of these that gives it: flag, environment
(PERFBENCH_ and the name), plan, file, preset, default.

With --repeat N the run is done N times; with --against or --against-set each time in
turn with one that differs only in that, in a shuffled order. Every run has a
folder as usual. At the end it says how the runs vary, or compares them: A is the run
as given, B the other. --repeat is 5 then, unless it is given. With --aa the runs of
--repeat are compared with each other: how much do runs differ here?

With --workers N, other processes do the work, which join with perfbench join: each does its
part, all at the same time, for one result. A profile that cannot be shared out says why.

Exit codes: 0 the run reached its end; 1 anything else; 2 bad input, nothing was
started; 3 the store cannot be reached or refuses; 4 verification failed;
5 a threshold was missed, half of the calls failed, nothing was measured, the run is
not valid and --require-valid was given, or B is worse than A by more than
--tolerance, or unsure with --unsure fail;
130 interrupted, the report is written. A suite has the code of its worst run: 130,
else the smallest that is not 0.`,
		Example: `  perfbench run ingestion
  perfbench run ingestion --target redis://localhost --threads 32 --duration 60s
  perfbench run ingestion --at 10s:threads=32 --at 20s:payload=4KiB --duration 30s
  perfbench run ingestion --threshold 'p99<5ms' --threshold 'errors<1%'
  perfbench run plan.yaml --target redis://localhost
  perfbench run ingestion --target redis://old --against redis://new --repeat 5 --duration 30s
  perfbench run ingestion --target redis://localhost --against-set threads=32 --duration 30s`,
		Args: ProfileOrPlan,
		RunE: func(cmd *cobra.Command, args []string) error {
			d := experiment.NewDriver(a.Session, w.Series())
			return CarryOut(cmd, a.Call, f, d, args, w.Check(), nil, a.make(f, d, others))
		},
		ValidArgsFunction: Complete,
	}
	f.Register(a.Call, c)
	f.RegisterJSON(c)
	f.RegisterRepeat(a.Call, c)
	w.Register(c)
	return c
}

// run does one run, and something beside, and tells all of it; its outcome is nil when it
// did not start.
func (a command) run(ctx context.Context, f *cli.Flags, p *session.Prepared, b Beside) (*session.Concluded, error) {
	o, err := a.perform(ctx, p, newStatus(a.Stderr, f), b)
	if err != nil {
		return nil, err
	}
	gone := missing(o.Dir)
	if f.JSON {
		o.Err = errors.Join(o.Err, a.printJSON(o))
		if b.Summary != nil && !gone {
			_, err := b.Summary(o) // it writes documents, too
			o.Err = errors.Join(o.Err, err)
		}
		if gone {
			return o, deleted(o)
		}
		return o, o.Err
	}
	if b.Summary != nil && !gone {
		text, err := b.Summary(o)
		o.Err = errors.Join(o.Err, err)
		a.printOther(text, o, f)
	} else {
		a.printSummary(o, f, gone)
	}
	if !f.Quiet && !gone {
		a.Told = o.Dir
	}
	if gone {
		return o, deleted(o)
	}
	return o, errors.Join(o.Err, a.printDocuments(o.Dir, p.Profile.Name))
}

// deleted is the error of a run whose folder is gone. What else went wrong stands in
// the summary, and much of it came of this.
func deleted(o *session.Concluded) error {
	return fault.Hint(fault.Code(fmt.Errorf("the run's folder %s was deleted during the run", o.Dir), max(o.Code(), fault.CodeOther)),
		"only the summary is left; leave --out alone during a run")
}

// perform starts, watches and ends a run. An error says that it could not be started.
func (a command) perform(ctx context.Context, p *session.Prepared, status *status, b Beside) (*session.Concluded, error) {
	status.before(p)
	for _, line := range a.Outlet.Where() {
		status.say("%s", line)
	}
	a.Outlet.OnTrouble(func(sentence string) { status.say("warning: %s", sentence) })
	l, err := a.start(ctx, p, status)
	if err != nil {
		return nil, err
	}
	a.remember(l)
	status.started(l)
	status.open = b.During != nil
	ended := b.begin(ctx, l, status.say)
	a.watch(ctx, l, status)
	<-ended
	status.say("%s", "verifying and writing the report")
	l.OnWait(func(sentence string) { status.say("%s", sentence) })
	return l.Conclude(a.Hard), nil
}

// printSummary writes how a run ended to stdout; with --quiet its path alone. A
// folder that is gone is not named.
func (a command) printSummary(o *session.Concluded, f *cli.Flags, gone bool) {
	dir := o.Dir
	if gone {
		dir = ""
	}
	switch {
	case !f.Quiet:
		fmt.Fprint(a.Stdout, a.coloured(cli.Broken(cli.Plain(cli.Summary(&o.Run, dir), f.Plain || f.ASCII), a.StdoutWidth), f))
		if a.StdoutTerminal && !gone {
			cli.DrawCourse(a.Call, o.Dir, f.Plain || f.ASCII)
		}
	case !gone:
		fmt.Fprintln(a.Stdout, dir)
	}
}

// coloured is the text of a run in the colours of --theme, on a terminal that wants any.
func (a command) coloured(text string, f *cli.Flags) string {
	if f.Theme == "mono" || f.Plain || !a.WantsColour() {
		return text
	}
	return cli.Colour(text, f.Theme)
}

// missing says that a folder is not there any more.
func missing(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// printDocuments writes those documents of a profile to stdout that are for pipes.
func (a command) printDocuments(dir, profile string) error {
	for _, format := range cli.Formats() {
		if !format.Stdout || format.Profile != profile {
			continue
		}
		folder, err := rundir.Load(dir)
		if err != nil {
			return err
		}
		files, err := format.Documents(folder)
		if err != nil {
			return err
		}
		for _, file := range files {
			if _, err := a.Stdout.Write(file.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// start starts a run, asking for a password where one is missing: at once when
// the target names a user, else when the server wants one.
func (a command) start(ctx context.Context, p *session.Prepared, status *status) (*session.Driven, error) {
	a.Begin()
	if p.NeedsPassword() {
		password, err := a.AskPassword(ctx, p.Target.Redacted())
		if err != nil {
			return nil, err
		}
		p = p.WithPassword(password)
	}
	l, err := p.Start(ctx, status.progress)
	if err == nil || p.Target.Password != "" || !session.WantsPassword(err) {
		return l, err
	}
	password, askErr := a.AskPassword(ctx, p.Target.Redacted())
	if askErr != nil || password == "" {
		return nil, errors.Join(err, askErr)
	}
	return p.WithPassword(password).Start(ctx, status.progress)
}

func (a command) remember(l *session.Driven) {
	if dir, err := a.StateDir(); err == nil {
		if err := request.Remember(dir, l.Opened.Prepared.Target); err != nil {
			a.Log.Debug("The target was not remembered", "error", err)
		}
	}
}

// watch prints a line a second until the run has ended.
func (a command) watch(ctx context.Context, l *session.Driven, status *status) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	interrupted, hard := ctx.Done(), a.Hard.Done()
	acknowledge := func() {
		interrupted = nil
		status.say("interrupted: calls under way may finish within %s; interrupt again to stop at once", units.Duration(session.InterruptGrace))
	}
	for {
		select {
		case <-l.Done():
			if interrupted != nil && ctx.Err() != nil { // the run was the first to hear of it
				acknowledge()
			}
			status.show(l)
			return
		case <-tick.C:
			status.show(l)
		case <-interrupted:
			acknowledge()
		case <-hard:
			hard = nil
			l.Kill()
		}
	}
}

// status prints what happens to stderr, one plain line each.
type status struct {
	w            io.Writer
	quiet, plain bool
	mu           sync.Mutex // of w

	begun   bool
	waiting bool
	open    bool // the run ends when something beside it does
	changes int
	marks   int
	ramp    int // the last that was told of
	errors  int
	stage   string
	noted   []string        // sentences that were said before the start
	missed  map[string]bool // thresholds that were told to be missed so far
}

func newStatus(w io.Writer, f *cli.Flags) *status {
	return &status{w: w, quiet: f.Quiet, plain: f.Plain || f.ASCII}
}

// say prints one line of status.
func (s *status) say(format string, args ...any) {
	if !s.quiet {
		s.mu.Lock()
		defer s.mu.Unlock()
		fmt.Fprintln(s.w, cli.Plain(fmt.Sprintf(format, args...), s.plain))
	}
}

func (s *status) progress(g session.Progress) {
	if g.Note != "" {
		s.stage, s.noted = g.Stage, append(s.noted, g.Note)
		s.say("%s", g.Note)
		return
	}
	if g.Stage != s.stage || (g.Total > 0 && g.Done == g.Total) {
		s.stage = g.Stage
		if g.Total > 0 {
			s.say("%s: %d of %d", g.Stage, g.Done, g.Total)
		} else {
			s.say("%s", g.Stage)
		}
	}
}

// before says what will happen.
func (s *status) before(p *session.Prepared) {
	v := p.Preview()
	s.say("%s on %s", p.Profile.Name, p.Target.Redacted())
	for _, w := range v.Writes {
		s.say("  writes %s", w)
	}
	if v.Bytes > 0 {
		s.say("  stores %s of values over %s", v.SizeOf(), v.Over())
	}
	for _, d := range v.Deletes {
		s.say("  deletes %s", d)
	}
	for _, n := range v.Warnings {
		s.noted = append(s.noted, n)
		s.say("warning: %s", n)
	}
}

// started shows what the store said of itself and all warnings.
func (s *status) started(l *session.Driven) {
	o := l.Opened
	s.say("%s, %s", cli.Product(o.Info.Name, o.Info.Version), o.Info.Topology)
	for _, n := range o.Notices {
		if !slices.Contains(s.noted, n) {
			s.say("warning: %s", n)
		}
	}
	s.say("report in %s", o.Dir())
}
