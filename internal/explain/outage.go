package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
)

// mostOutages is how many outages are told.
const mostOutages = 5

// outages tells the first outages of a run, and how many calls failed in their seconds.
func outages(f *rundir.Folder) (out []rundir.Coincidence) {
	list := f.Run.Outages
	list = list[:min(len(list), mostOutages)]
	failed, all := make([]int64, len(list)), int64(0)
	fails := map[[2]string]bool{}
	for _, o := range f.Run.Operations {
		if f.Run.Fails(o) {
			all, fails[[2]string{o.Track, o.Op}] = all+o.Errors, true
		}
	}
	for _, r := range f.Series {
		of, most := -1, 0.0 // the outage that has most of the second
		for i, o := range list {
			if part := min(o.To, float64(r.T+1)) - max(o.From, float64(r.T)); part > most {
				of, most = i, part
			}
		}
		if of >= 0 && fails[[2]string{r.Track, r.Op}] {
			failed[of] += r.Errors
		}
	}
	for i, o := range list {
		text := f.Run.Dead(o)
		switch n := failed[i]; {
		case n <= 0, len(f.Run.Emptied) > 0: // its seconds have calls, too, that were answered without records
		case n >= all:
			text += ", and " + units.Many(n, "call") + " failed"
		default:
			text += fmt.Sprintf(", with %s of the run's %s", units.Whole(n), units.Many(all, "failed call"))
		}
		if by := overlapping(f, o.From, o.To); len(by) > 0 {
			text += ", in the time of the " + named(by) + ", " + ownWord
		}
		out = append(out, rundir.Coincidence{At: o.From, Until: o.To, Text: text, Outage: true, Own: f.Run.Silent(o) == 0})
	}
	return out
}

// emptied tells when the store answered without records that it had acknowledged.
func emptied(f *rundir.Folder) (out []rundir.Coincidence) {
	lost := int64(0)
	for _, x := range f.Run.Errors {
		if x.Class == store.Lost.String() && f.Run.Fails(rundir.Operation{Track: x.Track, Op: x.Op}) {
			lost += x.Count
		}
	}
	list := f.Run.Emptied
	for i, o := range list[:min(len(list), mostOutages)] {
		text := fmt.Sprintf("from %s the store answered, but without records that it had acknowledged", plot.Between(o.From, o.To))
		if i == 0 && lost > 0 {
			text += ": " + units.Many(lost, "call") + " of the run found none"
		}
		out = append(out, rundir.Coincidence{At: o.From, Until: o.To, Text: text, Lost: true})
	}
	return out
}

// shortest is how long what an outage leaves of a part is at least, so that it is a part of its own.
const shortest = 0.5

// limitOf names an outage as what held a run back.
func limitOf(o *rundir.Coincidence) string {
	if o.Own {
		return "perfbench itself did not run"
	}
	return "an outage"
}

// parted returns the parts of a run with each outage within one as a part of its own: nothing else held the run back
// then. A pause is none, and a fault or an outage that is a part already stays as it is.
func parted(w *rundir.Why) (out []rundir.WhyPart) {
	for _, p := range w.Parts {
		if p.Resource == Fault || p.Resource == Unknown && p.Limit != "" || IsPause(p) {
			out = append(out, p)
			continue
		}
		whole, before := true, p
		for i := range w.Coincidences {
			o := &w.Coincidences[i]
			from, to := max(o.At, p.From), min(o.Until, p.To)
			if !o.Outage || to-from < shortest {
				continue
			}
			if before.To = from; from-before.From >= shortest {
				out = append(out, before)
			}
			out = append(out, rundir.WhyPart{From: from, To: to, Resource: Unknown, Limit: limitOf(o), Text: "Nothing was done, which held the run back."})
			whole, before.From = false, to
		}
		if before.To = p.To; whole || before.To-before.From >= shortest {
			out = append(out, before)
		}
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

// Of a period in which nothing was done for that part or more, an outage is what held it back. A second
// that has deadShare of one says nothing about the rest.
const (
	outageMost = 0.5
	deadShare  = 0.1
)

// apart says of a part that it is about the time without outages.
func apart(p *rundir.WhyPart, outages []rundir.Coincidence) {
	at := slices.IndexFunc(outages, func(o rundir.Coincidence) bool { return o.At < p.To && o.Until > p.From })
	if p.Resource == Unknown || p.Resource == Fault || at < 0 {
		return
	}
	what := "apart from the outage"
	switch {
	case outages[at].Lost:
		what = "apart from the time without records"
	case outages[at].Own:
		what = "apart from when perfbench itself did not run"
	}
	p.Hint = strings.TrimSuffix(what+", "+p.Hint, ", ")
	p.Text = "Apart from that, " + strings.ToLower(p.Text[:1]) + p.Text[1:]
}

const unknown = "What held the run back is not known"

// besides limits what is unknown of a part to the time outside outages: these are known.
func besides(p *rundir.WhyPart, outages []rundir.Coincidence) {
	dead, empty, limit := 0.0, 0.0, ""
	for i := range outages {
		o := &outages[i]
		long := max(min(o.Until, p.To)-max(o.At, p.From), 0)
		if o.Lost {
			empty += long
		} else {
			dead += long
		}
		if long > 0 && (limit == "" || !o.Own) {
			limit = limitOf(o)
		}
	}
	long := p.To - p.From
	if p.Resource == Unknown && dead+empty > 0 && dead+empty >= outageMost*long {
		p.Limit, p.Hint = limit, fmt.Sprintf("%.3g of %.3g s", dead+empty, long)
	}
	switch {
	case dead+empty <= 0 || p.Resource != Unknown:
	case dead+empty >= outageMost*long && empty <= 0:
		p.Text = fmt.Sprintf("Nothing was done for %.3g of %.3g s, which held the run back.", dead, long)
	case dead+empty >= outageMost*long && dead <= 0:
		p.Text = fmt.Sprintf("The store answered without its records for %.3g of %.3g s, which held the run back.", empty, long)
	case dead+empty >= outageMost*long:
		p.Text = fmt.Sprintf("Nothing was done for %.3g of %.3g s, and the store answered without its records for %.3g s, which held the run back.", dead, long, empty)
	default:
		p.Text = strings.Replace(p.Text, unknown, "What held the run back in its other seconds is not known", 1)
	}
}
