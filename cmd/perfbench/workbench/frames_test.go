package workbench

import (
	"log/slog"
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// still is a run at one moment.
type still struct {
	screen.Run
	at *measure.Snapshot
}

func (s still) Snapshot() *measure.Snapshot { return s.at }

var (
	rateBeside = regexp.MustCompile(`(now|mean|peak) +([0-9.]+[kM]?) +│`)
	timeBeside = regexp.MustCompile(`(p50|p90|p99|p99\.9|max) +([0-9.]+) (ns|µs|ms|s) +│`)
	sinceNote  = regexp.MustCompile(`figures since (\d\S*)`)
	pastNote   = regexp.MustCompile(`figures \S+ to \S+`)
)

// beside reads the figures that stand beside the charts of a frame.
func beside(t *testing.T, frame string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, m := range rateBeside.FindAllStringSubmatch(frame, -1) {
		v, err := units.ParseNumber(m[2])
		require.NoError(t, err)
		out[m[1]] = v
	}
	for _, m := range timeBeside.FindAllStringSubmatch(frame, -1) {
		v, err := time.ParseDuration(m[2] + m[3])
		require.NoError(t, err)
		out[m[1]] = float64(v)
	}
	return out
}

// charted is what the timelines that the charts draw have of a window: the rate of its last
// second, the mean of its whole seconds, and its longest time.
type charted struct{ now, mean, most float64 }

func drawn(s *measure.Snapshot, from time.Duration, last int) charted {
	end := time.Duration(last+1) * time.Second
	counts, lengths := map[time.Duration]int64{}, map[time.Duration]float64{}
	out := charted{}
	for op, line := range s.Timeline {
		for _, p := range line {
			if s.Counts(op) && p.At >= from && p.At+s.Bucket <= end && !p.Warmup {
				counts[p.At] += p.Count
				lengths[p.At] = max(lengths[p.At], p.Seconds)
				out.most = max(out.most, float64(p.ResponseMax))
			}
		}
	}
	var all, second, length, short float64
	for at, n := range counts {
		all, length = all+float64(n), length+lengths[at]
		if at >= end-time.Second {
			second, short = second+float64(n), short+lengths[at]
		}
	}
	out.now, out.mean = second/short, all/length
	return out
}

// lastSecond is the last one of which operations that count have rows.
func lastSecond(s *measure.Snapshot) int {
	last := math.MinInt
	for op, rows := range s.Recent {
		if n := len(rows); s.Counts(op) && n > 0 {
			last = max(last, rows[n-1].T)
		}
	}
	return last
}

// In every frame of a run of every profile, each figure is that of the chart it stands beside:
// the last second and, of the first window, the mean and the longest time; neither rate is above
// the peak.
func TestTheFiguresOfARunAreThoseOfItsCharts(t *testing.T) {
	tier.Full(t, "TestFiguresAndBarsAreOfOneWindow has the frames of runs that are made up")
	figuresOfCharts(t, map[string]string{"group": "shop", "event-store": "quick"})
}

func TestProofThatTheFiguresOfEveryProfileAreThoseOfItsCharts(t *testing.T) {
	tier.Proof(t, "TestTheFiguresOfARunAreThoseOfItsCharts has two profiles")
	figuresOfCharts(t, map[string]string{"ingestion": "small", "group": "shop", "tx": "small", "authz": "profiles", "event-store": "quick", "mix": ""})
}

func figuresOfCharts(t *testing.T, presets map[string]string) {
	t.Helper()
	for profile, preset := range presets {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			at := &surroundings{env: command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}.Session(), out: t.TempDir(), state: t.TempDir(), soft: t.Context(), hard: t.Context()}
			at.env.CacheDir = ""
			of, err := newBench(at).starter.Start(t.Context(), request.Request{Profile: profile, Preset: preset, Target: "memory:", Formats: []string{"json"}})
			require.NoError(t, err)
			look := time.NewTicker(50 * time.Millisecond)
			defer look.Stop()
			for of.Run.Snapshot().At <= 0 {
				<-look.C
			}
			e := screen.Env{W: 120, H: 40, Styles: widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor)}
			seen := map[string]int{}
			turned, number := false, int64(0)
			for (of.Run.Snapshot().At < 5*time.Second || seen["now"] == 0) && of.Run.Progress().Stage == screen.Measuring {
				<-look.C
				s := of.Run.Snapshot()
				if s.Number == number {
					continue
				}
				number = s.Number
				if !turned && s.At > 2500*time.Millisecond {
					turned = true
					of.Control.Change("workbench", screen.All, func(s workload.Settings) workload.Settings {
						s.Threads = max(s.Threads/2, 1)
						return s
					})
				}
				frame := ansi.Strip(dashboard.New(dashboard.Bench{}, screen.Access{Run: still{of.Run, s}}).View(e))
				figures, last, from := beside(t, frame), lastSecond(s), time.Duration(0)
				if m := sinceNote.FindStringSubmatch(frame); m != nil {
					from = s.Segments[len(s.Segments)-1].From
					require.Equal(t, widget.Clock(from), m[1])
				}
				begun := time.Duration(last) * time.Second
				if last < 0 || begun < from || pastNote.MatchString(frame) || len(s.Ran) > 0 && begun < s.Ran[len(s.Ran)-1].From {
					continue // the window has no whole second yet, or is one that is over
				}
				c := drawn(s, from, last)
				holds := func(name string, want float64) {
					if v, ok := figures[name]; ok {
						seen[name]++
						assert.InDelta(t, want, v, 0.02*want+1, "%s at %v: %s", name, s.At, frame)
					}
				}
				holds("now", c.now)
				if from == 0 && len(s.Ran) < 2 {
					holds("mean", c.mean)
					holds("max", c.most)
				}
				if v, ok := figures["peak"]; ok {
					assert.GreaterOrEqual(t, v*1.02, max(figures["now"], figures["mean"]), "at %v: %s", s.At, frame)
				}
			}
			assert.Positive(t, seen["now"])
			of.Ending.Stop()
			<-of.Run.Done()
			require.NoError(t, of.Run.Outcome().Err)
		})
	}
}
