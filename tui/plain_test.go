package tui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/screen"
)

// hear sends keys to a workbench for a screen reader, and returns the lines that it says.
func hear(t *testing.T, s *speaker, out *bytes.Buffer, msgs ...any) []string {
	t.Helper()
	out.Reset()
	var perform func(cmd tea.Cmd)
	give := func(m tea.Msg) {
		_, cmd := s.Update(m)
		perform(cmd)
	}
	perform = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				perform(c)
			}
		default:
			give(msg)
		}
	}
	for _, m := range msgs {
		switch m := m.(type) {
		case string:
			give(tuitest.KeyPress(m))
		default:
			give(m)
		}
	}
	text := out.String()
	assert.NotRegexp(t, `[^\x00-\x7F]|\x1b|[-+|]{3}`, text, "plain letters, and no frames")
	return strings.Split(strings.TrimSuffix(text, "\r\n"), "\r\n")
}

// The transcript of a run for somebody who cannot see the screen: what changes by itself is
// said every five seconds, what a key does at once, and nothing twice.
func TestAScreenReaderHearsWhatIsNew(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 10*time.Second, 120, 40)
	var out bytes.Buffer
	s := newSpeaker(&guard{app: a.App}, &out)
	pass := func(d time.Duration) (lines []string) {
		for range d / (100 * time.Millisecond) {
			run.Tick(100 * time.Millisecond)
			for _, l := range hear(t, s, &out, screen.FrameMsg{At: a.env.Now.Add(100 * time.Millisecond), Gen: a.gen}) {
				if l != "" {
					lines = append(lines, l)
				}
			}
		}
		return lines
	}
	first := strings.Join(pass(time.Second), "\n")
	assert.Contains(t, first, "Bulk ingestion on redis: running")
	assert.Contains(t, first, "settings: threads 16")
	assert.Regexp(t, `00:1\d, [0-9.]+k entries/s, p50 .*, p99 .*, max .*, in flight 16`, first)

	said := pass(15 * time.Second)
	figures := 0
	for _, l := range said {
		if strings.Contains(l, "entries/s, p50") {
			figures++
		}
	}
	assert.Equal(t, 3, figures, "every five seconds: %q", said)
	assert.LessOrEqual(t, len(said), 5, "and little else while nothing happens: %q", said)

	assert.Contains(t, hear(t, s, &out, "+"), "settings: threads 17, payload 1 KiB, batch 100, rate unlimited")
	assert.NotContains(t, strings.Join(pass(time.Second), "\n"), "settings", "nothing is said twice")
	run.Mu.Lock()
	run.Gone = true
	run.Mu.Unlock()
	assert.Regexp(t, `failed The store has not answered since`, strings.Join(pass(6*time.Second), "\n"))

	run.Mu.Lock()
	run.Gone = false
	run.Mu.Unlock()
	assert.Regexp(t, `^panel operations: op, per s now, p50, p99, errors; putall, [0-9.]+k?, `, strings.Join(hear(t, s, &out, "tab"), "\n"))
	assert.NotContains(t, strings.Join(pass(2*time.Second), "\n"), "panel ", "it is said once")
	assert.Regexp(t, `^panel tracks: track, .*behind; feed, `, strings.Join(hear(t, s, &out, "tab"), "\n"))
	assert.Regexp(t, `^panel errors: op, class, count; .*unreachable.*connection refused`, strings.Join(hear(t, s, &out, "tab"), "\n"))
	hear(t, s, &out, "shift+tab", "shift+tab")
	assert.Regexp(t, `^panel operations of putall: op, `, strings.Join(hear(t, s, &out, "down"), "\n"))
	hear(t, s, &out, "up")
	assert.Regexp(t, `^panel latency: `, strings.Join(hear(t, s, &out, "shift+tab"), "\n"))

	hear(t, s, &out, "m")
	assert.Equal(t, []string{"h", "hi"}, hear(t, s, &out, "h", "i"), "what is typed, without the question")
	hear(t, s, &out, "esc")
	assert.Equal(t, []string{"Stop the run? [y/N], y stop, enter go on"}, hear(t, s, &out, "x"))
	hear(t, s, &out, "esc")
	assert.Equal(t, []string{"Stop the run, report it and quit? [y/N], y quit, enter stay, ctrl+c at once"}, hear(t, s, &out, "q"))
	hear(t, s, &out, "esc", "?")
	back := strings.Join(hear(t, s, &out, "esc"), "\n")
	assert.Contains(t, back, "settings: threads 17", "back where one was, all is said again")
	assert.Contains(t, strings.Join(hear(t, s, &out, "ctrl+l"), "\n"), "entries/s, p50", "and ctrl+l says all")
}

// Moving through a list says the row that is reached, and leaves out frames and charts.
func TestAScreenReaderHearsTheRowThatIsReached(t *testing.T) {
	a := pickApp(t, tuitest.NewDemo(), Options{Plain: true}, 120, 40)
	var out bytes.Buffer
	s := newSpeaker(&guard{app: a.App}, &out)
	all := hear(t, s, &out, "ctrl+l")
	assert.Contains(t, strings.Join(all, "\n"), "selected: Bulk ingestion")
	assert.Contains(t, all, "Profiles")
	assert.Contains(t, all, "runs on Embedded, Redis, Cassandra, MySQL", "stores by their names")
	assert.NotRegexp(t, `\b[A-Z] [A-Z]\b`, strings.Join(all, "\n"), "no row of bare letters")
	moved := hear(t, s, &out, "down")
	assert.Regexp(t, "^selected: ", moved[0], "%q", moved)
	assert.NotContains(t, moved, "Profiles", "what has not changed is not said again")

	form := hear(t, s, &out, "right")
	assert.Contains(t, form, "threads: 16, preset small", "a row's value and where it comes from, with nothing cut")
	assert.Contains(t, hear(t, s, &out, "?"), "up, up")
	assert.Len(t, hear(t, s, &out, "esc"), 1, "back, only where one is")
}

// Whoever cannot see the charts of a finished run hears a line for each moment that is read.
func TestAScreenReaderHearsAMomentOfAFinishedRun(t *testing.T) {
	a, _ := resultsApp(t, Options{Plain: true}, 120, 40)
	var out bytes.Buffer
	s := newSpeaker(&guard{app: a.App}, &out)
	page := strings.Join(hear(t, s, &out, "ctrl+l"), "\n")
	assert.Contains(t, page, "Latency p99, each second 5.39 ms to 68.4 ms, of fewer than 1000 calls each")
	assert.Contains(t, page, "Throughput, each second ", "no chart is named without what it shows")
	assert.NotContains(t, page, "a setting changed", "nor what is drawn in it")
	assert.Contains(t, page, "left and right moment")
	first := hear(t, s, &out, "left")
	assert.Contains(t, first, "at 00:59, 40.5k entries/s, p50 1.86 ms, p99 - (takes 1000 calls), max 17.5 ms, 0 errors, threads 64, payload 1 KiB")
	assert.Contains(t, strings.Join(first, "\n"), "esc end reading")
	assert.Len(t, hear(t, s, &out, "left"), 1, "only the moment")
	assert.Regexp(t, `^at 00:41, backup began \(marker 2 of 2\), 40.4k entries/s, `, hear(t, s, &out, "(")[0])
	assert.Regexp(t, `^at 00:30, threads 64 \(marker 1 of 2\), `, hear(t, s, &out, "(")[0])
	assert.NotContains(t, strings.Join(hear(t, s, &out, "esc"), "\n"), "at 00:")
	assert.Contains(t, strings.Join(hear(t, s, &out, "e"), "\n"), "\nfolder: ")
	assert.Contains(t, strings.Join(hear(t, s, &out, "enter"), "\n"), "/report.html\nenter closes")
}

// What signs part or mean on a screen is words for those who hear it.
func TestSignsAreSpoken(t *testing.T) {
	for text, want := range map[string]string{
		"in flight 0 · oldest –":                       "in flight 0, oldest -",
		" enter start  ↑↓ choose  → values  ? help":    "enter start, up and down choose, right values, ? help",
		"00:05  threads 16 → 17":                       "00:05, threads 16 to 17",
		"▸ rate  unlimited":                            selected + "rate, unlimited",
		"! perfbench is the bottleneck":                "note: perfbench is the bottleneck",
		"  · other processes used 1.86 processors":     "other processes used 1.86 processors",
		"( )  read a marker":                           "( and ), read a marker",
		"▸ [x] html   a page":                          selected + "chosen: html, a page",
		"~1.07k/s  p99 ▼":                              "mixed 1.07k/s, p99",
		"rate 3\u2009000 …":                            "rate 3000 ...",
		"✓ The store answers again since 00:17 · at 2": "ok The store answers again since 00:17, at 2",
	} {
		assert.Equal(t, want, phrase(text))
	}
}
