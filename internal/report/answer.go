package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// headline are the figures shown first: throughput and errors over all calls together, as screens
// have them.
var headline = []compare.Figure{compare.Throughput, compare.P50, compare.P99, compare.P999, compare.Errors}

// answer returns the headline figures: the verdict, the results and how far chance may
// have moved them, and whether the stored data are right. own and c may be nil.
func answer(r *rundir.Run, own *compare.Run, c *compare.Comparison) []Figure {
	tone := map[string]Tone{verdict.Valid: Good, verdict.Degraded: Doubtful, verdict.Invalid: Bad}
	out := []Figure{{Name: "verdict", Value: r.Verdict.State, Tone: tone[r.Verdict.State]}}
	if n := len(r.Verdict.Thresholds); n > 0 {
		missed := len(r.Verdict.Missed())
		out[0].Note = fmt.Sprintf("thresholds: %d of %d met", n-missed, n)
	}
	if own != nil {
		out = append(out, measured(r, own, c)...)
	}
	v := Figure{Name: "verification", Value: r.Verification.State}
	switch r.Verification.State {
	case workload.Passed:
		v.Tone = Good
	case workload.Failed:
		v.Tone = Bad
	}
	if o := r.Observed; o != nil && len(o.Restarts) > 0 {
		v.Note = verdict.BriefNote(o.Restarts[len(o.Restarts)-1].Note())
		if v.Tone == Good {
			v.Tone = Doubtful // what is there may have been written since
		}
	}
	return append(out, v)
}

// measured returns the figures with their ranges, and how they compare with an earlier
// run.
func measured(r *rundir.Run, own *compare.Run, c *compare.Comparison) (out []Figure) {
	set, h := compare.Set{Runs: []*compare.Run{own}}, r.Headline()
	for _, name := range headline {
		for _, s := range compare.RepeatsOf(set, nil) {
			if s.Figure != name {
				continue
			}
			texts := s.Texts(r.Unit)
			f := Figure{Name: texts[0]}
			if of := h.Of(r); of != "" && name != compare.Throughput && name != compare.Errors {
				f.Name += ", " + of
			}
			value, by := s.Parts()
			if f.Value = value; value == compare.Unknown {
				continue
			}
			if by != "" {
				f.Range, f.Low, f.High = by, s.Lo/s.Value-1, s.Hi/s.Value-1
			}
			f.Note = against(c, name)
			if text := r.PausedText(); text != "" && name == compare.Throughput {
				f.Note = strings.TrimPrefix(f.Note+"; "+text, "; ")
			}
			if mixed := r.MixedSegments(); mixed != "" {
				f.Note = strings.TrimPrefix(f.Note+"; mixes "+mixed, "; ")
			}
			if r.Idle() && name == compare.Throughput {
				f.Note = strings.TrimPrefix(f.Note+"; "+rundir.IdleNote, "; ")
			}
			out = append(out, f)
		}
	}
	return out
}

// against says how a figure of all calls compares; "" without a comparison.
func against(c *compare.Comparison, name compare.Figure) string {
	if c == nil {
		return ""
	}
	for _, p := range c.Parts {
		if p.Operation != nil {
			continue
		}
		for _, f := range p.Findings {
			if f.Figure == name {
				return strings.TrimSpace(f.ChangeText()+" "+f.Words()) + ", was " + f.Text(f.A, true)
			}
		}
	}
	return ""
}

// judgedRun returns what comparisons need of a run; nil if there is no run, or its log is
// unusable.
func judgedRun(f *rundir.Folder) *compare.Run {
	if f == nil {
		return nil
	}
	r, err := compare.Of(f)
	if err != nil {
		return nil
	}
	return r
}

// comparedRun compares a run with the earlier one that it is shown beside, as compare does; nil
// unless both are known.
func comparedRun(f *rundir.Folder, own *compare.Run) *compare.Comparison {
	earlier := judgedRun(f.Against)
	if earlier == nil || own == nil {
		return nil
	}
	o := compare.Options{}
	for _, k := range f.Kept {
		if r := judgedRun(k); r != nil {
			o.Earlier = append(o.Earlier, r)
		}
	}
	set := func(r *compare.Run) compare.Set { return compare.Set{Name: r.Conditions.ID, Runs: []*compare.Run{r}} }
	return compare.Sets(set(earlier), set(own), o)
}

// beside says how the run compares with an earlier one, A.
func beside(c *compare.Comparison) Section {
	if c == nil {
		return Section{}
	}
	s := Section{Heading: "Against " + c.A.Name, Weight: Answer}
	s.Text = append(s.Text, "A is "+c.A.Name+", B is this run. "+leading(c))
	for _, doubt := range slices.Concat(c.Refusals, c.Cautions, c.Notes) {
		s.Text = append(s.Text, strings.TrimRight(doubt, ".")+".")
	}
	if len(c.Parts) > 0 {
		s.Table = Findings(c.Parts[0], c.Unit(nil))
		s.Parts = unsure(c.Parts[0], c.Unit(nil), map[string]bool{})
	}
	return s
}

// Findings returns the figures of one part of a comparison, with a row for each.
func Findings(p compare.Pair, unit string) Table {
	t := Table{Left: 1, Columns: []string{"", "A", "B", "change", "between", "verdict"}}
	for _, f := range p.Findings {
		t.Add(f.Label(unit), f.Text(f.A, false), f.Text(f.B, false), f.ChangeText(), f.RangeText(), f.Words())
	}
	return t
}

// Outcome says in one or two sentences what a comparison found.
func Outcome(c *compare.Comparison) string {
	if len(c.Parts) == 0 {
		return "Nothing can be compared."
	}
	unit := c.Unit(nil)
	by := map[compare.Verdict][]string{}
	for _, f := range c.Parts[0].Findings {
		by[f.Verdict] = append(by[f.Verdict], strings.TrimSpace(f.Label(unit)+" "+moved(f)))
	}
	var said []string
	for _, v := range []struct {
		verdict compare.Verdict
		words   string
	}{{compare.Worse, "B is worse in "}, {compare.Better, "better in "}, {compare.Same, "the same in "}} {
		if names := by[v.verdict]; len(names) > 0 {
			words := v.words
			if len(said) == 0 {
				words = "B is " + strings.TrimPrefix(words, "B is ")
			}
			said = append(said, words+strings.Join(names, ", "))
		}
	}
	text := strings.Join(said, "; ")
	switch names := by[compare.Unsure]; {
	case text == "" && len(names) == 0 && c.A.Runs[0].Conditions.Sought != "" && c.B.Runs[0].Conditions.Sought != "":
		return "Nothing can be compared: " + nothingHeld(c) + " found a level that holds."
	case text == "" && len(names) == 0:
		return "Nothing can be compared: nothing was measured."
	case text == "":
		return "It cannot be said whether B is better or worse."
	case len(names) > 0:
		text += "; unsure about " + strings.Join(names, ", ")
	}
	return text + "."
}

// nothingHeld names the searches of which none found a level that holds: "neither search".
func nothingHeld(c *compare.Comparison) string {
	held := func(s compare.Set) bool {
		return slices.ContainsFunc(s.Runs, func(r *compare.Run) bool {
			return len(r.Parts) > 0 && r.Parts[0].Figures[r.Conditions.Sought].Value > 0
		})
	}
	switch {
	case held(c.A):
		return "no search of B"
	case held(c.B):
		return "no search of A"
	}
	return "neither search"
}

// moved says by how much a figure has certainly changed; empty if it has not.
func moved(f compare.Finding) string {
	if f.Verdict != compare.Better && f.Verdict != compare.Worse {
		return ""
	}
	return "(" + f.ChangeText() + ")"
}
