package eventstore

import (
	"strconv"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
)

// stepsOf returns the steps of a run: the segments that began before the generators had ended,
// and the drain; nil: it has not begun. length is how long the load is to last, 0 if nobody knows.
func stepsOf(r *measure.Result, c *stage.Counts, drain *report.Drain, length int64) []report.Step {
	out := []report.Step{}
	if r == nil {
		return out
	}
	for _, load := range r.Phases {
		if load.Name != phaseLoad {
			continue
		}
		for i, g := range r.Segments {
			from, to := int64(max(g.From, load.From)), int64(min(g.To, load.To))
			switch {
			case i > 0 && g.From >= load.To: // a change that came later
			case i < stage.Steps:
				out = append(out, stepOf(g.Settings, c.Step(i), from, to))
				out[i].Latency = latencies(r, i, 0)
			default: // what came later counts in the last one
				out[len(out)-1].ToNs = to
			}
		}
	}
	for i := range out {
		s := &out[i]
		s.Name = strconv.Itoa(i + 1)
		if s.Rate == 0 {
			continue
		}
		to := s.ToNs    // what was due by the schedule was offered, whether made or not
		if length > 0 { // nothing falls due after the end, however late that is noticed
			to = max(min(to, length), s.FromNs)
		}
		s.Offered.Events = max(s.Offered.Events, int64(s.Rate*float64(to-s.FromNs)/1e9))
	}
	if drain != nil {
		s := stepOf(nil, c.Drained(), drain.FromNs, drain.ToNs)
		s.Name, s.Latency = report.DrainStep, latencies(r, 0, stage.Count)
		out = append(out, s)
	}
	return out
}

// stepOf completes what was counted in a step.
func stepOf(settings map[string]float64, s report.Step, from, to int64) report.Step {
	of := func(knob string) float64 { return settings[trackEvents+"."+knob] }
	s.FromNs, s.ToNs = from, to
	s.Batch, s.Rate, s.Generators, s.Payload = int(of("batch")), of("rate"), int(of("threads")), int(of("payload"))
	return s
}

// latencies are those of the stages in a segment; first is the number of the first stage.
func latencies(r *measure.Result, segment, first int) []report.StageLatency {
	out := []report.StageLatency{}
	if segment >= len(r.Stages) {
		return out
	}
	for i, s := range r.Stages[segment][first : first+stage.Count] {
		if s.Count > 0 {
			out = append(out, report.StageLatency{
				Stage: stage.Names[i], Count: s.Count, Mean: int64(s.Mean), P50: s.P50, P95: s.P95, P99: s.P99, P999: s.P999, Max: s.Max,
			})
		}
	}
	return out
}
