package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/tui/widget"
)

// What a run says of what may spoil it, or of what its user may not have meant, is there
// at every size.
func TestPicturesOfWhatGoesWrong(t *testing.T) {
	type stage = func(t *testing.T, a *testApp, run *tuitest.Run)
	keys := func(t *testing.T, a *testApp, list string) {
		t.Helper()
		for k := range strings.SplitSeq(list, " ") {
			send(t, a, k)
		}
	}
	for name, show := range map[string]stage{
		"a rate turned down and up": func(t *testing.T, a *testApp, run *tuitest.Run) {
			keys(t, a, "{ } }")
			pass(t, a, run, 2*time.Second)
		},
		"a rate far beyond": func(t *testing.T, a *testApp, _ *tuitest.Run) {
			keys(t, a, "t down down down 9 9 9 9 9 9 9 9 enter")
		},
		"a backlog without end": func(t *testing.T, a *testApp, run *tuitest.Run) {
			keys(t, a, "t down down down 9 0 0 0 0 enter esc")
			run.Behind = 10_000_000
			pass(t, a, run, 6*time.Second)
		},
		"no room": func(t *testing.T, a *testApp, run *tuitest.Run) {
			run.NoRoom = errors.New("payload: the data would come to 2 TiB, and the store has 8 GiB free")
			keys(t, a, "]")
		},
		"a preset saved": func(t *testing.T, a *testApp, _ *tuitest.Run) { keys(t, a, "+ t s h o t enter") },
		"a value typed over": func(t *testing.T, a *testApp, _ *tuitest.Run) {
			keys(t, a, "t down 4 K i B")
		},
		"a suspended run": func(t *testing.T, a *testApp, run *tuitest.Run) {
			run.Judged = rundir.Verdict{State: verdict.Degraded, Causes: []string{"suspended"}}
			run.Mark(run.At, "suspended for 1.2 s")
			pass(t, a, run, time.Second)
		},
		"a call that does not end": func(t *testing.T, a *testApp, run *tuitest.Run) {
			run.Hang = 1300 * time.Millisecond
			pass(t, a, run, 200*time.Millisecond)
		},
		"totals of two tracks": func(t *testing.T, a *testApp, run *tuitest.Run) {
			keys(t, a, "{ tab")
			pass(t, a, run, 2*time.Second)
		},
	} {
		for _, size := range goldenSizes {
			if size.w == 96 {
				continue
			}
			t.Run(size.name+" "+name, func(t *testing.T) {
				tracks := 1
				if strings.Contains(name, "two") {
					tracks = 2
				}
				a, run := dashApp(t, Options{Theme: widget.ThemeDark}, tracks, 10*time.Second, size.w, size.h)
				show(t, a, run)
				tuitest.Golden(t, picture(t, a))
			})
		}
	}
}
