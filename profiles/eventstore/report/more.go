package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/profiles/eventstore/facts"
)

// latency writes the table that the original lacks.
func (r *reporter) latency() {
	r.printf("### Latency\n\n")
	var rows [][]string
	for i := range r.f.Steps {
		s := &r.f.Steps[i]
		for _, l := range s.Latency {
			rows = append(rows, []string{s.Name, l.Stage, fmt.Sprint(l.Count), spell(l.Mean), spell(l.P50), spell(l.P95), spell(l.P99), spell(l.P999), spell(l.Max)})
		}
	}
	if rows == nil {
		r.printf("n/a: no batch came through.\n\n")
		return
	}
	table(&r.b, []string{"step", "stage", "batches", "mean", "p50", "p95", "p99", "p99.9", "max"}, rows...)
	r.printf("Of batches. What begins with \"due\" counts from when the schedule wanted the batch, so that a generator that is held up\nhides nothing.\n\n")
}

// backlogSlope returns how fast the backlog grew within a step, in events per second.
func (r *reporter) backlogSlope(s *facts.Step) float64 {
	return facts.Slope(s, r.f.Values(func(p *facts.SeriesPoint) float64 { return float64(p.BacklogEvents) }))
}

func (r *reporter) backlog() {
	r.printf("### Backlog\n\n")
	known := func(of func(*facts.SeriesPoint) int64) func(*facts.SeriesPoint) float64 {
		return func(p *facts.SeriesPoint) float64 {
			if v := of(p); v >= 0 {
				return float64(v)
			}
			return math.NaN()
		}
	}
	var rows [][]string
	for i := range r.f.Steps {
		s := &r.f.Steps[i]
		peak := func(of func(*facts.SeriesPoint) int64) float64 { return facts.Over(s, r.f.Values(known(of))).Peak }
		rows = append(rows, []string{
			s.Name, number("%.0f", peak(func(p *facts.SeriesPoint) int64 { return p.Ready })), number("%.0f", peak(func(p *facts.SeriesPoint) int64 { return p.Unacked })),
			number("%.0f", peak(func(p *facts.SeriesPoint) int64 { return p.BacklogEvents })), number("%.3g", peak(func(p *facts.SeriesPoint) int64 { return p.LagNs })/1e9),
			number("%+.0f", r.backlogSlope(s)), number("%.0f", peak(func(p *facts.SeriesPoint) int64 { return p.Tasks })), spell(s.BlockedNs),
		})
	}
	table(&r.b, []string{
		"step", "ready (max), batches", "unacknowledged (max), batches", "backlog (max), events", "lag (max), s",
		"growth of the backlog, events/s", "tasks in the store stage (max)", "waited for room under the limits, all threads",
	}, rows...)
	if d := r.f.Drain; d != nil {
		r.printf("After the generators had ended, %d events were on their way; %s later %d were.\n\n", d.Backlog, spell(d.ToNs-d.FromNs), d.Left)
	}
	l := r.f.Limits
	r.printf("Limits of the store stage: %d batches (at most %d were in it), %s of content (at most %s).\n\n",
		l.MaxTasks, l.PeakTasks, memory(float64(l.MaxTaskBytes)), memory(float64(l.PeakBytes)))
	var blocked []string
	for i := range r.f.Series {
		if b := r.f.Series[i].Blocked; b != "" && !slices.Contains(blocked, b) {
			blocked = append(blocked, b)
		}
	}
	for _, b := range blocked {
		r.printf("The transport did not take anything for a while: %s.\n\n", b)
	}
	r.show("backlog", "queue", "lag", "tasks")
}

func (r *reporter) integrity() {
	l := &r.f.Ledger
	r.printf("### Integrity\n\n")
	counts := func(v int64) string {
		if !l.Read {
			return "n/a"
		}
		return fmt.Sprint(v)
	}
	var refused int64
	for i := range r.f.Steps {
		refused += r.f.Steps[i].DeadLettered
	}
	table(&r.b, []string{
		"generated", "sent", "confirmed", "acknowledged", "stored exactly once", "missing", "duplicated", "out of order", "rejected",
		"unexpected", "corrupt", "sent, not confirmed, not there",
	}, []string{
		fmt.Sprint(l.Generated), fmt.Sprint(l.Sent), fmt.Sprint(l.Confirmed), fmt.Sprint(l.Acked), counts(l.Once), counts(l.Missing), counts(l.Duplicated),
		counts(l.OutOfOrder), fmt.Sprint(refused), counts(l.Unexpected), counts(l.Corrupt), counts(l.Unconfirmed),
	})
	if l.Read {
		r.printf("Events, warm-up included; everything was read back, in %s. ", spell(l.ReadNs))
	} else {
		r.printf("n/a: nothing was read back. ")
	}
	r.printf("Verification: %s", r.run.Verification.State)
	if r.run.Verification.Summary != "" {
		r.printf(" (%s)", r.run.Verification.Summary)
	}
	r.printf(".\n\n")
	for _, kind := range slices.Sorted(maps.Keys(l.Examples)) {
		r.printf("* %s: %s\n", kind, strings.Join(l.Examples[kind], ", "))
	}
	if len(l.Examples) > 0 {
		r.printf("\n")
	}
	if n := len(r.f.Crashes); n > 0 {
		var at []string
		for _, c := range r.f.Crashes {
			at = append(at, spell(c))
		}
		r.printf("The store stage was ended without notice %d times, at %s.\n\n", n, strings.Join(at, ", "))
	}
	if r.f.Compat {
		x := r.f.Losses
		table(&r.b, []string{
			"lost with compat=on:", "root rejected (Q1)", "remainder (Q4)", "late ticks (Q5)", "unconfirmed (Q6)", "rejected (Q9)", "retries exhausted (Q10)", "oversized (Q11)", "stored again (Q8)",
		}, []string{
			"events", fmt.Sprint(x.RootRejected), fmt.Sprint(x.Remainder), fmt.Sprint(x.LateTicks), fmt.Sprint(x.Unconfirmed), fmt.Sprint(x.Rejected), fmt.Sprint(x.Exhausted),
			fmt.Sprint(x.Oversized), fmt.Sprint(x.Duplicates),
		})
	}
	r.errors()
}

func (r *reporter) errors() {
	r.printf("### Errors and retries\n\n")
	var rows [][]string
	for i := range r.f.Steps {
		s := &r.f.Steps[i]
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Retries), count(s.DeadBatches), fmt.Sprint(s.DeadLettered), count(s.Failed)})
	}
	table(&r.b, []string{"step", "retries", "dead letters, batches", "dead letters, events", "stored events with status FAILED"}, rows...)
	rows = nil
	for _, e := range r.f.Errors {
		rows = append(rows, []string{e.Text, fmt.Sprint(e.Count)})
	}
	for _, e := range r.run.Errors {
		rows = append(rows, []string{e.Track + "." + e.Op + ": " + e.Class + ": " + strings.Join(e.Messages, "; "), fmt.Sprint(e.Count)})
	}
	if rows == nil {
		r.printf("No errors.\n\n")
		return
	}
	table(&r.b, []string{"error", "times"}, rows...)
}

// readBack writes the queries, whose operations are named after their kind.
func (r *reporter) readBack() {
	r.printf("### Read-back\n\n")
	var rows [][]string
	for _, o := range r.run.Operations {
		if !slices.Contains(facts.QueryOps, o.Op) || o.Calls+o.Errors == 0 {
			continue
		}
		perSecond := math.NaN()
		if o.ActiveS > 0 {
			perSecond = float64(o.Count) / o.ActiveS
		}
		rows = append(rows, []string{
			o.Track, o.Op, fmt.Sprint(o.Calls), fmt.Sprint(o.Errors), fmt.Sprint(o.Count), r.rate(three(perSecond)),
			spell(int64(o.Response.Mean)), spell(o.Response.P50), spell(o.Response.P95), spell(o.Response.P99), spell(o.Response.P999), spell(o.Response.Max),
		})
	}
	if rows == nil {
		r.printf("n/a: there were no queries (query=%s).\n\n", r.f.Config["query"])
		return
	}
	table(&r.b, []string{"when", "query by", "queries", "errors", "found", "found/s", "mean", "p50", "p95", "p99", "p99.9", "max"}, rows...)
}

func (r *reporter) search() {
	f := r.f.Search
	if f == nil {
		return
	}
	r.printf("### Sustainable rate\n\n")
	if f.Rate > 0 {
		r.printf("The highest rate that held is **%s events/s**.\n\n", number("%.0f", f.Rate))
	} else {
		r.printf("No rate that was tried held.\n\n")
	}
	var rows [][]string
	for i, t := range f.Trials {
		held := "no"
		if t.Held {
			held = "yes"
		}
		rows = append(rows, []string{
			fmt.Sprint(i + 1), number("%.0f", t.Rate), spell(t.ToNs - t.FromNs), number("%.0f", t.Stored), number("%+.0f", t.Slope), held, t.Why,
		})
	}
	table(&r.b, []string{"trial", "rate, events/s", "for", "stored, events/s", "growth of the backlog, events/s", "held", "why"}, rows...)
}

// sustained says whether a step's rate could be sustained.
func (r *reporter) sustained(s *facts.Step) (string, string) {
	if s.Rate == 0 {
		return "n/a", "closed loop: nothing is due before it is sent"
	}
	offered, grows := s.Offered.Events, r.backlogSlope(s)
	part := ratio(s.Stored.Events, offered)
	switch {
	case math.IsNaN(part):
		return "n/a", "nothing was offered"
	case part < facts.SustainedPart:
		return "no", fmt.Sprintf("%.1f %% of what was offered was stored within the step", part*100)
	case math.IsNaN(grows):
		return "n/a", "the step is too short to tell how the backlog grew"
	case grows > facts.SustainedSlope*s.Rate:
		return "no", fmt.Sprintf("the backlog grew by %.0f events/s", grows)
	}
	return "yes", fmt.Sprintf("%.1f %% stored within the step, the backlog grew by less than %g %% of the rate", min(part, 1)*100, facts.SustainedSlope*100)
}

func (r *reporter) verdict() {
	r.printf("### Verdict\n\n")
	var rows [][]string
	for _, s := range r.steps {
		yes, why := r.sustained(s)
		rows = append(rows, []string{s.Name, yes, why, r.binds(s)})
	}
	table(&r.b, []string{"step", "sustained", "why", "what binds"}, rows...)
	r.printf("A step is sustained when at least %g %% of what was offered was stored within it and the backlog grew by less than %g %% of the rate.\n", facts.SustainedPart*100, facts.SustainedSlope*100)
}
