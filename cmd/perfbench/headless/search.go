package headless

import (
	"context"
	"strings"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
)

// Search is a search on a run.
type Search struct {
	Options find.Options
	// Result is nil until the search has ended.
	Result *find.Result
}

// Beside returns the search as what is done beside its run, which it ends.
func (s *Search) Beside() Beside { return Beside{During: s.during, Summary: s.summary} }

func (s *Search) during(ctx context.Context, l *session.Driven, say func(format string, args ...any)) {
	var judged find.Result
	for _, e := range s.Options.Under {
		judged.Under = append(judged.Under, e.Text)
	}
	say("search  for %s; it ends when that is known, or after %s", s.sought(judged.Under), units.Length(s.Options.Time))
	s.Result = experiment.Search(ctx, l, s.Options, func(step find.Step, words string) {
		figures := "p99 " + cli.P99(step)
		for _, f := range judged.Judged() {
			figures += ", " + f.Name + " " + report.Nanos(f.Of(step))
		}
		say("search  %s (%s %s/s, %s)", words, units.Number(step.Done), l.Opened.Prepared.Plan.Unit, figures)
	})
	if ctx.Err() == nil { // otherwise the interrupt ends the run, and says so
		l.Stop(session.Reached("search"))
	}
}

// sought says what is searched for.
func (s *Search) sought(under []string) string {
	switch {
	case s.Options.Recovery != nil:
		return "the highest base load from which the store comes back by itself"
	case s.Options.Over.Name == find.OverThreads:
		return "the number of threads that does most under " + strings.Join(under, " and ")
	}
	return "the highest rate under " + strings.Join(under, " and ")
}

// summary keeps what was found with the run, and says it.
func (s *Search) summary(o *session.Concluded) (string, error) {
	return report.FoundText(s.Result) + "\n", experiment.KeepFound(o.Dir, s.Result)
}

// PrintSearch says on stdout what a search would look for.
func PrintSearch(c *cli.Call, o *find.Options, under []string) {
	bound := ""
	if o.From > 0 {
		bound += " from " + units.Number(o.From)
	}
	if o.To > 0 {
		bound += " up to " + units.Number(o.To)
	}
	PrintList(c, "searches for", []string{
		"the highest " + o.Over.Name + bound + ", in " + units.Length(o.Time) + " or less", "under " + strings.Join(under, " and "),
	})
}
