package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// Of outages: how many are told, how many units a usual second has at least, so that one without any
// is no chance; and the setting of a pause.
const (
	mostOutages   = 5
	usualUnits    = 10
	pausedSetting = "paused"
)

// outages lists the times of whole seconds in which nothing was done although it was meant to be, in
// order. It goes by what was counted, since a run whose verification failed has no throughput.
func outages(f *rundir.Folder) (out []rundir.Coincidence) {
	from, to := counting(&f.Run)
	type second struct {
		done, failed, p50 int64
		meant             bool
	}
	at := map[int]*second{}
	for _, r := range f.Series {
		if r.Warmup || float64(r.T) < from || float64(r.T+1) > to {
			continue
		}
		s := at[r.T]
		if s == nil {
			s = &second{}
			at[r.T] = s
		}
		s.done, s.failed, s.p50 = s.done+r.Count, s.failed+r.Errors, max(s.p50, r.ResponseP50)
		paused := r.Segment < len(f.Run.Segments) && f.Run.Segments[r.Segment].Settings[pausedSetting] != 0
		s.meant = s.meant || r.Threads > 0 && !paused && (r.Rate <= 0 || r.Rate >= usualUnits || r.Backlog > 0)
	}
	var usual, took []int64
	for _, s := range at {
		if s.done > 0 {
			usual, took = append(usual, s.done), append(took, s.p50)
		}
	}
	slices.Sort(usual)
	slices.Sort(took)
	if len(usual) < usualSeconds || usual[len(usual)/2] < usualUnits {
		return nil
	}
	times := slices.Sorted(maps.Keys(at))
	for i := 0; i < len(times) && len(out) < mostOutages; i++ {
		began, failed := times[i], int64(0)
		until := began
		for ; i < len(times) && times[i] == until && at[times[i]].done == 0 && at[times[i]].meant; i++ {
			failed += at[times[i]].failed
			until++
		}
		if until == began {
			continue
		}
		i-- // what ended it may begin another
		if time.Duration(until-began)*time.Second < 2*time.Duration(took[len(took)/2]) {
			continue // calls take as long as that
		}
		o := rundir.Coincidence{At: float64(began), Until: float64(until), Outage: true}
		long := fmt.Sprintf("%d s", until-began)
		for _, q := range f.Run.Silences { // which say to hundredths how long it was
			if q.From <= time.Duration(began)*time.Second && q.To >= time.Duration(until)*time.Second {
				o.At, o.Until, long = q.From.Seconds(), q.To.Seconds(), units.Duration(q.To-q.From)
			}
		}
		text := fmt.Sprintf("nothing was done from %s to %s (%s of %.0f s)", plot.Clock(o.At), plot.Clock(o.Until), long, to-from)
		if failed > 0 {
			text += ", and " + units.Plural(failed, "call") + " failed"
		}
		o.Text = text
		out = append(out, o)
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
