package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// dashApp returns an application on the dashboard of a fake run that has gone on
// for 5 s of warm-up and as long as said, in a terminal of w×h.
func dashApp(t testing.TB, o Options, tracks int, gone time.Duration, w, h int) (*testApp, *tuitest.Run) {
	t.Helper()
	run := tuitest.NewRun(tracks)
	return dashAppOf(t, o, run, gone, w, h), run
}

// dashAppOf shows a run that has been measuring for so long.
func dashAppOf(t testing.TB, o Options, run *tuitest.Run, gone time.Duration, w, h int) *testApp {
	t.Helper()
	a := newTestApp(t, &tuitest.Bench{Next: run}, o)
	send(t, a, tea.WindowSizeMsg{Width: w, Height: h}, screen.OpenMsg{To: screen.Start{Request: request.Request{Profile: "ingestion", Target: "redis://127.0.0.1"}}})
	require.IsType(t, &dashboard.Dashboard{}, a.stack.top())
	pass(t, a, run, tuitest.Warmup+gone)
	return a
}

// pass lets time go by, in frames of a tenth of a second.
func pass(t testing.TB, a *testApp, run *tuitest.Run, d time.Duration) {
	t.Helper()
	for ; d > 0; d -= 100 * time.Millisecond {
		run.Tick(100 * time.Millisecond)
		send(t, a, frame(a))
		if a.env.H >= 40 && d%(500*time.Millisecond) == 0 { // smaller ones show less of the same; package dashboard looks at each frame
			agrees(t, picture(t, a))
		}
	}
}

var (
	ratesOf = regexp.MustCompile(`(now|mean|peak) +([0-9.]+[kM]?) +│`)
	timesOf = regexp.MustCompile(`(p50|p90|p99|p99\.9|max) +([0-9.]+) (ns|µs|ms|s)(?: +│| {2,3}p| {2,3}max| +─)`)
)

// agrees checks that what the charts of a frame say can all be so: nothing is above the peak,
// and percentiles are in their order.
func agrees(t testing.TB, frame string) {
	t.Helper()
	charts, _, _ := strings.Cut(frame, "─ Operations ")
	found := func(pattern *regexp.Regexp, words ...string) (all [][]string) { // few lines have any
		for line := range strings.Lines(charts) {
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
				all = append(all, pattern.FindAllStringSubmatch(line, -1)...)
			}
		}
		return all
	}
	rates := map[string]float64{}
	for _, m := range found(ratesOf, "now ", "mean ", "peak ") {
		v, err := units.ParseNumber(m[2])
		require.NoError(t, err)
		rates[m[1]] = v
	}
	if peak, ok := rates["peak"]; ok {
		require.LessOrEqual(t, max(rates["mean"], rates["now"]), peak, frame)
	}
	last := time.Duration(0)
	for _, m := range found(timesOf, "p50 ", "p90 ", "p99", "max ") {
		v, err := time.ParseDuration(m[2] + m[3])
		require.NoError(t, err)
		require.GreaterOrEqual(t, v, last, "%s: %s", m[1], frame)
		last = v
	}
}

// changed is a run in which threads went from 16 to 32 at 31 s.
func changed(t testing.TB, o Options, tracks, w, h int) (*testApp, *tuitest.Run) {
	t.Helper()
	a, run := dashApp(t, o, tracks, 31*time.Second, w, h)
	for range 16 {
		send(t, a, "+")
	}
	pass(t, a, run, 16*time.Second)
	return a, run
}

var goldenSizes = []struct {
	name string
	w, h int
}{{"120x40", 120, 40}, {"96x25", 96, 25}, {"80x24", 80, 24}, {"60x16", 60, 16}}

func TestDashboardPictures(t *testing.T) {
	for _, size := range goldenSizes {
		t.Run(size.name, func(t *testing.T) {
			a, _ := changed(t, Options{Theme: widget.ThemeDark}, 1, size.w, size.h)
			tuitest.Golden(t, picture(t, a))
		})
		t.Run(size.name+" tuning", func(t *testing.T) {
			a, _ := changed(t, Options{Theme: widget.ThemeDark}, 1, size.w, size.h)
			send(t, a, "t")
			tuitest.Golden(t, picture(t, a))
		})
		t.Run(size.name+" store gone", func(t *testing.T) {
			a, run := changed(t, Options{Theme: widget.ThemeDark}, 1, size.w, size.h)
			run.Gone = true
			pass(t, a, run, 7*time.Second)
			tuitest.Golden(t, picture(t, a))
		})
		t.Run(size.name+" help", func(t *testing.T) {
			a, _ := changed(t, Options{Theme: widget.ThemeDark}, 1, size.w, size.h)
			send(t, a, "?")
			tuitest.Golden(t, picture(t, a))
		})
		t.Run(size.name+" quit", func(t *testing.T) {
			a, _ := changed(t, Options{Theme: widget.ThemeDark}, 1, size.w, size.h)
			send(t, a, "q")
			tuitest.Golden(t, picture(t, a))
		})
		t.Run(size.name+" ascii", func(t *testing.T) {
			a, _ := changed(t, Options{Theme: widget.ThemeDark, ASCII: true}, 1, size.w, size.h)
			tuitest.Golden(t, picture(t, a))
		})
	}
}

// A timetable ramps the rate up and then holds it: the ramp is one segment, of which the
// figures are while it lasts.
func TestPicturesOfARamp(t *testing.T) {
	for _, size := range goldenSizes {
		if size.w == 96 {
			continue
		}
		a, run := dashApp(t, Options{Theme: widget.ThemeDark}, 1, 20*time.Second, size.w, size.h)
		climb := func(from, to int) {
			for step := from; step <= to; step++ {
				run.Ramp(1, step == 60, func(s workload.Settings) workload.Settings {
					s.Rate = 450 * float64(step)
					return s
				})
				pass(t, a, run, 250*time.Millisecond)
			}
		}
		climb(1, 46)
		t.Run(size.name+" climbing", func(t *testing.T) { tuitest.Golden(t, picture(t, a)) })
		climb(47, 60)
		pass(t, a, run, 6*time.Second)
		t.Run(size.name+" holding", func(t *testing.T) { tuitest.Golden(t, picture(t, a)) })
	}
}

func TestLowerPanelPictures(t *testing.T) {
	for n, name := range []string{"operations", "tracks", "errors", "changes"} {
		t.Run(name, func(t *testing.T) {
			a, run := changed(t, Options{Theme: widget.ThemeDark}, 3, 120, 40)
			run.Gone = true
			pass(t, a, run, 3*time.Second)
			run.Gone = false
			pass(t, a, run, 2*time.Second)
			for range n {
				send(t, a, "tab")
			}
			tuitest.Golden(t, picture(t, a))
		})
	}
}

// sampled is a run of which both sides are known, and that perfbench may hold back.
func sampled(run *tuitest.Run) {
	for _, s := range []struct {
		source, name string
		value        float64
	}{
		{rundir.OfClient, "cpu_cores", 1.84}, {rundir.OfProcess, "cpu_cores", 0.71}, {rundir.OfMachine, "cpu_cores", 2.8},
		{rundir.OfClient, "memory_bytes", 92 << 20}, {rundir.OfStore, "memory_bytes", 410 << 20}, {rundir.OfClient, "clients", 32}, {rundir.OfStore, "clients", 33},
		{rundir.OfClient, "pool_waits_per_s", 120}, {rundir.OfStore, "commands_per_s", 36700}, {rundir.OfStore, "net_in_bytes_per_s", 38 << 20}, {rundir.OfStore, "resident_bytes", 512 << 20},
	} {
		run.Sampled = append(run.Sampled, rundir.Sample{Source: s.source, Name: s.name, Value: s.value})
	}
	run.Judged = rundir.Verdict{State: verdict.Degraded, Causes: []string{"changes", "cpu"}, Reasons: []string{"1 setting changed mid-run", "perfbench itself used 1.8 of the 2 processors of this machine (92 %) and may have been the bottleneck"}}
}

func TestPicturesOfLatencyAndOfBothSides(t *testing.T) {
	for _, size := range goldenSizes {
		for n, name := range []string{"store and perfbench", "heat map", "percentiles"} {
			t.Run(size.name+" "+name, func(t *testing.T) {
				a, run := changed(t, Options{Theme: widget.ThemeDark}, 1, size.w, size.h)
				sampled(run)
				for range 5 + n {
					send(t, a, "tab")
				}
				if size.w < 80 {
					send(t, a, "tab") // the chart of latency is one of them
				}
				pass(t, a, run, 200*time.Millisecond)
				tuitest.Golden(t, picture(t, a))
			})
		}
	}
}

// That calls may share their connections is told wherever these are: in the panel, and on the wall of a very large screen.
func TestSharedConnectionsAreToldWhereverTheyAre(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		for _, shared := range []bool{false, true} {
			a, run := changed(t, Options{}, 1, size[0], size[1])
			run.Known.Shared = shared
			sampled(run)
			for range 5 {
				if size[0] < 200 {
					send(t, a, "tab")
				}
			}
			pass(t, a, run, 200*time.Millisecond)
			assert.Equal(t, shared, strings.Contains(picture(t, a), "· calls may share them (pipelining)"), "%v %v", size, shared)
		}
	}
}

// A very large screen has beside the charts what has something to say: the two sides, verdict,
// errors, heat map, and as much more as there is room for. What is pending for a second is a
// line.
func TestPicturesOfAWall(t *testing.T) {
	for _, size := range [][2]int{{170, 45}, {200, 60}, {240, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			a, run := changed(t, Options{Theme: widget.ThemeDark}, 3, size[0], size[1])
			sampled(run)
			for _, name := range []string{"blocked_clients", "evicted_keys_per_s", "expired_keys_per_s", "forks_per_s", "rejected_connections_per_s", "rewriting_aof", "slow_commands_per_s"} {
				run.Sampled = append(run.Sampled, rundir.Sample{Source: rundir.OfStore, Name: name})
			}
			run.Gone = true
			pass(t, a, run, time.Second)
			run.Gone = false
			pass(t, a, run, 2*time.Second)
			run.Mu.Lock()
			run.Hang = 100 * time.Millisecond
			run.Mu.Unlock()
			pass(t, a, run, 4*time.Second)
			tuitest.Golden(t, picture(t, a))
		})
	}
}

// An undo is one change, in however many tracks.
func TestAnUndoIsOneChange(t *testing.T) {
	a, run := dashApp(t, Options{}, 3, 10*time.Second, 200, 60)
	send(t, a, "]", "]")
	pass(t, a, run, 4*time.Second)
	assert.Contains(t, picture(t, a), "changes (1)")
	send(t, a, "u")
	pass(t, a, run, 4*time.Second)
	assert.Len(t, run.Snapshot().Changes, 3, "the run has it as one, too")
	assert.Contains(t, picture(t, a), "changes (2)")
	assert.Contains(t, picture(t, a), "undo: payload 4 KiB → 1 KiB")
	assert.Regexp(t, `00:14 +undo: payload 4 KiB → 1 KiB  `, picture(t, a))
	send(t, a, "+")
	pass(t, a, run, 4*time.Second)
	send(t, a, "t", "r", "esc")
	assert.Contains(t, picture(t, a), "changes (4)")
}

func TestARunIsHeldAgainstAnEarlierOne(t *testing.T) {
	b := tuitest.NewDemo()
	a := newTestApp(t, b, Options{Theme: widget.ThemeDark})
	send(t, a, tea.WindowSizeMsg{Width: 120, Height: 40}, screen.OpenMsg{To: screen.Start{Request: request.Request{Profile: "ingestion", Target: "redis://127.0.0.1"}}})
	pass(t, a, b.Next, tuitest.Warmup+21*time.Second)
	send(t, a, "b")
	list := picture(t, a)
	assert.Contains(t, list, "Compare with an earlier run")
	assert.Less(t, strings.Index(list, "on redis"), strings.Index(list, "on mysql"), "the same store comes first")
	send(t, a, "down", "enter")
	assert.Contains(t, picture(t, a), "compared with "+b.Past[1].ID)
	pass(t, a, b.Next, 6*time.Second)
	tuitest.Golden(t, picture(t, a))
	send(t, a, "c")
	assert.NotContains(t, picture(t, a), "vs p99", "b drops it")
	send(t, a, "b", "esc")
	assert.NotContains(t, picture(t, a), "Compare with an earlier run")
	assert.Contains(t, picture(t, a), "Latency")
}

func TestTwentyPressesAreTwentyThreadsAndTwentyChanges(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	before, calls := run.Settings(screen.All).Threads, run.Calls
	for range 20 {
		send(t, a, "+")
	}
	assert.Equal(t, before+20, run.Settings(screen.All).Threads)
	assert.Equal(t, calls+20, run.Calls)
	assert.Len(t, run.Snapshot().Changes, 20)
	assert.Contains(t, picture(t, a), "threads 32 → 52")
	send(t, a, "u")
	assert.Equal(t, workload.Settings{Threads: 16, Payload: 1 << 10, Batch: 100}, run.Settings(0), "undo takes back what was pressed together")
}

// A has calls come in another way, and only at a rate.
func TestHowCallsComeIsAKey(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	send(t, a, "A")
	assert.Contains(t, picture(t, a), "without a rate, calls come when the last ones are answered")
	assert.Zero(t, run.Settings(screen.All).Coming)
	a, run = dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	run.Change("test", screen.All, func(s workload.Settings) workload.Settings {
		s.Rate, s.Coming = 1000, workload.ComeIndependently
		return s
	})
	send(t, a, "A")
	assert.Contains(t, picture(t, a), "Arrivals of the calls")
	assert.Contains(t, picture(t, a), "▸ poisson")
	send(t, a, "+")
	assert.Contains(t, picture(t, a), "enter sets it, esc leaves it", "other keys are answered")
	send(t, a, "down", "esc")
	assert.Equal(t, workload.ComeIndependently, run.Settings(screen.All).Coming, "esc leaves them")
	send(t, a, "A", "enter")
	assert.Contains(t, picture(t, a), "arrivals stay poisson")
	for _, want := range []workload.Coming{workload.ComeEvenly, workload.ComeInBursts} {
		run.Tick(time.Second)
		send(t, a, "A", "down", "enter")
		assert.Equal(t, want, run.Settings(screen.All).Coming)
	}
	assert.Regexp(t, `arrivals .*→ bursts`, picture(t, a))
	send(t, a, "u")
	assert.Equal(t, workload.ComeEvenly, run.Settings(screen.All).Coming, "undo takes it back")
}

// The verdict of a run without doubts shows what is in use, and what of it is at its limit.
func TestTheVerdictShowsWhatIsInUse(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {170, 45}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			a, run := dashApp(t, Options{}, 3, 10*time.Second, size[0], size[1])
			sampled(run)
			run.Judged = rundir.Verdict{}
			send(t, a, "tab", "tab", "tab", "tab")
			pass(t, a, run, time.Second)
			tuitest.Golden(t, picture(t, a))
		})
	}
}
