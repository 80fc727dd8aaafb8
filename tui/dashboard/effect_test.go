package dashboard

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// turned is a run of twenty seconds whose throughput doubles after ten, when somebody turned the
// threads up.
func turned(p99 int64) *measure.Snapshot {
	s := &measure.Snapshot{At: 20 * time.Second, Recent: make([][]measure.Row, 1), Changes: []measure.Change{{At: 10 * time.Second, Name: "threads", From: 1, To: 2, By: "workbench"}}}
	for t := range 20 {
		s.Recent[0] = append(s.Recent[0], measure.Row{T: t, Count: 1000 + int64(t/10*1000+t%3), Seconds: 1, ResponseP99: p99})
	}
	return s
}

// The panel of knobs shows the effect of a change in seconds that had too few calls for a p99.
func TestAnEffectWithoutP99IsShown(t *testing.T) {
	plan := &workload.Plan{Unit: "entries", Knobs: []workload.Knob{workload.Threads()}, Phases: []workload.Phase{{Tracks: []workload.Track{{Name: "load"}}}}}
	tu := tuner{now: &reading{snap: turned(0), plan: plan}}
	text := strings.Join(tu.effectLines(screen.Env{Styles: widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii), W: 120}, 80, true), "\n")
	assert.Contains(t, text, "1k → 2k")
	assert.Regexp(t, `p99 .*–`, text)
}

// What an unsure figure lacks stands below it, and not below one that is sure.
func TestWhatAFigureLacksStandsBelowIt(t *testing.T) {
	s := turned(2e6)
	for i := range s.Recent[0] {
		s.Recent[0][i].Count, s.Recent[0][i].ResponseP99 = 1000+int64(i/10*1000+i%3), 2e6*(1+7*int64(i%4))
	}
	s.Changes[0].Name, s.Changes[0].From, s.Changes[0].To = "rate", 1000, 2000
	s.Segments = []measure.Segment{{To: 10 * time.Second, Settings: map[string]float64{"rate": 1000}}, {From: 10 * time.Second, Settings: map[string]float64{"rate": 2000}}}
	plan := &workload.Plan{Unit: "entries", Knobs: []workload.Knob{workload.Threads()}, Phases: []workload.Phase{{Tracks: []workload.Track{{Name: "load"}}}}}
	tu := tuner{now: &reading{snap: s, plan: plan}}
	text := strings.Join(tu.effectLines(screen.Env{Styles: widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii), W: 120}, 80, true), "\n")
	assert.Regexp(t, `(?s)p99 [^\n]* unsure\n[^\n]*\n   its seconds vary too much to tell: turn it further\n   /s +1k → 2k`, ansi.Strip(text))
}

// A figure has its whole name.
func TestServiceTimesAreNamedWhole(t *testing.T) {
	s := turned(2e6)
	for i := range s.Recent[0] {
		s.Recent[0][i].ServiceP99 = 2e6
	}
	s.Changes[0].Name, s.Changes[0].From, s.Changes[0].To = "rate", 0, 2000
	plan := &workload.Plan{Unit: "entries", Knobs: []workload.Knob{workload.Threads()}, Phases: []workload.Phase{{Tracks: []workload.Track{{Name: "load"}}}}}
	tu := tuner{now: &reading{snap: s, plan: plan}}
	for _, w := range []int{40, 60, 80} {
		text := strings.Join(tu.effectLines(screen.Env{Styles: widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii), W: 120}, w, true), "\n")
		assert.Regexp(t, `service p99 +2 → 2 ms`, ansi.Strip(text))
	}
}

// An effect that was told as sure and is not any more says so in every place that has it.
func TestAnEffectThatIsNoLongerSureSaysSo(t *testing.T) {
	plan := &workload.Plan{Unit: "entries", Knobs: []workload.Knob{workload.Threads()}, Phases: []workload.Phase{{Tracks: []workload.Track{{Name: "load"}}}}}
	now := &reading{snap: turned(2e6), plan: plan}
	require.NotEmpty(t, now.effects())
	crowded := *now.snap
	now.snap, now.verdict = &crowded, rundir.Verdict{Causes: []string{string(verdict.Crowded)}}
	for i := range crowded.Recent[0] {
		if r := &crowded.Recent[0][i]; r.T >= 10 {
			r.Count = 1500
		}
	}
	e := screen.Env{Styles: widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii), W: 120}
	tu := tuner{now: now}
	for _, w := range []int{36, 44, 80} {
		text := ansi.Strip(strings.Join(tu.effectLines(e, w, true), "\n"))
		assert.Regexp(t, `/s +1k → 1.5k +unsure now\n`, text)
		assert.Contains(t, strings.Join(strings.Fields(text), " "), "throughput was sure after 10 s (1k → 2k)")
		for _, line := range strings.Split(text, "\n") {
			assert.LessOrEqual(t, ansi.StringWidth(line), w)
		}
	}
	low := lower{now: now}
	_, rows := low.changeRows(e.Styles, 120)
	assert.Regexp(t, `1k → 1.5k +unsure now .*throughput was sure after 10 s \(1k → 2k\)`, ansi.Strip(strings.Join(rows, " ")))
}

// The panel of changes lists each with its effect.
func TestThePanelOfChangesHasEffects(t *testing.T) {
	s := turned(2e6)
	s.Changes = append(s.Changes, measure.Change{At: 19 * time.Second, Name: "payload", From: 1024, To: 2048, By: "workbench"})
	low := lower{now: &reading{snap: s}}
	_, rows := low.changeRows(widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii), 120)
	assert.Len(t, rows, 2)
	assert.Regexp(t, `00:19 +0 +workbench +payload 1 KiB → 2 KiB +measuring its effect: 1 of 3\+ s`, ansi.Strip(rows[0]))
	assert.Regexp(t, `00:10 +0 +workbench +threads 1 → 2 +1k → 2k +×2 +p99 2 → 2 ms +same`, ansi.Strip(rows[1]))
}

// What a change was and did is in the panel whole: on a second line where one is too short.
func TestAChangeIsToldWholeInItsPanel(t *testing.T) {
	a, d, run := live(t, 10*time.Second, 80, 24)
	a.Send(t, "]")
	for range 80 {
		run.Tick(100 * time.Millisecond)
	}
	a.Send(t, a.Frame())
	for _, w := range []int{56, 76, 116} {
		_, rows := d.lower.changeRows(a.Env.Styles, w)
		all := ansi.Strip(strings.Join(rows, "\n"))
		assert.NotContains(t, all, "…", w)
		assert.Contains(t, strings.Join(strings.Fields(all), " "), "payload", w)
		for _, r := range rows {
			assert.LessOrEqual(t, ansi.StringWidth(r), w)
		}
	}
}

// The verdict keeps its reason where errors are listed: their classes give way to it.
func TestTheVerdictKeepsItsReasonBesideErrors(t *testing.T) {
	a, d, run := live(t, 5*time.Second, 80, 24)
	run.Gone = true
	run.Judged = rundir.Verdict{State: verdict.Degraded, Causes: []string{"crowded"}, Reasons: []string{"other processes use this machine"}}
	for range 30 {
		run.Tick(100 * time.Millisecond)
	}
	a.Send(t, a.Frame())
	line := ansi.Strip(d.sel.state(a.Env, false, ""))
	assert.Contains(t, line, "DEGRADED: crowded", line)
	assert.Contains(t, line, "errors ")
	a.Env.W = 200
	assert.Contains(t, ansi.Strip(d.sel.state(a.Env, false, "")), "(unreachable)", "with room for both")
}

// A verdict without a doubt so far is amber beside a backlog of more than a quarter of a second.
func TestValidIsAmberBesideABacklog(t *testing.T) {
	a, d, run := live(t, 5*time.Second, 120, 40)
	run.Judged = rundir.Verdict{State: verdict.Valid}
	a.Send(t, a.Frame())
	d.sel.fig.asked, d.sel.fig.backlog = 1000, 250
	assert.Contains(t, d.sel.state(a.Env, false, ""), a.Env.Styles.OK.On(verdict.Valid))
	d.sel.fig.backlog = 251
	assert.Contains(t, d.sel.state(a.Env, false, ""), a.Env.Styles.Warn.On(verdict.Valid))
	head, _ := d.lower.verdictRows(a.Env, 100)
	assert.Equal(t, "VALID so far, but the run is behind its rate.", head)
}

// The number of errors on the tab is the one in the line of state, at any moment of a second.
func TestErrorsHaveOneNumberOnAScreen(t *testing.T) {
	a, d, _ := live(t, 5*time.Second, 120, 40)
	for _, n := range []int64{8037, 9989} {
		d.sel.fig.errors = n
		page := ansi.Strip(d.View(a.Env))
		assert.Contains(t, page, "errors ("+widget.Whole(n)+")")
		assert.Contains(t, page, " · errors "+widget.Whole(n)+" ")
	}
}

// What another terminal turned is told as such, and is an act of its own.
func TestWhatAWatcherTurnsIsToldAsSuch(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		a, d, run := live(t, 5*time.Second, size[0], size[1])
		a.Send(t, "+")
		for range 60 {
			run.Tick(100 * time.Millisecond)
		}
		a.Send(t, a.Frame())
		run.Change(measure.ByWatcher, screen.All, func(s workload.Settings) workload.Settings { s.Threads += 2; return s })
		run.Tick(100 * time.Millisecond)
		a.Send(t, a.Frame())
		assert.Contains(t, a.Picture(t), "watcher: threads 17 → 19")
		_, rows := d.lower.changeRows(a.Env.Styles, size[0]-4)
		all := ansi.Strip(strings.Join(rows, "\n"))
		assert.Contains(t, all, "watcher: threads 17")
		assert.Contains(t, all, "threads 16 → 17")
	}
}

// Where changes have no room in full, each of the latest has one line; the next step down tells them in full.
func TestChangesThatHaveNoRoomAreBrief(t *testing.T) {
	a, d, run := live(t, 10*time.Second, 120, 40)
	for range 7 {
		a.Send(t, "]", "+")
		for range 50 {
			run.Tick(100 * time.Millisecond)
		}
		a.Send(t, a.Frame())
	}
	d.lower.tab = tabChanges
	shown := func() int {
		a.Send(t, a.Frame())
		return len(regexp.MustCompile(`(?m)^│   \d\d:\d\d `).FindAllString(a.Picture(t), -1))
	}
	rows := d.page.panes(a.Env).ops.Dy() - 3
	_, all := d.lower.changeRows(a.Env.Styles, 116)
	require.Greater(t, len(all), rows)
	assert.Equal(t, rows, shown())
	assert.Contains(t, a.Picture(t), "of 14 · ↓ in full")
	a.Send(t, "down")
	assert.Less(t, shown(), rows)
	assert.Contains(t, a.Picture(t), fmt.Sprintf("1–%d of %d", rows, len(all)))
	a.Send(t, "up")
	assert.Equal(t, rows, shown())
}

// The numbers of an effect are whole in its one line: who changed it, and the segment, give way to them.
func TestTheNumbersOfAnEffectAreNotCut(t *testing.T) {
	s := turned(2e6)
	for i := range s.Recent[0] {
		s.Recent[0][i].ResponseP99 = 57_500_000 - int64(i/10)*24_400_000
	}
	s.Ops = []measure.Totals{{Operation: measure.Operation{Track: "profile", Op: "put-all-of-it"}, Calls: 1}, {Operation: measure.Operation{Track: "session", Op: "get"}, Calls: 1}}
	s.Recent = append(s.Recent, s.Recent[0])
	low := lower{now: &reading{snap: s}}
	for w := 76; w <= 120; w++ {
		_, rows := low.changeLines(widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii), w, true)
		require.Len(t, rows, 1)
		assert.Regexp(t, `57\.5 → 33\.1 ms`, ansi.Strip(rows[0]), w)
		assert.LessOrEqual(t, ansi.StringWidth(rows[0]), w)
	}
}

// A message of an error has the width of the panel where the column of messages would be narrow.
func TestTheMessageOfAnErrorHasTheWidth(t *testing.T) {
	op := measure.Operation{Track: "eligibility", Op: "hmset"}
	text := "hmset perfbench:eligibility: the server is out of memory, and takes no writes until some of it is freed"
	s := &measure.Snapshot{Ops: []measure.Totals{{Operation: op}}, Errors: []measure.ErrorCount{{Operation: op, Class: "refused", Count: 30}}, Messages: []measure.Message{{Operation: op, Class: "refused", Text: text}}}
	now := &reading{snap: s}
	low := lower{now: now, sel: &selection{now: now}}
	e := screen.Env{Styles: widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)}
	head, rows := low.errorRows(e, 60)
	assert.NotContains(t, head, "message")
	require.Len(t, rows, 3)
	assert.Regexp(t, `hmset +refused +30`, ansi.Strip(rows[0]))
	assert.Regexp(t, `^    hmset perfbench:eligibility: the server is out of`, ansi.Strip(rows[1]))
	head, rows = low.errorRows(e, 160)
	assert.Contains(t, head, "first messages")
	require.Len(t, rows, 1)
	assert.Contains(t, ansi.Strip(rows[0]), text)

	s.Messages = append(s.Messages, measure.Message{Operation: op, Class: "slow", Text: "of another class"}, measure.Message{Operation: op, Class: "refused", Text: "the connection was closed"})
	_, rows = low.errorRows(e, 160)
	require.Len(t, rows, 2, "all messages of a class, below one another")
	assert.Equal(t, strings.Index(ansi.Strip(rows[0]), text), strings.Index(ansi.Strip(rows[1]), "the connection was closed"))
}

// The line with the last effect has its figures whole at every width: names of operations, of throughput and the
// values of the knob go first.
func TestTheLineOfTheLastEffectIsNeverCut(t *testing.T) {
	s := turned(2e6)
	s.Changes = append(s.Changes, measure.Change{At: 11 * time.Second, Name: "threads", From: 2, To: 3, By: "workbench"})
	s.Recent = append(s.Recent, s.Recent[0])
	for _, op := range []string{"eligibility", "profile"} {
		s.Ops = append(s.Ops, measure.Totals{Operation: measure.Operation{Track: op, Op: "putall"}, Calls: 1000})
	}
	l := lines{now: &reading{snap: s}}
	ef, ok := l.now.lastEffect()
	require.True(t, ok)
	for w := 60; w < 160; w++ {
		for rows := 1; rows < 3; rows++ {
			e := screen.Env{Styles: widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii), W: w, H: 24}
			got := ansi.Strip(strings.Join(l.lastChange(e, ef, rows), "\n"))
			assert.Regexp(t, `2k( \(2k–2k\))? → 4k.*p99[^\n]* 2( \(2–2\) → 2 \(2–2\)| → 2)? ms`, got, "%d cells", w)
			assert.NotContains(t, got, "…", "%d cells", w)
			for line := range strings.SplitSeq(got, "\n") {
				assert.LessOrEqual(t, ansi.StringWidth(line), w)
			}
		}
	}
}

// The chart of errors leaves half of its panel to a long list, so that the next kind of error is seen.
func TestTheChartOfErrorsLeavesRoomForTheirList(t *testing.T) {
	for _, c := range []struct{ h, list, want int }{{12, 2, 8}, {12, 5, 7}, {12, 10, 6}, {24, 30, 8}, {5, 10, 2}} {
		assert.Equal(t, c.want, courseRows(c.h, c.list), "%d rows, a list of %d", c.h, c.list)
	}
}
