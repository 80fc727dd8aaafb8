package report

import (
	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/rundir"
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
	if paragraphs := explain.Paragraphs(w); len(paragraphs) > 0 {
		s.Text = append(append(s.Text, paragraphs...), explain.Noted(w)...)
	}
	return s
}
