package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// written is the run that a terminal's program has left.
func (s *pane) written() *rundir.Folder {
	s.t.Helper()
	dir, err := rundir.Find(filepath.Join(s.dir, "results"), "latest")
	require.NoError(s.t, err)
	f, err := rundir.Load(dir)
	require.NoError(s.t, err)
	return f
}

// later waits for the clock of the dashboard to reach n seconds more than it
// shows.
func (s *pane) later(n int) {
	s.t.Helper()
	const expr = `(?m)^ \S .* (\d\d:\d\d) / `
	clock := func(screen string) time.Duration {
		m := regexp.MustCompile(expr).FindStringSubmatch(screen)
		if m == nil {
			return -1
		}
		d, err := time.ParseDuration(strings.Replace(m[1], ":", "m", 1) + "s")
		require.NoError(s.t, err)
		return d
	}
	from := clock(s.until("a clock", func(screen string) bool { return clock(screen) >= 0 }))
	s.until("the clock going on", func(screen string) bool { return clock(screen) >= from+time.Duration(n)*time.Second })
}

// marks counts the columns of a screen's charts in which settings changed.
func marks(screen string) int {
	columns := map[int]bool{}
	for line := range strings.Lines(screen) {
		for x, r := range []rune(line) {
			if r == '▾' {
				columns[x] = true
			}
		}
	}
	return len(columns)
}

func TestWorkbenchFromPickerToReport(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	s := inTerminal(t, binary(t), 120, 40, "tui", "--profile", "ingestion", "--preset", "small", "--duration", "9m", "--rate", "2000")

	s.shows("Profiles", "▸ Bulk ingestion", "choose a profile")
	assert.Equal(t, "1", s.mode("alternate_on"))
	s.press("Right", "Down", "Enter") // to the set-up, down to the target
	s.shows("▸ target", "embedded:", "redis://localhost:6379")
	s.press("C-u")
	s.enter(srv.URL())
	s.shows(srv.URL(), "● redis "+srv.Version())
	s.press("S")

	// Raise threads: twenty presses in one go.
	s.matches(`eligibility\.putall +[1-9]`)
	began := s.number(`threads ◂ (\d+) ▸`)
	s.press(strings.Split(strings.Repeat("+", 20), "")...)
	s.shows(fmt.Sprintf("threads ◂ %d ▸", began+20), fmt.Sprintf("threads %d → %d", began, began+20))
	s.until("the mark of the threads", func(screen string) bool { return marks(screen) > 0 })
	s.later(3) // a column of its own for the next mark, and seconds to compare with
	threads := marks(s.screen())

	s.press("]")
	s.shows("payload ◂ 2 KiB–20 KiB ▸")
	s.until("the mark of the payload", func(screen string) bool { return marks(screen) > threads })
	s.later(3)

	// Type a rate into the tuning panel, and take it back.
	s.press("t")
	s.shows("╭─ Tune", "Last change", "1 KiB–10 KiB → 2 KiB–20 KiB")
	s.matches(`entries/s  +\S|unsure`) // what came of it, as far as it cannot be chance
	s.press("Down")
	s.shows("▸ Rate")
	s.enter("3k")
	s.matches(`▸ Rate +3.000 entries/s`)
	s.later(2)
	s.press("u")
	s.matches(`▸ Rate +2.000 entries/s`)
	s.press("Escape")
	s.until("the panel closed", func(screen string) bool { return !strings.Contains(screen, "╭─ Tune") })
	s.press("x")
	s.shows("Stop the run? [y/N]")
	s.press("x")

	s.shows("Results", "written to results") // the reasons of a verdict may need all other lines
	s.press("e")
	s.shows("╭─ Export", "[x] html", "[ ] padogrid")
	s.press("Enter")
	s.shows("written to results/", "report.html")
	s.until("the export closed", func(screen string) bool { return !strings.Contains(screen, "╭─ Export") })
	s.press("q")

	// The normal screen has what is left.
	last := s.shows("exit code 0")
	assert.Equal(t, "0", s.mode("alternate_on"))
	assert.Equal(t, "0", s.mode("mouse_any_flag"))
	assert.Equal(t, "1", s.mode("cursor_flag"))
	f := s.written()
	assert.Contains(t, last, "report in results/"+f.Run.ID)
	assert.Contains(t, last, "ingestion on "+srv.URL())
	assert.Contains(t, last, "verification passed")
	assert.FileExists(t, filepath.Join(s.dir, "results", f.Run.ID, "report.html"))
	requireWhatWasPressed(t, f, began)
}

// requireWhatWasPressed compares the report with the keys of the story above.
func requireWhatWasPressed(t *testing.T, f *rundir.Folder, began int) {
	t.Helper()
	assert.Equal(t, "user", f.Run.EndedBy)
	assert.InDelta(t, began, f.Run.Settings["threads"], 0)
	require.Len(t, f.Run.Changes, 20+2+1+1)
	for i, c := range f.Run.Changes[:20] {
		assert.Equal(t, "threads", c.Name)
		assert.Equal(t, "workbench", c.By)
		assert.InDelta(t, began+i, c.From, 0)
		assert.InDelta(t, began+i+1, c.To, 0)
	}
	first, last := f.Run.Changes[0].Segment, f.Run.Changes[19].Segment
	assert.Equal(t, 1, first)
	assert.Less(t, last-first, 19, "presses in quick succession share segments")

	payload := f.Run.Changes[20:22]
	for i, want := range []struct {
		name     string
		from, to float64
	}{{"eligibility.payload", 1 << 10, 2 << 10}, {"profile.payload", 10 << 10, 20 << 10}} {
		assert.Equal(t, want.name, payload[i].Name)
		assert.InDelta(t, want.from, payload[i].From, 0)
		assert.InDelta(t, want.to, payload[i].To, 0)
		assert.Equal(t, last+1, payload[i].Segment)
	}
	rate := f.Run.Changes[22]
	assert.Equal(t, "rate", rate.Name)
	assert.InDelta(t, 2000, rate.From, 0)
	assert.InDelta(t, 3000, rate.To, 0)
	undone := f.Run.Changes[23]
	assert.Equal(t, "rate", undone.Name, "as it was set")
	assert.Equal(t, "undo", undone.By)
	assert.InDelta(t, 3000, undone.From, 0)
	assert.InDelta(t, 2000, undone.To, 0)

	segments := f.Run.Segments
	require.Len(t, segments, last+4)
	for i, s := range segments {
		want := map[string]float64{"threads": float64(began + 20), "eligibility.payload": 2 << 10, "profile.payload": 20 << 10, "rate": 2000}
		switch {
		case i == 0:
			want["threads"] = float64(began)
		case i < last:
			want["threads"] = s.Settings["threads"] // between presses
		case i == last+2:
			want["rate"] = 3000
		}
		if i <= last {
			want["eligibility.payload"], want["profile.payload"] = 1<<10, 10<<10
		}
		for name, v := range want {
			assert.InDelta(t, v, s.Settings[name], 0, "segment %d: %s", i, name)
		}
	}
	for op, whole := range f.Run.Operations {
		sum := int64(0)
		for _, s := range segments {
			sum += s.Operations[op].Count
		}
		assert.Equal(t, whole.Count, sum, "segments of %s.%s add up to the whole", whole.Track, whole.Op)
	}
}

func TestWorkbenchWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	tier.Full(t, "tui's pictures of a store that has gone, and the story dies")
	srv := labtest.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	s := inTerminal(t, binary(t), 100, 30, "tui", "--profile", "ingestion", "--preset", "small", "--target", srv.URL(), "--duration", "9m", "--threads", "2", "--rate", "200")
	s.shows("choose a profile", "● redis")
	s.press("S")
	s.matches(`eligibility\.putall +[1-9]`)
	s.later(2)

	srv.Kill()
	s.shows("✗ The store has not answered since", "the run goes on")
	s.later(2) // the screen lives
	srv.Restart()
	s.shows("✓ The store answers again since")
	s.later(2)
	s.press("x", "x")
	s.shows("Results", "errors")
	s.press("q")
	s.matches(`exit code \d`)

	f := s.written()
	assert.Equal(t, "user", f.Run.EndedBy)
	require.NotEmpty(t, f.Run.Errors)
	classes := map[string]int64{}
	for _, e := range f.Run.Errors {
		classes[e.Class] += e.Count
	}
	assert.Positive(t, classes["unreachable"])
	assert.Equal(t, "passed", f.Run.Verification.State, f.Run.Verification.Summary)
	// It counted before, while and after.
	away, back := false, false
	for _, row := range f.Series {
		away = away || row.Errors > 0
		back = back || away && row.Errors == 0 && row.Count > 0
	}
	assert.True(t, away)
	assert.True(t, back)
}

func TestWorkbenchGivesTheTerminalBackWhenItIsTold(t *testing.T) {
	t.Parallel()
	s := inTerminal(t, binary(t), 80, 24, "tui", "--profile", "ingestion", "--preset", "small", "--duration", "9m", "--rate", "200")
	s.shows("choose a profile")
	s.press("S")
	s.matches(`eligibility\.putall +[1-9]`)
	assert.Equal(t, "1", s.mode("alternate_on"))
	s.signal(syscall.SIGTERM)
	last := s.shows("exit code 130")
	assert.Equal(t, "0", s.mode("alternate_on"))
	assert.Equal(t, "0", s.mode("mouse_any_flag"))
	assert.Equal(t, "1", s.mode("cursor_flag"))
	f := s.written()
	assert.Equal(t, "interrupt", f.Run.EndedBy)
	assert.Equal(t, "passed", f.Run.Verification.State)
	assert.Contains(t, last, "report in results/"+f.Run.ID)
	s.press("e", "c", "h", "o") // the line is nobody's: what is typed appears again
	s.shows("echo")
}

// What a folder says that somebody else has made controls no terminal in which the workbench
// shows it: in lists, on the pages of a run, in comparisons.
// The form begins with what a plan says, or what was set for an earlier run, flags above.
func TestTheWorkbenchBeginsWithAPlanOrARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "results")
	doing(t, nil, "run", "ingestion", "--quiet", "--target", "memory:", "--count", "4321", "--threads", "6", "--out", out)
	plan := filepath.Join(dir, "night.yaml")
	require.NoError(t, os.WriteFile(plan, []byte("profile: ingestion\ntarget: 'memory:'\nduration: 77s\nthreads: 4\n"), 0o600))
	for _, c := range []struct {
		args  []string
		shown []string
	}{
		{[]string{"tui", plan, "--threads", "10"}, []string{"memory:", "77s", "with 5 threads"}},
		{[]string{"tui", "--from", "latest", "--out", out, "--threads", "10"}, []string{"memory:", "4321", "with 5 threads"}},
	} {
		s := inTerminal(t, binary(t), 120, 40, c.args...)
		s.shows(append(c.shown, "choose a profile")...)
		s.press("q")
	}
	suite := filepath.Join(dir, "suite.yaml")
	require.NoError(t, os.WriteFile(suite, []byte("profile: ingestion\nruns:\n- threads: 1\n- threads: 2\n"), 0o600))
	s := inTerminal(t, binary(t), 120, 40, "tui", suite, "--target", "memory:", "--count", "500", "--out", out)
	s.shows("Plan · suite.yaml", "threads 2 · count 500", "S starts all")
	s.press("S")
	s.shows("2 runs, all done")
	s.press("enter")
	s.shows("Latency")
	s.press("q")
}

func TestTheWorkbenchShowsAHostileFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "results")
	for range 2 {
		doing(t, nil, "run", "ingestion", "--quiet", "--target", "memory:", "--count", "100", "--tag", "a=b", "--out", out)
	}
	dirs, err := filepath.Glob(filepath.Join(out, "*"))
	require.NoError(t, err)
	for _, d := range dirs {
		require.NoError(t, os.WriteFile(filepath.Join(d, "note.txt"), []byte(venom), 0o600))
		poison(t, filepath.Join(d, "run.json"))
	}
	c := exec.Command(binary(t), "tui")
	c.Dir, c.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8"}
	term := inBareTerminal(t, c, 160, 50)
	written := func() string {
		term.mu.Lock()
		defer term.mu.Unlock()
		return string(term.written)
	}
	shows := func(keys, text string) {
		t.Helper()
		before := len(written())
		term.types(keys)
		require.True(t, eventually(screenLimit, func() bool { return strings.Contains(written()[before:], text) }), "%q brings up %q: %q", keys, text, written()[before:])
	}
	shows("", "choose a profile")
	shows("h", "VENOM")
	shows("\r", "VENOM")
	for range 8 {
		shows("\t", "\x1b[") // the next page
	}
	shows("c", "\x1b[")
	shows("q", "\x1b[?1049l")
	for _, bad := range []string{"\x1b]0;VENOM", "VENOM\x07", "\u009b31m", "\u202e", "\r\b"} {
		assert.NotContains(t, written(), bad)
	}
}
