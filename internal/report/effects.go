package report

import (
	"fmt"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/rundir"
)

// effects lists the live changes and what each of them did. Those of faults have an account of
// their own.
func effects(r *rundir.Run, list []effect.Effect) Section {
	s := Section{Heading: "Changes", Weight: Answer}
	t := Table{Left: 7, Columns: []string{"at", "change", "by", "segment", r.Unit + " per second", "latency per second", "note"}}
	judged := false
	for i := range list {
		e := &list[i]
		if isFault(e.Name) {
			continue
		}
		rate, tail, note := "", "", e.Missing()
		if note == "" && !e.Pauses() {
			judged = true
			rate, tail, note = figureText(e.Throughput()), latencyText(e.Latency()), e.Lacks()
			if n := len(e.With); n > 0 {
				note = joined(fmt.Sprintf("together with the %s", before(n)), note)
			}
		}
		t.Add(e.When(), e.Named(), e.By, e.Segments(), rate, tail, note)
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
	if b == "" {
		return a
	}
	return a + "; " + b
}

// figureText is a figure before and after a change, with the judgement.
func figureText(f effect.Figure) string {
	switch {
	case f.Is == "":
		return "–"
	case f.Moved():
		return f.Ranges() + ": " + string(f.Is) + ", " + f.Change()
	case f.Is == effect.Unsure:
		return f.Ranges() + " (unsure)"
	}
	return f.Ranges() + ": " + string(f.Is)
}

// latencyText is figureText of a percentile, with its name and that of its operation.
func latencyText(f effect.Figure) string {
	switch {
	case f.Is == "":
		return figureText(f)
	case f.Of() != "":
		return f.Name() + " of " + f.Of() + " " + figureText(f)
	}
	return f.Name() + " " + figureText(f)
}
