package picker

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestWhatIsNoValueHasRowsToo(t *testing.T) {
	a, p := pick(t, tuitest.NewDemo(), 120, 40)
	for _, typed := range [][2]string{{"threshold", "p99<10ms; errors<1%"}, {"tag", "build=7;who=me"}, {"format", "json,html"}, {"out", "elsewhere"}} {
		goTo(t, a, p, typed[0])
		a.Send(t, "enter", "ctrl+u")
		a.Type(t, typed[1])
		a.Send(t, "enter")
	}
	a.Send(t, "S")
	require.Len(t, a.Started(), 1)
	got := a.Started()[0]
	assert.Equal(t, []string{"p99<10ms", "errors<1%"}, got.Thresholds)
	assert.Equal(t, []string{"build=7", "who=me"}, got.Tags)
	assert.Equal(t, []string{"json", "html"}, got.Formats)
	assert.Equal(t, "elsewhere", got.Out)
	goTo(t, a, p, "threshold")
	a.Send(t, "delete")
	assert.Empty(t, p.drafts.request().Thresholds)
}

func TestWhatWasSetLastIsThereNextTime(t *testing.T) {
	b := tuitest.NewDemo()
	a, p := pick(t, b, 120, 40)
	goTo(t, a, p, "threads")
	a.Send(t, "right", "S")
	require.Len(t, a.Started(), 1)
	b.Kept = map[string]request.Request{"ingestion": *a.Started()[0].Form} // as what has begun

	_, next := pick(t, b, 120, 40)
	assert.Equal(t, "17", next.drafts.request().Values["threads"].Text)
	_, flags := pickWith(t, b, request.Request{Preset: "large"}, 120, 40)
	assert.Empty(t, flags.drafts.request().Values, "flags say what is to be run")

	b.Latest = b.Listed[1].Name
	_, newest := pickWith(t, b, request.Request{}, 120, 40)
	assert.Equal(t, b.Latest, newest.drafts.request().Profile)
	_, flags = pickWith(t, b, request.Request{Preset: "large"}, 120, 40)
	assert.Equal(t, b.Listed[0].Name, flags.drafts.request().Profile)
	b.Latest = "gone"
	_, newest = pickWith(t, b, request.Request{}, 120, 40)
	assert.Equal(t, b.Listed[0].Name, newest.drafts.request().Profile)

	b.Kept, b.LastErr = nil, errors.New("the last settings are left out: last.json is odd")
	damaged, fresh := pick(t, b, 120, 40)
	assert.Empty(t, fresh.drafts.request().Values)
	assert.Contains(t, damaged.Picture(t), "left out: last.json is odd")
}

// What is set for most runs is seen without scrolling, and nothing stands there twice.
func TestEssentialsComeFirst(t *testing.T) {
	b := tuitest.NewDemo()
	b.Previewed = func(request.Request) (*request.Preview, error) {
		plan := tuitest.NewPlan(2)
		plan.Knobs[0].Param = "threadCount"
		return &request.Preview{
			Plan:       plan,
			Run:        []request.Line{{Name: "seed", Text: "1"}, {Name: "mode", Text: "put"}, {Name: "duration", Text: "forever"}, {Name: "count"}, {Name: "warmup", Text: "0s"}},
			Settings:   []request.Line{{Name: "threads", Text: "2"}, {Name: "a.threads", Text: "1"}, {Name: "b.threads", Text: "1"}, {Name: "rate", Text: "0"}, {Name: "payload", Text: "1"}, {Name: "batch", Text: "1"}},
			Parameters: []request.Line{{Name: "a.threadCount", Text: "1"}, {Name: "mapNames", Text: "a,b"}},
		}, nil
	}
	_, p := pick(t, b, 120, 40)
	var names []string
	for _, r := range p.form.rows {
		names = append(names, r.name)
	}
	rest := slices.Index(names, "at")
	assert.ElementsMatch(t, []string{"preset", "file", "target", "password", "mode", "duration", "count", "warmup", "threads", "rate", "payload", "batch"}, names[:rest])
	assert.Contains(t, names[rest:], "a.threads")
	assert.Contains(t, names[rest:], "mapNames")
	assert.NotContains(t, names, "a.threadCount", "a.threads is the same")
	assert.Equal(t, workload.Threads().Name, names[8])
}
