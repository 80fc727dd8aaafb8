// Package finding is the command that looks for the highest rate, or number of threads,
// that a store sustains.
package finding

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/call"
	"github.com/perfbench/perfbench/cmd/perfbench/headless"
	"github.com/perfbench/perfbench/cmd/perfbench/runflags"
	"github.com/perfbench/perfbench/cmd/perfbench/usage"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/find/live"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/search/found"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/session/given"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// command is the command in one call.
type command struct {
	*call.Call
	flags runflags.Flags
	asked found.Asked

	options find.Options
	result  *found.Result
}

// Command looks for the highest rate or number of threads.
func Command(c *call.Call) *cobra.Command { return (&command{Call: c}).tree() }

func (a *command) tree() *cobra.Command {
	c := &cobra.Command{
		Use: "find --profile P --under 'p99<10ms'", Short: "Find the highest rate, or number of threads, that meets a condition",
		Long: `find does one run and raises its rate while the conditions hold: by doubling first,
then by halving what is left between the highest rate that held and the lowest that
did not. A rate that is doubtful is tried again, and so are both at the end. With
--over threads it raises the number of threads, which go as fast as they can.

It ends with the two, what limits (the store, or perfbench, and by what), and the
curve of latency over load, on stdout and as find.json, find.txt, find.html and
find.svg in the folder of the run. It takes up to --duration (default 3m).

Unless --threads is given, a search for the rate adds threads, up to 64, when all
are busy and the store is not.

Exit codes: those of run, and 5 when not even the lowest rate holds.`,
		Example: `  perfbench find --profile ingestion --target redis://localhost --under 'p99<10ms'
  perfbench find --profile tx --under 'p99.9<50ms' --under 'errors<0.1%' --from 1000
  perfbench find --profile authz --target lab:postgres --over threads --under 'p99<20ms'`,
		Args: usage.None(runflags.ProfileHint),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.flags.Resolve(a.Call, cmd); err != nil {
				return err
			}
			a.request()
			return headless.Do(cmd.Context(), a.Call, &a.flags, headless.Beside{Check: a.check, During: a.search, Summary: a.summary})
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringArrayVar(&a.asked.Under, "under", nil, "`EXPR` that must hold: p99<10ms, put.p99.9<=20ms, errors<1%; repeats")
	fs.StringVar(&a.asked.Over, "over", find.OverRate, "`KNOB` to raise: rate or threads")
	fs.StringVar(&a.asked.From, "from", "", "`N` to begin at (default: a quarter of what the store does at once, or one thread)")
	fs.StringVar(&a.asked.To, "to", "", fmt.Sprintf("`N` to end at (default: none, or %d threads)", find.MostThreads))
	a.flags.Register(a.Call, c)
	for name, words := range map[string][]string{"over": {find.OverRate, find.OverThreads}, "under": {"p99<10ms", "p99.9<50ms", "errors<1%"}} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, usage.NoFiles)) // the flag exists
	}
	return c
}

// request adds to what is to run what a search needs.
func (a *command) request() {
	r := &a.flags.Request
	if _, ok := a.Getenv(given.Variable("duration")); !ok {
		if _, ok := r.Values["duration"]; !ok {
			r.Values.Set(workload.Value{Name: "duration", Text: found.Within, Origin: workload.OriginFlag, Where: "--duration, its default"})
		}
	}
	r.MaxThreads = find.Room(a.asked)
}

// check reads what is to be found, by the plan.
func (a *command) check(p *session.Prepared) (err error) {
	a.options, err = live.Prepare(a.asked, p, 0)
	return err
}

// search searches while the run goes on, and ends it.
func (a *command) search(ctx context.Context, l *session.Live, say func(format string, args ...any)) {
	a.result = live.Search(ctx, l, a.options, func(s found.Step, words string) {
		say("search  %s (%s %s/s, p99 %s)", words, units.Number(s.Done), l.Plan.Unit, p99(s))
	})
	l.Stop(session.Reached("search"))
}

func p99(s found.Step) string {
	if s.Response.P99 == measure.Hidden {
		return "–"
	}
	return units.Duration(time.Duration(s.Response.P99))
}

// summary keeps what was found with the run, and says it.
func (a *command) summary(o *session.Outcome) (string, error) {
	return report.FoundText(a.result) + "\n", live.Keep(o.Dir, a.result)
}
