// Package workbench is the command that opens the workbench, and the runs and
// lists that its screens see.
package workbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui"
	"github.com/perfbench/perfbench/tui/screen"
)

// command is the command in one call.
type command struct{ *cli.Call }

// Command opens the workbench.
// dry says what a run with its flags would do, for --dry-run.
func Command(c *cli.Call, dry func(*cobra.Command, *cli.Flags, *cli.Workers, []string) error) *cobra.Command {
	return command{c}.tree(dry)
}

// Open opens the workbench as it is without flags.
func Open(ctx context.Context, c *cli.Call) error {
	return command{c}.start(ctx, &cli.Flags{Theme: cli.Themes()[0]}, &cli.Workers{}, nil, nil)
}

func (a command) tree(dry func(*cobra.Command, *cli.Flags, *cli.Workers, []string) error) *cobra.Command {
	f, w, see, from := &cli.Flags{}, &cli.Workers{}, &cli.Watch{}, ""
	c := &cobra.Command{
		Use: "tui [PROFILE | PLAN.yaml]", Short: "Open the workbench: pick, run, tune and compare on one screen",
		Example: `  perfbench tui
  perfbench tui ingestion --target redis://localhost --threads 32
  perfbench tui plan.yaml
  perfbench tui --from latest
  perfbench tui --watch latest
  perfbench tui --watch nats://127.0.0.1:4222`,
		Args: oneProfile, ValidArgsFunction: cli.CompleteProfiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o, asked, err := see.Of(cmd, args, w, f.Run.Request.Out); asked || err != nil {
				return a.watch(cmd, f, o, err)
			}
			if dryRun(cmd) {
				return dry(cmd, f, w, args)
			}
			plan := len(args) > 0 && cli.IsPlan(args[0])
			if len(args) > 0 && !plan {
				if err := cmd.Flags().Set("profile", args[0]); err != nil {
					return err
				}
			}
			if err := errors.Join(f.Resolve(a.Call, cmd), w.Check()); err != nil {
				return err
			}
			var suite *screen.Suite
			if plan {
				var err error
				if suite, err = a.planned(f, w, args[0]); err != nil {
					return err
				}
			}
			f.Run.Request.Profile = profileFor(f.Run.Request)
			if from != "" {
				if err := a.likeRun(f, from); err != nil {
					return err
				}
			}
			return a.start(cmd.Context(), f, w, suite, nil)
		},
	}
	f.Register(a.Call, c)
	w.Register(c)
	see.Register(c)
	c.Flags().StringVar(&from, "from", "", "begin with what was set for `RUN`: a folder, an id, latest, -1, -2")
	c.Flags().BoolVar(&f.NoMouse, "no-mouse", false, "leave the mouse to the terminal, for selecting text")
	c.Flags().BoolVar(&f.NoAnimation, "no-animation", false, "words instead of decorative motion")
	cli.Group(c.Flags(), cli.Screen, "from", "no-mouse", "no-animation")
	return c
}

// profileFor is the profile that a request names or, if it names none, the one that its files are
// for; "" if that cannot be told.
func profileFor(r request.Request) string {
	if r.Profile != "" || len(r.Files) == 0 {
		return r.Profile
	}
	return cli.ReaderOf(r.Files[0], request.Readers(cli.Profiles(), r.Files))
}

// planned begins with what a plan file says of its one run, or returns its several runs. Flags win.
func (a command) planned(f *cli.Flags, w *cli.Workers, path string) (*screen.Suite, error) {
	if path == "-" {
		return nil, fault.Input(errors.New("tui: the standard input is the keyboard, not a plan"), "name a file")
	}
	file, err := f.Plan(a.Call, path)
	var problems workload.Problems
	if problems.Add(err); file != nil { // all that is wrong is said at once
		problems.Add(wrong(experiment.NewDriver(a.Session, w.Series()), file, func(r request.Request) request.Request { return r }))
	}
	if err := problems.Err(); err != nil {
		return nil, request.ByLine(err)
	}
	if one := file.Plain(); one != nil {
		f.Run.Request = *one
		return nil, nil
	}
	return &screen.Suite{Path: path, File: file}, nil
}

// wrong says what is wrong with the runs of a plan, beside what reading it has found; complete fills in
// what the screens leave to the flags.
func wrong(d *experiment.Driver, file *request.File, complete func(request.Request) request.Request) error {
	ctx := context.Background()
	one := file.Plain()
	if one == nil {
		_, err := suiteTasks(ctx, d, file, complete)
		return err
	}
	asked := complete(*one)
	asked.Endless = true
	_, err := d.Prepare(ctx, asked)
	return file.Runs[0].Placed(err)
}

// likeRun begins with what was set for an earlier run. Flags win.
func (a command) likeRun(f *cli.Flags, ref string) error {
	out := f.Run.Request.Out
	if out == "" {
		out = session.DefaultOut
	}
	dir, err := rundir.Find(out, ref)
	if err != nil {
		return fault.Field("from", err)
	}
	folder, err := rundir.Load(dir)
	if err != nil {
		return fault.Field("from", err)
	}
	f.Run.Request = f.Run.Request.Over(report.Asked(&folder.Run))
	return nil
}

// oneProfile refuses arguments other than the name of one profile or of a plan.
func oneProfile(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case len(args) > 1:
		return fault.Input(fmt.Errorf("tui: unexpected argument %q", args[1]), "it takes one profile, or one plan")
	case cli.IsPlan(args[0]):
		return nil
	case c.Flags().Changed("profile"):
		return fault.Input(fmt.Errorf("tui: the profile is named twice, as %s and by --profile %s", args[0], c.Flag("profile").Value), "leave one out")
	}
	_, err := cli.Profile(args)
	return err
}

// dryRun says whether only the plan is wanted.
func dryRun(c *cobra.Command) bool {
	on, err := c.Flags().GetBool("dry-run")
	return err == nil && on
}

// watch opens the workbench on a run that another process drives.
func (a command) watch(c *cobra.Command, f *cli.Flags, o cli.Watched, err error) error {
	if err != nil {
		return err
	}
	if err := f.Resolve(a.Call, c); err != nil {
		return err
	}
	return a.start(c.Context(), f, &cli.Workers{}, nil, &o)
}

// start opens the workbench, on the runs of a plan or the run that is to be watched if there are any,
// and when it has closed prints what its runs came to.
func (a command) start(ctx context.Context, f *cli.Flags, w *cli.Workers, suite *screen.Suite, watch *cli.Watched) error {
	if !a.StdoutTerminal || !a.StdinTerminal {
		return fault.Input(errNoTerminal, "without a terminal use  perfbench run")
	}
	if kind, _ := a.Getenv("TERM"); kind == "dumb" {
		return fault.Input(errors.New("the workbench needs a terminal that can move its cursor, and TERM says dumb"), "use  perfbench run  there")
	}
	ascii := f.ASCII || f.Plain || !f.ASCIIChosen && a.PoorLetters()
	at, logs, closeLog := a.surroundings(ctx, f)
	at.crew = w
	defer closeLog()
	b := newBench(at)
	o := tui.Options{
		Theme: f.Theme, ASCII: ascii, NoMouse: f.NoMouse, NoAnimation: f.NoAnimation || f.Plain, Plain: f.Plain,
		Crashed: at.crashed,
		Kill:    a.Hard.Done(), Request: f.Run.Request.Typed(), Suite: suite, RunParams: request.RunParams(), In: a.Stdin, Out: cli.Unwrapped(a.Stdout), Environ: a.Environ,
	}
	if v, ok := a.Getenv("NO_COLOR"); ok && v != "" {
		o.NoColor = true
	}
	if v, ok := a.Getenv("SSH_TTY"); ok && v != "" {
		o.NoAnimation = true
	}
	a.Begin()
	if watch != nil {
		r, err := watchRun(ctx, b.kept, *watch)
		if err != nil {
			return err
		}
		defer r.w.Close()
		o.Watch = r.access()
	}
	fault.Go(func() { b.kept.tidy(time.Now()) })
	final, err := tui.Show(ctx, o, b.screens(logs.lines))
	if err := b.kept.bin.Empty(cli.Formats()); err != nil {
		fmt.Fprintln(a.Stderr, "warning: what was deleted is still there: "+err.Error())
	}
	for _, out := range final.Outcomes {
		if f.Quiet {
			if out.Dir != "" {
				fmt.Fprintln(a.Stdout, out.Dir)
			}
			continue
		}
		fmt.Fprint(a.Stdout, cli.Broken(cli.Plain(out.Summary, ascii), a.StdoutWidth))
	}
	if err != nil {
		return err
	}
	if n := len(final.Outcomes); n > 0 {
		return final.Outcomes[n-1].Err
	}
	return nil
}

// logFile is the log of the workbench, in the folder of perfbench's state. It has the stack of a
// crash, too.
const logFile = "workbench.log"

// surroundings gathers what the screens work with. Nothing may write to the terminal while
// they own it, so the log goes to a file and a ring.
func (a command) surroundings(ctx context.Context, f *cli.Flags) (b *surroundings, logs *logRing, closeLog func()) {
	b, logs = &surroundings{env: a.Session(), lab: a.Labs, out: f.Run.Request.Out, soft: ctx, hard: a.Hard}, &logRing{}
	if b.out == "" {
		b.out = session.DefaultOut
	}
	b.crashed = func(what any, stack []byte) string { return a.Crashed(logFile, what, stack) }
	file := io.Discard
	closeLog = func() {}
	if dir, err := a.StateDir(); err == nil {
		b.state = dir
		if err := os.MkdirAll(dir, 0o700); err == nil {
			if w, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
				file = w
				closeLog = func() { _ = w.Close() } // a log: nothing to be done about its loss
			}
		}
	}
	b.presets, b.home = a.PresetDir(), a.Home()
	b.env.Log = slog.New(slog.NewJSONHandler(io.MultiWriter(logs, file), nil))
	return b, logs, closeLog
}

// logRing keeps the last hundred log lines. Safe for use by several goroutines.
type logRing struct {
	mu   sync.Mutex
	last []string
}

const ringLines = 100

// Write takes one log line.
func (r *logRing) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = append(r.last, string(bytes.TrimRight(p, "\n")))
	if len(r.last) > ringLines {
		r.last = append(r.last[:0], r.last[len(r.last)-ringLines:]...)
	}
	return len(p), nil
}

func (r *logRing) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.last...)
}
