package explain

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
)

// mostOutages is how many outages are told.
const mostOutages = 5

// outages tells the first outages of a run, and how many calls of what counts failed in their seconds.
func outages(f *rundir.Folder) (out []rundir.Coincidence) {
	list, counts := rundir.OutagesOf(f), map[[2]string]bool{}
	for _, o := range f.Run.Operations {
		counts[[2]string{o.Track, o.Op}] = f.Run.Counts(o)
	}
	list = list[:min(len(list), mostOutages)]
	failed := make([]int64, len(list))
	for _, r := range f.Series {
		of, most := -1, 0.0 // the outage that has most of the second
		for i, o := range list {
			if part := min(o.To, float64(r.T+1)) - max(o.From, float64(r.T)); part > most {
				of, most = i, part
			}
		}
		if of >= 0 && counts[[2]string{r.Track, r.Op}] {
			failed[of] += r.Errors
		}
	}
	for i, o := range list {
		text := verdict.Dead(list[i:i+1], f.Run.MeasuredS)
		if failed[i] > 0 {
			text += ", and " + units.Plural(failed[i], "call") + " failed"
		}
		if by := overlapping(f, o.From, o.To); len(by) > 0 {
			text += ", in the time of the " + named(by) + ", " + ownWord
		}
		out = append(out, rundir.Coincidence{At: o.From, Until: o.To, Text: text, Outage: true})
	}
	return out
}

// overlapping returns the faults that the run itself made in a time, or shortly before it.
func overlapping(f *rundir.Folder, from, to float64) (out []rundir.Fault) {
	for _, b := range rundir.FaultSpans(&f.Run) {
		if b.From < to && b.To > from-1 {
			out = append(out, b)
		}
	}
	return out
}

// Of a period in which nothing was done for that part or more, an outage is what held it back.
const outageMost = 0.5

const unknown = "What held the run back is unknown"

// besides limits what is unknown of a part to the time outside outages: these are known.
func besides(p *rundir.WhyPart, outages []rundir.Coincidence) {
	dead := 0.0
	for _, o := range outages {
		dead += max(min(o.Until, p.To)-max(o.At, p.From), 0)
	}
	switch long := p.To - p.From; {
	case dead <= 0 || p.Resource != Unknown:
	case dead >= outageMost*long:
		p.Text = fmt.Sprintf("Nothing was done for %.3g of %.3g s, which held the run back.", dead, long)
	default:
		p.Text = strings.Replace(p.Text, unknown, "What held the run back in its other seconds is unknown", 1)
	}
}
