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
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui"
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
	return command{c}.start(ctx, &cli.Flags{Theme: cli.Themes()[0]}, &cli.Workers{}, nil)
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
			if plan {
				if err := a.planned(f, args[0]); err != nil {
					return err
				}
			}
			f.Run.Request.Profile = profileFor(f.Run.Request)
			if from != "" {
				if err := a.likeRun(f, from); err != nil {
					return err
				}
			}
			return a.start(cmd.Context(), f, w, nil)
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

// planned begins with what a plan file says of its one run. Flags win.
func (a command) planned(f *cli.Flags, path string) error {
	if path == "-" {
		return fault.Input(errors.New("tui: the standard input is the keyboard, not a plan"), "name a file")
	}
	file, err := f.Plan(a.Call, path)
	var problems workload.Problems
	if problems.Add(err); err != nil && file != nil { // all that is wrong is said at once
		for i := range file.Runs {
			problems.Add(wrong(a.Session(), &file.Runs[i]))
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	f.Run.Request, err = plain(path, file)
	return err
}

// wrong says what is wrong with a run of a plan, beside what reading it has found.
func wrong(env session.Env, r *request.Run) error {
	asked := r.Request
	asked.Endless = true
	_, err := session.Prepare(context.Background(), env, asked)
	return r.Placed(err)
}

// plain returns the one plain run of a plan file. Errors are of input.
func plain(path string, file *request.File) (request.Request, error) {
	var err error
	switch {
	case file.Suite || len(file.Runs) != 1:
		var names []string
		for i := range file.Runs {
			names = append(names, file.Runs[i].Name)
		}
		err = fault.Input(fmt.Errorf("%s has several runs, and the workbench begins with one: %s", path, strings.Join(names, ", ")),
			"perfbench run "+path+" does all of them; for the workbench, leave one of them in a plan of its own")
	case file.Runs[0].Find != nil || file.Runs[0].Sweep != nil || file.Runs[0].Repeat.Times != "":
		err = fault.Input(fmt.Errorf("%s asks for more than one plain run", path), "perfbench run "+path+" does that; in the workbench, f searches and w sweeps")
	default:
		return file.Runs[0].Request, nil
	}
	return request.Request{}, err
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

// ofPlan keeps where a plan gives what is no value: all else is as if it were set in the form.
func ofPlan(from map[string]string) map[string]string {
	out := map[string]string{}
	for name, where := range from {
		if strings.HasPrefix(where, workload.OriginPlan.String()+" ") {
			out[name] = where
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
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
	return a.start(c.Context(), f, &cli.Workers{}, &o)
}

// start opens the workbench, on the run that is to be watched if there is one, and when it
// has closed prints what its runs came to.
func (a command) start(ctx context.Context, f *cli.Flags, w *cli.Workers, watch *cli.Watched) error {
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
	first := f.Run.Request
	first.From = ofPlan(first.From)
	o := tui.Options{
		Theme: f.Theme, ASCII: ascii, NoMouse: f.NoMouse, NoAnimation: f.NoAnimation || f.Plain, Plain: f.Plain,
		Crashed: at.crashed,
		Kill:    a.Hard.Done(), Request: first, RunParams: request.RunParams(), In: a.Stdin, Out: cli.Unwrapped(a.Stdout), Environ: a.Environ,
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
	final, err := tui.Show(ctx, o, b.screens(logs.lines))
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
