package report

import (
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/rundir"
)

// effects lists the live changes and what each of them did. Those of faults have an account of
// their own.
func effects(r *rundir.Run, list []effect.Effect) Section {
	s := Section{Heading: "Changes", Weight: Answer}
	t := Table{Left: 9, Columns: []string{"at", "change", "by", "segment", "figure", "before and after", "what it did", "lowest and highest second", "note"}}
	judged := false
	for i := range list {
		e := &list[i]
		if isFault(e.Name) {
			continue
		}
		lead := []string{e.When(), e.Named(), e.By, e.Segments()}
		if missing := e.Missing(); missing != "" || e.Pauses() {
			t.Add(append(lead, "", "", "", "", missing)...)
			continue
		}
		judged = true
		list := e.Figures()
		lacking := max(slices.IndexFunc(list, func(f effect.Figure) bool { return f.Is == effect.Unsure }), 0)
		for k := range list {
			f, note := &list[k], ""
			if n := len(e.With); n > 0 && k == 0 {
				note = fmt.Sprintf("together with the %s", before(n))
			}
			if k == lacking {
				note = joined(note, e.Lacks())
			}
			if f.Name() != effect.OfThroughput {
				note = joined(note, e.Counts())
			}
			t.Add(append(lead, f.Label(r.Unit), f.Numbers(), what(f), f.Seconds(), note)...)
			lead = make([]string, len(lead))
		}
	}
	if s.Table = t; judged {
		s.Text = []string{"Each change is judged by up to 30 s before it and at most as many after it, up to the next change, fault or outage: the throughput, and the p99 of the median second, or its p50 where p99 cannot be judged, of the operation that has the highest before or after it, each with its lowest and its highest second. So a segment has one figure after the change that opens it and another before the one that ends it, and neither is that of the whole. What may be chance is unsure."}
	}
	return s
}

func before(n int) string {
	if n == 1 {
		return "one before"
	}
	return fmt.Sprintf("%d before", n)
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// what says what a change did to a figure: "worse, ×2", "unsure".
func what(f *effect.Figure) string {
	if f.Moved() {
		return string(f.Is) + ", " + f.Change()
	}
	return string(f.Is)
}
