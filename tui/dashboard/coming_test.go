package dashboard

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// What the timetable will change stands at its place in the lane until it comes, and what is next is
// said with the time until then.
func TestWhatTheTimetableWillChangeIsShown(t *testing.T) {
	pause := "fault-pause"
	planned := []measure.Change{
		{At: 10 * time.Second, Name: "threads", To: 32}, {At: 10 * time.Second, Name: "payload", To: 2048},
		{At: 20 * time.Second, Name: "rate", To: 1000, Ramp: 1}, {At: 30 * time.Second, Name: "rate", To: 20000, Ramp: 1},
		{At: 40 * time.Second, Name: pause, To: 1}, {At: 50 * time.Second, Name: pause},
		{At: 70 * time.Second, Name: "threads", To: 64},
	}
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}} {
		a, d, run := live(t, time.Second, size[0], size[1])
		run.Known.Planned = planned
		d.now.info = run.Known
		for range 2 * time.Second / (100 * time.Millisecond) {
			run.Tick(100 * time.Millisecond)
			a.Send(t, a.Frame())
		}
		got := a.Picture(t)
		assert.Contains(t, got, "▿", size)
		assert.Contains(t, got, map[int]string{60: "next change in 7 s", 80: "next: threads 32 +1 in 7 s", 120: "next: threads 32, payload 2 KiB in 7 s"}[size[0]])
		if size[0] > 60 {
			assert.Contains(t, got, "▿rate", "shortened where there is no room")
			assert.Contains(t, got, "▒▒", "the time of a fault")
		}
		d.now.snap.At = 12 * time.Second
		assert.Equal(t, "next: rate "+widget.Whole(1000)+" → "+widget.Whole(20000)+" in 8 s", d.now.nexts()[0])
		d.now.snap.At = 25 * time.Second
		assert.Equal(t, "next: ramp ends at rate "+widget.Whole(20000)+" in 5 s", d.now.nexts()[0])
		d.now.snap.At = 45 * time.Second
		assert.Equal(t, "next: pause ends in 5 s", d.now.nexts()[0])
		d.now.snap.Changes = []measure.Change{{At: 40 * time.Second, Name: pause, To: 1}}
		assert.Equal(t, []string{"fault pause, 5 s left", "fault pause, 5 s left", "pause, 5 s left", "fault pause"}, d.now.nexts(), "its end is said with it")
		d.now.info.Planned = slices.Insert(slices.Clone(planned), 5, measure.Change{At: 47 * time.Second, Name: "threads", To: 9})
		assert.Equal(t, "fault pause, 5 s left · next: threads 9 in 2 s", d.now.nexts()[0])
		d.now.info.Planned, d.now.snap.Changes = planned, nil
		d.now.snap.At = 55 * time.Second
		assert.Empty(t, d.now.nexts(), "the run ends before")
		d.now.progress.Stage = screen.Verifying
		d.now.snap.At = 0
		assert.Empty(t, d.now.nexts(), "nothing changes any more")
		assert.Empty(t, d.charts.moments(), "what has not come cannot be read")
	}
}

// How calls come stands beside the rate once it was changed or asked for, and at a moment that is read it
// is how they came then.
func TestHowCallsComeStandsBesideTheRate(t *testing.T) {
	a, d, run := live(t, 5*time.Second, 120, 40)
	a.Send(t, "{", "{", a.Frame())
	line := func() string {
		text, _ := d.knobs.line(a.Env)
		return ansi.Strip(text)
	}
	assert.NotContains(t, line(), "even")
	for range 20 {
		run.Tick(100 * time.Millisecond)
	}
	a.Send(t, "A", "down", "enter", a.Frame())
	assert.Regexp(t, `rate ◂ \S+ even ▸`, strings.ReplaceAll(line(), "\u2009", ""))
	a.Send(t, "A", "down", "enter", a.Frame())
	assert.Contains(t, line(), " bursts")
	for range 20 {
		run.Tick(100 * time.Millisecond)
	}
	a.Send(t, a.Frame(), "left")
	assert.Contains(t, line(), " bursts")
	a.Send(t, "shift+left")
	assert.NotContains(t, line(), "bursts")
}

// A payload that was as planned says from what it was doubled.
func TestATurnFromAsPlannedSaysWhatThatWas(t *testing.T) {
	a, d, run := live(t, 5*time.Second, 120, 40)
	run.Change("test", screen.All, func(s workload.Settings) workload.Settings { s.Payload = 0; return s })
	k := workload.Payload()
	k.Zero, k.Usual = workload.AsPlanned, 620
	d.knobs.turn(a.Env, k, true, false)
	assert.Equal(t, 1240, run.Settings(0).Payload)
	assert.Equal(t, "payload as planned was 620 B on average; now each value has 1.21 KiB", d.says.toast.text)
	d.knobs.turn(a.Env, k, true, false)
	assert.Empty(t, d.says.toast.text)
}

// The legend says which line is the earlier run's, and what that had that this one has not now.
func TestTheLegendSaysHowTheEarlierRunDiffers(t *testing.T) {
	a, d, run := live(t, 15*time.Second, 120, 40)
	set := run.Snapshot().Segments[0].Settings
	was := maps.Clone(set)
	d.against.earlier = &Run{ID: "260503-114000-ingestion-redis", run: &rundir.Run{Store: rundir.Store{Name: d.now.info.Store}, Segments: []rundir.Segment{{Settings: was}}}}
	assert.Equal(t, []string{"– 260503-114000-ingestion-redis", "– earlier run"}, d.against.keys(), "nothing differs")
	was["threads"]++
	differ := fmt.Sprintf("threads %g (here %g)", was["threads"], set["threads"])
	assert.Equal(t, []string{differ}, d.against.differs())
	legend := func(w int) string {
		return ansi.Strip(d.against.legend(a.Env.Styles, "■ put", "Throughput", "since the start", w))
	}
	assert.Equal(t, "■ put  – 260503-114000-ingestion-redis: "+differ, legend(120))
	assert.Equal(t, "■ put  – "+differ, legend(80))
	assert.Equal(t, "– "+differ, legend(62))
	assert.Equal(t, "■ put", legend(40))
	d.sel.op = 0
	assert.Empty(t, d.against.keys(), "it is not drawn of one operation")
}
