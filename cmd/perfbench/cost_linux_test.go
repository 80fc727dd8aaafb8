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

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/rundir"
)

// What the workbench costs is measured on the built program, in a real terminal
// against none, in turn within one benchmark.
const (
	costRounds = 5
	costRun    = 4 * time.Second
)

func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
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

// share is the share of one core that a process uses from its second measured
// second on, for as long as wanted.
func share(b *testing.B, out string, pid int, window time.Duration) float64 {
	if err := measured(out, 4); err != nil {
		b.Fatal(err)
	}
	began, before := time.Now(), cpuOf(b, pid)
	time.Sleep(window)
	return float64(cpuOf(b, pid)-before) / float64(time.Since(began))
}

// costOf runs once, with the workbench or without, and returns the throughput of
// all operations together and the share of one core that the process used.
func costOf(b *testing.B, workbench bool, args ...string) (throughput, core float64) {
	args = append([]string{"--profile", "ingestion", "--duration", costRun.String()}, args...)
	window := costRun - 2500*time.Millisecond
	dir := b.TempDir()
	if workbench {
		s := inTerminal(b, binary(b), 120, 40, append([]string{"tui"}, args...)...)
		dir = s.dir
		s.shows("choose a profile")
		s.press("S")
		s.shows("Throughput")
		pid, err := s.pid()
		if err != nil {
			b.Fatal(err)
		}
		core = share(b, filepath.Join(dir, "results"), pid, window)
		s.shows("Results")
		s.press("q")
		s.shows("exit code 0")
	} else {
		cmd := exec.Command(binary(b), append([]string{"run", "--quiet"}, args...)...)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		core = share(b, filepath.Join(dir, "results"), cmd.Process.Pid, window)
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	folder, err := rundir.Find(filepath.Join(dir, "results"), "latest")
	if err != nil {
		b.Fatal(err)
	}
	f, err := rundir.Load(folder)
	if err != nil {
		b.Fatal(err)
	}
	for _, o := range f.Run.Operations {
		if o.Throughput != nil {
			throughput += *o.Throughput
		}
	}
	return throughput, core
}

// inTurn runs with the workbench and without, as often as costRounds says, and
// reports the medians: of the throughputs, their ratio, and of what the screen
// adds in percent of one core.
func inTurn(b *testing.B, args ...string) {
	var with, without, ratio, added []float64
	for i := range costRounds {
		var rate, core [2]float64
		for j := range 2 {
			side := (i + j) % 2
			rate[side], core[side] = costOf(b, side == 0, args...)
		}
		with, without = append(with, rate[0]), append(without, rate[1])
		ratio, added = append(ratio, rate[0]/rate[1]), append(added, 100*(core[0]-core[1]))
	}
	b.ReportMetric(0, "ns/op") // has no meaning here
	b.ReportMetric(middle(with), "workbench/s")
	b.ReportMetric(middle(without), "headless/s")
	b.ReportMetric(middle(ratio), "ratio")
	b.ReportMetric(middle(added), "%core")
}

// BenchmarkWorkbench measures the workbench against a headless run of the same
// settings. The ratio on a real Redis is to be 0.97 or more. On null: at 200,000
// operations a second the screen is to add no more than 5 % of one core.
func BenchmarkWorkbench(b *testing.B) {
	b.Run("redis", func(b *testing.B) {
		inTurn(b, "--target", labtest.Redis(b).URL(), "--threads", "16")
	})
	b.Run("null/rate=200000", func(b *testing.B) {
		inTurn(b, "--target", "null:", "--rate", "200000", "--set", "testCase=put")
	})
}
