package request

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
)

func TestARequestGoesOverAnother(t *testing.T) {
	value := func(name, text string, origin workload.Origin) workload.Value {
		return workload.Value{Name: name, Text: text, Origin: origin}
	}
	below := Request{
		Profile: "tx", Target: "redis://a", Preset: "small", Files: []string{"a"}, Thresholds: []string{"p99<1ms"}, Out: "there",
		Values: workload.Values{
			"threads": value("threads", "1", workload.OriginPlan), "rate": value("rate", "5", workload.OriginPlan), "broker": value("broker", "b", workload.OriginPlan),
		},
		From:    map[string]string{"target": "plan p.yaml:1", "out": "plan p.yaml:2", "file": "plan p.yaml:3"},
		Spelled: map[string]string{"target": "redis://${A}", "broker": "${B}"},
	}
	got := Request{
		Target: "redis://b", Files: []string{"b"}, Values: workload.Values{"threads": value("threads", "2", workload.OriginFlag), "broker": value("broker", "c", workload.OriginFlag)},
		From: map[string]string{"profile": "environment PERFBENCH_PROFILE"},
	}.Over(below)
	assert.Equal(t, []string{"tx", "redis://b", "small", "there"}, []string{got.Profile, got.Target, got.Preset, got.Out})
	assert.Equal(t, []string{"b"}, got.Files)
	assert.Equal(t, []string{"p99<1ms"}, got.Thresholds)
	assert.Equal(t, []string{"2", "5"}, []string{got.Values["threads"].Text, got.Values["rate"].Text})
	assert.Equal(t, map[string]string{"profile": "environment PERFBENCH_PROFILE", "out": "plan p.yaml:2"}, got.From)
	assert.Empty(t, got.Spelled, "what took the place of a text was not spelled so")
	assert.Equal(t, "1", below.Values["threads"].Text, "what was given is not written to")
	assert.Contains(t, below.From, "target")
}

func TestARequestTakesOverWhatKnobsStandAt(t *testing.T) {
	threads := workload.Threads()
	threads.Param = "threadCount"
	plan := &workload.Plan{Knobs: []workload.Knob{threads, workload.Rate(""), workload.Payload(), workload.Batch()}}
	start := workload.Settings{Threads: 4, Payload: 100, Batch: 5}
	plan.Phases = []workload.Phase{{Tracks: []workload.Track{{Name: "a", Start: start}, {Name: "b", Start: start}}}}
	asked := Request{Profile: "tx", Values: workload.Values{}}
	for _, name := range []string{"a.threadCount", "b.threads", "threads", "a.payload", "payload", "batch", "mapNames"} {
		asked.Values.Set(workload.Value{Name: name, Text: "x", Origin: workload.OriginFlag})
	}
	got := asked.At(plan, func(track int) workload.Settings {
		now := start
		now.Payload = 200
		now.Threads += track
		return now
	})
	texts := map[string]string{}
	for _, v := range got.Values {
		texts[v.Name] = v.Text
	}
	assert.Equal(t, map[string]string{"a.threads": "4", "b.threads": "5", "payload": "200", "batch": "x", "mapNames": "x"}, texts)
	assert.Len(t, asked.Values, 7, "what was given is not written to")

	plan.Phases[0].Tracks = plan.Phases[0].Tracks[:1]
	got = Request{}.At(plan, func(int) workload.Settings { return workload.Settings{Threads: 9, Payload: 100, Batch: 5} })
	assert.Equal(t, []string{"threads"}, got.Values.Names())
	assert.Equal(t, "9", got.Values["threads"].Text)
	asked.Values = workload.Values{}
	asked.Values.Set(workload.Value{Name: "arrivals", Text: "bursts=3x,2s,8s", Origin: workload.OriginFlag})
	for c, want := range map[workload.Coming]string{workload.ComeEvenly: "even", workload.ComeInBursts: "bursts=3x,2s,8s", workload.ComeIndependently: "poisson"} {
		got = asked.At(plan, func(int) workload.Settings { return workload.Settings{Threads: 4, Payload: 100, Batch: 5, Coming: c} })
		assert.Equal(t, want, got.Values["arrivals"].Text)
	}
}
