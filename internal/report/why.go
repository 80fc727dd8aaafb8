package report

import (
	"strings"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// Why says what held a run back. For a run that did not work this out itself, because
// it was made by an older version or never came to its end, it is worked out now.
func Why(f *rundir.Folder) *rundir.Why {
	if f.Run.Why != nil {
		return f.Run.Why
	}
	return explain.Of(f)
}

// why has all that is behind the causes: what casts doubt on the figures and what shows it, what held
// the run back in which time, and what coincided.
func why(f *rundir.Folder) Section {
	w := Why(f)
	s := Section{Heading: "Why", Weight: Detail, Text: f.Run.Misgivings()}
	if len(w.Parts) == 0 {
		return s
	}
	for _, c := range Outages(f, w) {
		s.Text = append(s.Text, c.Text)
	}
	s.Text = append(s.Text, explain.Noted(w, f.Run.Verdict)...)
	periods, others := explain.Periods(w)
	limits := explain.Limits(w)
	main := explain.Main(limits)
	if s.Uses = main.Uses; len(limits) == 1 {
		s.Text = append(s.Text, main.Text)
	} else {
		s.Text = append(s.Text, sentence("limited by "+explain.Limited(w, nil)))
	}
	if len(main.Evidence) > 0 {
		s.Text = append(s.Text, sentence(strings.Join(main.Evidence, "; ")))
	}
	if len(limits) > 1 && len(main.Uses) > 0 {
		s.Text = append(s.Text, main.Meanwhile())
	}
	if len(periods) > 1 {
		s.Table = Table{Left: 3, Columns: []string{"from", "to", "limited by"}}
		for _, p := range periods {
			s.Table.Add(plot.Clock(p.From), plot.Clock(p.To), p.Text)
		}
	}
	if others > 0 {
		s.Table.Add("", "", "and "+units.Plural(others, "shorter part"))
	}
	return s
}

// usedWords writes what was used as one sentence; "" for nothing.
func usedWords(uses []rundir.Use) string {
	words := make([]string, len(uses))
	for i := range uses {
		words[i] = uses[i].Words()
	}
	return sentence(strings.Join(words, "; "))
}
