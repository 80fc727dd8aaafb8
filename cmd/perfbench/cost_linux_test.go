package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// costRun is how long a round is measured, after costWarmup.
const (
	costRun    = 3 * time.Second
	costWarmup = time.Second
)

// middle is the median, of an even number the mean of the two in the middle.
func middle(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// midmean is the mean of the middle half: outliers count for nothing, as with the
// median, and what is left scatters less than the median does.
func midmean(v []float64) (sum float64) {
	v = slices.Sorted(slices.Values(v))
	v = v[len(v)/4 : len(v)-len(v)/4]
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// cpuOf is the processor time that a process has used, user and system, to the
// hundredth of a second.
func cpuOf(b *testing.B, pid int) time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	ticks := time.Duration(0)
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += time.Duration(n)
	}
	return ticks * (10 * time.Millisecond) //nolint:durationcheck // a number of ticks, a hundred a second
}

// share is the share of one core that processes use from the end of the first second of
// their run on, for as long as wanted.
func share(b *testing.B, out string, window time.Duration, pids ...int) float64 {
	if err := measured(out, 1); err != nil {
		b.Fatal(err)
	}
	used := func() (sum time.Duration) {
		for _, pid := range pids {
			sum += cpuOf(b, pid)
		}
		return sum
	}
	began, before := time.Now(), used()
	time.Sleep(window)
	return float64(used()-before) / float64(time.Since(began))
}

// side is one of two ways to carry out a run that are compared: it returns the throughput
// of all operations together and the share of one core that its processes used.
type side func(b *testing.B, args ...string) (throughput, core float64)

// ofCost makes a command of a run, in a folder of its own.
func ofCost(b *testing.B, command ...string) func(args ...string) *exec.Cmd {
	dir := b.TempDir()
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command(binary(b), append(command, append([]string{
			"--profile", "ingestion", "--preset", "small", "--duration", costRun.String(), "--warmup", costWarmup.String(),
		}, args...)...)...)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8"}
		return cmd
	}
}

// costWindow is what of a run is looked at for its processors.
const costWindow = costRun + costWarmup - 1500*time.Millisecond

// byItself runs the command alone.
func byItself(b *testing.B, args ...string) (throughput, core float64) {
	b.Helper()
	cmd := ofCost(b, "run", "--quiet")(args...)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	out := filepath.Join(cmd.Dir, "results")
	core = share(b, out, costWindow, cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return throughputIn(b, out), core
}

// onScreen runs in the workbench.
func onScreen(b *testing.B, args ...string) (throughput, core float64) {
	b.Helper()
	cmd := ofCost(b, "tui")(args...)
	out := filepath.Join(cmd.Dir, "results")
	t := inBareTerminal(b, cmd, 120, 40)
	t.hears("choose a profile")
	t.types("S")
	t.deafen(true)
	core = share(b, out, costWindow, cmd.Process.Pid)
	t.deafen(false)
	t.hears("perfbench · results") // the title of the window
	t.types("q")
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return throughputIn(b, out), core
}

// throughputIn adds up the throughput of the operations of the only run in a folder.
func throughputIn(b *testing.B, out string) (sum float64) {
	folder, err := rundir.Find(out, "latest")
	if err != nil {
		b.Fatal(err)
	}
	f, err := rundir.Load(folder)
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range f.Run.Operations {
		if o.Throughput != nil {
			sum += *o.Throughput
		}
	}
	return sum
}

// inTurn runs the command alone and in another way, pair by pair, the first of a pair
// being the second of the next: other, alone, alone, other. What drifts slowly
// (a warmer processor, a busier neighbour) so falls on both sides alike. It reports
// the medians of the throughputs; the mean of the middle half of the ratios, each of
// a pair close together in time, and the quartiles between which that half lies; and
// what the other way adds in percent of one core: the median.
func inTurn(b *testing.B, pairs int, name string, other side, args ...string) {
	var with, without, ratio, added []float64
	byItself(b, args...) // fills the store: from here on all rounds write over what is there
	for i := range pairs {
		var rate, core [2]float64
		for j := range 2 {
			n := (i + j) % 2
			rate[n], core[n] = []side{other, byItself}[n](b, args...)
		}
		b.Logf("%s %.0f/s %.2f cores, headless %.0f/s %.2f cores: ratio %.3f", name, rate[0], core[0], rate[1], core[1], rate[0]/rate[1])
		with, without = append(with, rate[0]), append(without, rate[1])
		ratio, added = append(ratio, rate[0]/rate[1]), append(added, 100*(core[0]-core[1]))
	}
	slices.Sort(ratio)
	b.ReportMetric(0, "ns/op") // has no meaning here
	b.ReportMetric(middle(with), name+"/s")
	b.ReportMetric(middle(without), "headless/s")
	b.ReportMetric(midmean(ratio), "ratio")
	b.ReportMetric(ratio[len(ratio)/4], "ratio-q1")
	b.ReportMetric(ratio[len(ratio)*3/4], "ratio-q3")
	b.ReportMetric(middle(added), "%core")
}

// BenchmarkWorkbench measures the workbench against a headless run of the same
// settings, both as the built program, one on a terminal that drops what it gets.
// It takes under three minutes on a machine of two cores that does nothing else.
// The ratio on a real Redis is to be 0.97 or more. On null: at 200,000 operations a
// second the screen is to add no more than 5 % of one core.
func BenchmarkWorkbench(b *testing.B) {
	b.Run("redis", func(b *testing.B) {
		inTurn(b, 12, "workbench", onScreen, "--target", labtest.Redis(b).URL(), "--threads", "16")
	})
	b.Run("null/rate=200000", func(b *testing.B) {
		inTurn(b, 4, "workbench", onScreen, "--target", "null:", "--rate", "200000", "--set", "testCase=put")
	})
}

// BenchmarkIdle is what the workbench takes of a core, in percent, while nothing happens on
// its screen: the picker, and a run that is paused. It is to be below 2.
func BenchmarkIdle(b *testing.B) {
	const window = 5 * time.Second
	for _, screen := range []string{"picker", "paused"} {
		b.Run(screen, func(b *testing.B) {
			t := workbenchOn(b, "memory:", "--rate", "1000")
			if screen == "paused" {
				t.types("S")
				t.hears("Operations")
				t.types(" ")
				t.hears("paused")
			}
			t.deafen(true)
			time.Sleep(time.Second) // what was begun before is over
			began, before := time.Now(), cpuOf(b, t.cmd.Process.Pid)
			time.Sleep(window)
			b.ReportMetric(0, "ns/op") // has no meaning here
			b.ReportMetric(100*float64(cpuOf(b, t.cmd.Process.Pid)-before)/float64(time.Since(began)), "%core")
		})
	}
}

// BenchmarkKeys is how long the workbench takes to answer a key, from the byte that goes
// into its terminal to what comes out, while it starts 300,000 operations a second. It is
// to be below 50 ms.
func BenchmarkKeys(b *testing.B) {
	const presses = 40
	t := workbenchOn(b, "null:", "--rate", "300000", "--set", "testCase=put")
	t.types("S")
	t.hears("Operations")
	time.Sleep(2 * time.Second) // the rate is reached
	var took []float64
	for range presses {
		took = append(took, float64(t.answers("?", "double payload"))/float64(time.Millisecond)) // the help
		t.types("?")
		time.Sleep(100 * time.Millisecond) // it has closed
	}
	slices.Sort(took)
	b.ReportMetric(0, "ns/op") // has no meaning here
	b.ReportMetric(middle(took), "ms-p50")
	b.ReportMetric(took[len(took)*9/10], "ms-p90")
	b.ReportMetric(took[len(took)-1], "ms-max")
}

// workbenchOn is the workbench, which has come as far as the picker.
func workbenchOn(b *testing.B, target string, args ...string) *bareTerminal {
	b.Helper()
	dir := b.TempDir()
	cmd := exec.Command(binary(b), append([]string{"tui", "--profile", "ingestion", "--preset", "small", "--target", target}, args...)...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8"}
	t := inBareTerminal(b, cmd, 120, 40)
	t.hears("choose a profile")
	b.Cleanup(func() {
		_ = cmd.Process.Kill() // there is no report to wait for
		_ = cmd.Wait()
	})
	return t
}
