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

// why describes it in a paragraph, with what coincided.
func why(f *rundir.Folder) Section {
	w := Why(f)
	s := Section{Heading: "Why", Weight: Answer}
	if text := explain.Paragraph(w); text != "" {
		s.Text = append([]string{Plain(text)}, explain.Noted(w)...)
	}
	return s
}
