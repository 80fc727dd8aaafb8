package runpage

import (
	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/report/page"
	"github.com/perfbench/perfbench/internal/rundir"
)

// Why says what held a run back. A run of a version that did not ask itself, and one
// that never came to its end, is looked at now.
func Why(f *rundir.Folder) *rundir.Why {
	if f.Run.Why != nil {
		return f.Run.Why
	}
	return explain.Of(f)
}

// why is the paragraph of it, with what coincided.
func why(f *rundir.Folder) page.Section {
	w := Why(f)
	s := page.Section{Heading: "Why", Weight: page.Answer}
	if text := explain.Paragraph(w); text != "" {
		s.Text = append([]string{page.Plain(text)}, explain.Noted(w)...)
	}
	return s
}
