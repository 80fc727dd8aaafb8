package widget

import (
	"math"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
)

// NameOf returns the name of a run for a headline.
func NameOf(r *rundir.Run) string {
	name := r.Profile
	if r.Mode != "" {
		name += " " + r.Mode
	}
	if r.Store.Name != "" {
		name += " on " + r.Store.Name
	}
	return name
}

// Trust describes in a word or two, with a sign, how far a run can be trusted: its
// verdict, and what else must be known at once.
func Trust(s *Styles, r *rundir.Run) (string, Ink) { return TrustOf(s, &kept.Item{Run: r}) }

// TrustOf is Trust of anything that is kept.
func TrustOf(s *Styles, i *kept.Item) (string, Ink) {
	switch text := i.Judged(); i.Class() {
	case kept.Good:
		return "✓ " + text, s.OK
	case kept.Bad:
		return "✗ " + text, s.Bad
	case kept.Going:
		if i.Run == nil {
			return "… " + text, s.Warn
		}
		return "▶ " + text, s.Warn
	default:
		return "! " + text, s.Warn
	}
}

// Worth returns the sign of a verdict and its colour.
func Worth(s *Styles, v rundir.Verdict) (string, Ink) {
	switch v.State {
	case verdict.Valid:
		return "✓ ", s.OK
	case verdict.Invalid:
		return "✗ ", s.Bad
	}
	return "! ", s.Warn
}

// RateText formats a throughput; a dash if it is unknown.
func RateText(v *float64) string {
	if v == nil {
		return "–"
	}
	return units.Number(*v)
}

// OpName returns the name of an operation, with its track if the run has several.
func OpName(run *rundir.Run, o rundir.Operation) string {
	for _, p := range run.Operations {
		if p.Track != o.Track {
			return o.Track + " · " + o.Op
		}
	}
	return o.Op
}

// Figures are the numbers that sum up a run.
type Figures struct {
	Rate                float64 // NaN if unknown
	P50, P99, P999, Max int64   // of all calls that count
	Errors, unstarted   int64
	count               int64
	Of                  string // what the latencies are of, if that is not all that ran
	Mixes               int    // how many segments they mix, 0 if there is one
	sign, rated         string
}

// RateText and P99Text are for a list: with the signs of what they mix.
func (f *Figures) RateText() string {
	if math.IsNaN(f.Rate) {
		return "–"
	}
	return mark(f.rated, units.Number(f.Rate)+"/s")
}

// P99Text is described beside RateText.
func (f *Figures) P99Text() string { return mark(f.sign, Nanos(f.P99)) }

// mark puts a sign before a figure, if there is one.
func mark(sign, text string) string {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return text
	}
	return sign + text
}

// FiguresOf sums up a run: the headline, with the errors of all operations.
func FiguresOf(run *rundir.Run) Figures {
	h := run.Headline()
	f := Figures{
		Rate: h.Rate, count: h.Count, Of: h.Of(run), Mixes: run.Mixes(), sign: run.Sign(), rated: run.RateSign(),
		Errors: run.Failures(), P50: h.Response.P50, P99: h.Response.P99, P999: h.Response.P999, Max: h.Response.Max,
	}
	for _, o := range run.Operations {
		f.unstarted += o.Unstarted
	}
	return f
}

// Ours returns the causes in a verdict that mean that perfbench, rather than the store, limits a run,
// and what is said of the first of them; empty if there is none.
func Ours(v rundir.Verdict) (causes []string, reason string) {
	for _, d := range v.Told() {
		if !d.Cause.Ours() {
			continue
		}
		if causes = append(causes, d.Cause.Word()); reason == "" {
			reason = d.Text
		}
	}
	return causes, reason
}
