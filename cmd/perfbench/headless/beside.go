package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"

	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/session"
)

// Beside is what another command does beside a run. Each may be nil.
type Beside struct {
	// During is called when the run has begun, on a goroutine of its own; it ends when the
	// run does, at the latest. say prints a line of status.
	During func(ctx context.Context, l *session.Driven, say func(format string, args ...any))
	// Summary is said on stdout in place of the run's, of which the last line names the
	// folder; it may write into that.
	Summary func(o *session.Concluded) (string, error)
}

// begin begins what is to be done during the run; the channel is closed when it has
// ended.
func (b Beside) begin(ctx context.Context, l *session.Driven, say func(format string, args ...any)) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if b.During != nil {
			b.During(ctx, l, say)
		}
	}()
	return ended
}

// Run does one run, as the command run does, and something beside. The outcome is nil when
// it did not start.
func Run(ctx context.Context, c *cli.Call, f *cli.Flags, p *session.Prepared, b Beside) (*session.Concluded, error) {
	return command{c}.run(ctx, f, p, b)
}

// Perform does the runs of a series: which it is is said before each, and after it with what it
// came to; with --json its run.json is on stdout. An error says that it did not
// start, that its folder is gone, or that stdout takes nothing; any other stands in the
// outcome.
func Perform(c *cli.Call, f *cli.Flags, d *experiment.Driver) experiment.Perform {
	return func(ctx context.Context, t experiment.Turn) (*session.Concluded, error) {
		return command{c}.turn(ctx, f, d, t)
	}
}

func (a command) turn(ctx context.Context, f *cli.Flags, d *experiment.Driver, t experiment.Turn) (*session.Concluded, error) {
	status := newStatus(a.Stderr, f)
	status.say("%s", t.What)
	p, err := d.Prepare(ctx, t.Request)
	if err != nil {
		return nil, err
	}
	var beside Beside
	var s Search
	if t.Find != nil {
		if s.Options, err = experiment.PrepareSearch(*t.Find, p, 0); err != nil {
			return nil, err
		}
		p = p.Steered(s.Options.Patience())
		beside = s.Beside()
	}
	o, err := a.perform(ctx, p, status, beside)
	if err != nil {
		return nil, err
	}
	if missing(o.Dir) {
		return nil, deleted(o)
	}
	if beside.Summary != nil {
		_, err := beside.Summary(o) // the series says what it makes of it
		o.Err = errors.Join(o.Err, err)
	}
	words := cli.SummaryLine(&o.Run)
	if s.Result != nil {
		done, p99 := cli.Found(s.Result)
		words = done + ", p99 " + p99
	}
	status.say("%s: %s", t.What, words)
	if f.JSON {
		if err := a.printJSON(o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// printJSON writes run.json of a run to stdout, on one line.
func (a command) printJSON(o *session.Concluded) error {
	data, err := json.Marshal(&o.Run)
	if err != nil {
		return fmt.Errorf("write the run as JSON: %w", err)
	}
	_, err = a.Stdout.Write(append(data, '\n'))
	return err
}

// DryRun says what a run with these flags would do; args are what ProfileOrPlan lets through.
func DryRun(cmd *cobra.Command, c *cli.Call, f *cli.Flags, w *cli.Workers, args []string) error {
	d := experiment.NewDriver(c.Session, w.Series())
	return CarryOut(cmd, c, f, d, args, w.Check(), nil, command{c}.make(f, d, Makes{}))
}

// PrintPlan writes what a run would do to stdout.
func PrintPlan(c *cli.Call, p *session.Prepared) { command{c}.printPlan(p) }

// PrintList writes a list below a title to stdout, as PrintPlan does.
func PrintList(c *cli.Call, title string, list []string) { command{c}.printList(title, list) }

// printOther writes a summary of another kind than that of a run.
func (a command) printOther(text string, o *session.Concluded, f *cli.Flags) {
	if f.Quiet {
		fmt.Fprintln(a.Stdout, o.Dir)
		return
	}
	fmt.Fprint(a.Stdout, cli.Plain(text+"report in "+o.Dir+"\n", f.Plain || f.ASCII))
}
