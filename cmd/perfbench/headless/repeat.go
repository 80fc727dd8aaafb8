package headless

import (
	"context"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/session"
)

// repeated does the runs in turn, and says at the end what they come to. Whatever ends it early
// leaves the runs that are complete, and what they come to, in the folder that is returned.
func (t *single) repeated(ctx context.Context) (string, error) {
	failed := t.repeats.Do(ctx, func(ctx context.Context, turn experiment.Turn) (*session.Concluded, error) {
		o, err := Perform(t.Call, t.flags, t.driver)(ctx, turn)
		if err == nil && t.flags.Quiet && !t.flags.JSON {
			fmt.Fprintln(t.Stdout, o.Dir)
		}
		return o, err
	})
	came, err := t.repeats.Conclude()
	if came == nil {
		return "", errors.Join(failed, err)
	}
	if came.Dir != "" && !t.flags.JSON { // with it, of the runs there is a line each
		if !t.flags.Quiet {
			fmt.Fprint(t.Stdout, "\n"+cli.Plain(came.Text, t.flags.Plain || t.flags.ASCII)+"\nkept in ")
		}
		fmt.Fprintln(t.Stdout, came.Dir)
	}
	for _, w := range came.Warnings {
		fmt.Fprintln(t.Stderr, "warning: "+cli.Printable(w))
	}
	return came.Dir, errors.Join(failed, err)
}
