package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// doubted is a run with three causes of doubt, a threshold that was missed and one that was met, a note
// and a tag.
func doubted(t *testing.T, w, h int) (*tuitest.Stage, *Results) {
	t.Helper()
	a, r, _ := show(t, w, h)
	run := &r.run.loaded.folder.Run
	run.Note, run.Tags = "cold cache", map[string]string{"build": "7"}
	run.Verdict = rundir.Verdict{State: verdict.Degraded, Doubts: []verdict.Doubt{
		{Cause: verdict.Crowded, Text: "other processes used 1.75 processors of this machine, so mean response times or throughput are some 95 % worse: stop them, or use a machine that has processors to spare", Cure: "stop them, or use a machine that has processors to spare", Shows: []verdict.Doubt{
			{Cause: verdict.Pauses, Text: "perfbench got no processor for 2.71 s of the run"},
		}},
		{Cause: verdict.Backlog, Text: "the backlog grew to the end (4.27k due and not sent, 1.2k before): the run does not keep up with 5k entries per second, so response times only say how long that went on; lower --rate", Cure: "lower --rate"},
		{Cause: verdict.Unstarted, Text: "4.27k entries were due and never sent"},
	}, Thresholds: []rundir.Threshold{{Expr: "p99<5ms", Got: "20.1 ms"}, {Expr: "errors<1%", OK: true, Got: "0 %"}}}
	r.pages.cache = bodyCache{}
	return a, r
}

// The first page has, without scrolling, the figures with the verdict in one line, what was asked for, the charts and the first
// rows of the table, then a line for each cause; the page after it has all of them. A cause is named in the first line
// only where its own is not on the screen.
func TestTheFirstPageSaysFirstWhatMattersMost(t *testing.T) {
	order := []string{"38.4k entries/s", "! DEGRADED", "✗ p99<5ms: missed, it was 20.1 ms", "✓ errors<1%: met, it was 0 %", "Throughput", "operation ", "putall "}
	rest := []string{"! crowded ", "! backlog ", "! never sent ", "Note ", "Tags ", "Verification  passed"}
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		a, _ := doubted(t, size[0], size[1])
		page := a.Picture(t)
		at := -1
		for _, text := range order {
			next := strings.Index(page, text)
			assert.Greater(t, next, at, "%q in\n%s", text, page)
			at = next
		}
		assert.Regexp(t, `p50 ~1.38 ms +p99 ~19 ms +3 errors`, page)
		assert.Equal(t, size[1] < causesSeen, strings.Contains(page, "! DEGRADED: crowded, backlog, never sent"), page)
		assert.Equal(t, 1, strings.Count(page, "crowded"), page)
	}
	a, r := doubted(t, 60, 16)
	assert.Contains(t, a.Picture(t), "38.4k entries/s")
	assert.Contains(t, a.Picture(t), "! DEGRADED: crowded, backlog, never sent")

	s := a.Env.Styles
	text := ansi.Strip(strings.Join(r.run.loaded.rest(s, 76, true), "\n"))
	at := -1
	for _, want := range rest {
		next := strings.Index(text, want)
		assert.Greater(t, next, at, "%q in\n%s", want, text)
		at = next
	}
	assert.Contains(t, text, "build=7")
	assert.Contains(t, text, "→ stop them, or use a machine that has processors to spare")
	assert.Contains(t, text, "tab")
	assert.Equal(t, 1, strings.Count(text, "! crowded"), text)
	assert.NotContains(t, text, "got no processor", "it is on the next page")
	assert.Contains(t, ansi.Strip(strings.Join(r.run.loaded.judged(s, 76), "\n")), "· perfbench got no processor for 2.71 s of the run")
	all := strings.Join(strings.Fields(ansi.Strip(strings.Join(r.run.loaded.rest(s, 76, false), " "))), " ")
	assert.Contains(t, all, "so mean response times or throughput are some 95 % worse: stop them", "where there is room, all of it")
}

// Every tab of a run can be read at every width.
func TestTabsAreWholeOnNarrowScreens(t *testing.T) {
	for _, w := range []int{60, 72, 80, 120} {
		a, r := searchedRun(t, w, 24)
		line := strings.Split(a.Picture(t), "\n")[1]
		assert.NotContains(t, line, "…")
		spots := r.pages.spots(a.Env)
		assert.Len(t, spots, len(r.pages.list()))
		assert.LessOrEqual(t, spots[len(spots)-1].To, w)
		assert.True(t, slices.Contains(r.pages.list(), tabVerdict))
	}
}

// What has to be known of a run stands before the reasons of its verdict, and that a server came back empty
// directly behind what the verification says, which is only of what was written since.
func TestWhatHasToBeKnownStandsWhereItIsRead(t *testing.T) {
	a, r := doubted(t, 80, 24)
	run, l, s := &r.run.loaded.folder.Run, r.run.loaded, a.Env.Styles
	run.Notices = []string{"map profile has values of 10 KiB"}
	run.Observed = &verdict.Observed{Restarts: []verdict.Restart{{AtS: 13, Kept: new(int64(0))}}}
	assert.Equal(t, "passed", run.Verification.State)
	plain := func(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) }
	again := "! The server was started again at about 00:13 of the run and came back empty"

	first := plain(l.text(s, nil, 100, true))
	assert.Less(t, strings.Index(first, "! map profile has values of 10 KiB"), strings.Index(first, "! crowded"), first)
	assert.Regexp(t, `Verification .*\n +`+again, first)
	assert.Equal(t, 1, strings.Count(first, "started again"), first)
	assert.Regexp(t, `Verification .*\n +`+again, plain(l.judged(s, 100)))
	assert.Equal(t, 1, strings.Count(plain(l.judged(s, 100)), "started again"))

	proxied := "! The connections go through perfbench's own proxy"
	assert.NotContains(t, plain(l.judged(s, 100)), proxied)
	run.Notices = append(run.Notices, rundir.ThroughProxy)
	assert.Contains(t, plain(l.text(s, nil, 100, true)), proxied)
	assert.Contains(t, plain(l.judged(s, 100)), proxied)

	const rateless = "No rate per second is given: as the verification failed"
	assert.NotContains(t, plain(l.operations(s, 100)), rateless)
	run.Verification.State = workload.Failed
	assert.Contains(t, plain(l.operations(s, 100)), rateless)
}

// A reason without anything to do about it goes on in the row where that would stand, without an arrow.
func TestAReasonWithoutACureHasTwoRows(t *testing.T) {
	a, r := doubted(t, 80, 24)
	l := r.run.loaded
	l.folder.Run.Verdict.Doubts = []verdict.Doubt{{Cause: verdict.Errors, Text: "nothing was done from 00:10 to 00:24 of the run (14 s of 60 s), when the server was started again and came back empty, and 140 calls failed"}}
	rows := l.causes(a.Env.Styles, 120, true)
	assert.Regexp(t, `^! errors +Nothing was done from 00:10 to 00:24 of the run \(14 s of 60 s\)$`, ansi.Strip(rows[0]))
	assert.Regexp(t, `^ +when the server was started again and came back empty, and 140 calls failed`, ansi.Strip(rows[1]))
}

// Why nothing could be verified stands where the verification does, and not as the problem of the run once more.
func TestWhyNothingWasVerifiedIsSaidOnce(t *testing.T) {
	a, r := doubted(t, 80, 24)
	run, l, s := &r.run.loaded.folder.Run, r.run.loaded, a.Env.Styles
	run.Verification = workload.Verification{State: workload.Incomplete, Summary: "hlen of a: refused\nhlen of b: refused"}
	text := func(err error) string {
		return ansi.Strip(strings.Join(l.text(s, &screen.Outcome{Err: err}, 100, true), "\n"))
	}
	unverified := fmt.Errorf("the run could not be verified: %s", run.Verification.Summary)
	said := text(unverified)
	assert.Equal(t, 1, strings.Count(said, "hlen of b: refused"), said)
	assert.NotContains(t, said, "Problem")
	said = text(errors.Join(unverified, errors.New("threshold p99<1ms missed")))
	assert.Equal(t, 1, strings.Count(said, "hlen of b: refused"), said)
	assert.Contains(t, said, "Problem  threshold p99<1ms missed")
}

// Where a wide page has no room for all of what both sides used, it says how much more there is.
func TestWhatBothSidesUsedIsNotCutSilently(t *testing.T) {
	for h, cut := range map[int]bool{45: true, 90: false} {
		a, r, _ := show(t, 170, h)
		for i := range 20 {
			r.run.loaded.samples = append(r.run.loaded.samples, rundir.Sample{T: 1, Source: rundir.OfStore, Name: fmt.Sprintf("counter_%02d", i), Value: 1})
		}
		r.run.loaded.counters.Add(r.run.loaded.samples)
		r.pages.cache = bodyCache{}
		page := a.Picture(t)
		assert.Contains(t, page, "counter 00")
		assert.Equal(t, cut, strings.Contains(page, "more lines: a higher terminal shows them"), "%d lines", h)
		assert.Equal(t, !cut, strings.Contains(page, "counter 19"), "%d lines", h)
	}
}

// That the figures of the whole run mix segments is said once, where their sign is.
func TestThatFiguresMixSegmentsIsSaidOnce(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	page := ansi.Strip(strings.Join(r.run.loaded.text(a.Env.Styles, nil, 116, true), "\n"))
	assert.Equal(t, 1, strings.Count(page, "segments"), page)
	assert.Contains(t, page, "~ mixes segments between live changes, see Changes")
	assert.Contains(t, r.run.loaded.folder.Run.Remarks(), r.run.loaded.folder.Run.Mixed(), "documents say it in a sentence")
}

// A reason that is longer than its line ends with a whole clause, if there is one, or with a word.
func TestAReasonIsCutAtAClause(t *testing.T) {
	text := "other processes used 1.84 processors of this machine, so mean response times are some 73 % worse"
	for w, want := range map[int]string{96: text, 80: "other processes used 1.84 processors of this machine", 40: "other processes used 1.84 processors …"} {
		row, cut := inOne(text, w)
		assert.Equal(t, want, row)
		assert.Equal(t, w < 96, cut)
	}
	row, _ := inOne("Nothing was done from 00:36 to 00:38 (2 s of 60 s; perfbench itself did not run for 802 ms of that).", 70)
	assert.Equal(t, "Nothing was done from 00:36 to 00:38", row, "not within parentheses")
}
