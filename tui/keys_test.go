package tui

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/results"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// states are ways to every screen of w×h cells, in every state that changes its keys. A new
// screen is added here.
func states(w, h int) map[string]func(t *testing.T) *testApp {
	over := func(make func(b *tuitest.Bench) screen.Screen) func(t *testing.T) *testApp {
		return func(t *testing.T) *testApp {
			b := tuitest.NewDemo()
			a := pickApp(t, b, Options{}, w, h)
			s := make(b)
			a.stack = append(a.stack, s)
			if st, ok := s.(screen.Starter); ok {
				perform(t, a, st.Start(a.env))
			}
			b.StartErr = nil // trying again is of use
			now := tuitest.NewSweep(2)
			b.NextSweep = tuitest.NewSweepRun(screen.SweepNow{Result: now})
			return a
		}
	}
	out := map[string]func(t *testing.T) *testApp{
		"starting": over(func(b *tuitest.Bench) screen.Screen {
			return dashboard.NewStarting(b, dashboard.Bench{Past: b, Presets: b}, "", screen.Start{})
		}),
		"starting failed": over(func(b *tuitest.Bench) screen.Screen {
			b.StartErr = errors.New("x")
			return dashboard.NewStarting(b, dashboard.Bench{Past: b, Presets: b}, "", screen.Start{})
		}),
		"dashboard": over(func(b *tuitest.Bench) screen.Screen {
			return dashboard.New(dashboard.Bench{Past: b, Presets: b}, tuitest.NewRun(2).Access())
		}),
		"watched": over(func(b *tuitest.Bench) screen.Screen {
			run := tuitest.NewRun(2)
			return dashboard.New(dashboard.Bench{Past: b, Presets: b}, screen.Access{Run: run, Control: run})
		}),
		"only watched": over(func(b *tuitest.Bench) screen.Screen {
			return dashboard.New(dashboard.Bench{Past: b, Presets: b}, screen.Access{Run: tuitest.NewRun(2)})
		}),
		"results empty": over(func(b *tuitest.Bench) screen.Screen { return results.NewEnded(b, screen.Outcome{ID: "x"}, time.Time{}) }),
		"history empty": over(func(b *tuitest.Bench) screen.Screen {
			b.Past = nil
			return archive.NewRuns(b, "", map[string]bool{}, nil)
		}),
		"plans": over(func(b *tuitest.Bench) screen.Screen {
			b.FoundPlans = []screen.PlanFile{{Path: "night.yaml", File: tuitest.NewSuite()}, {Path: "day.yaml", File: tuitest.NewSuite()}}
			return archive.NewPlans(b)
		}),
		"plans empty": over(func(b *tuitest.Bench) screen.Screen { return archive.NewPlans(b) }),
		"sweep asked": over(func(b *tuitest.Bench) screen.Screen { return archive.Ask(b, screen.AskSweep{}) }),
		"search asked": over(func(b *tuitest.Bench) screen.Screen {
			return dashboard.NewPlannedSearch(b, "Bulk ingestion", screen.AskSearch{Request: request.Request{Target: "redis://h"}}, nil)
		}),
		"sweep": over(func(b *tuitest.Bench) screen.Screen {
			past := tuitest.NewSweep(14)
			b.PastSweeps = []sweep.Kept{{ID: "260503-120000-ingestion-sweep", Result: &past}}
			return archive.NewSweeps(b, b.PastSweeps[0].ID)
		}),
		"compare empty": over(func(b *tuitest.Bench) screen.Screen { return archive.NewComparison(b, []string{"a"}, []string{"b"}) }),
	}
	for name, keys := range map[string][]any{
		"picker": nil, "picker filter": {"/"}, "picker form": {"right"}, "picker typing": {"right", "enter"}, "picker finding": {"right", "/"}, "picker plan": {"tab", "tab"}, "picker runs": {"shift+tab"},
		"picker planned": {"G"}, "history": {"h"}, "history filter": {"h", "/"}, "history chosen": {"h", "space", "down"}, "history sides": {"h", "a", "down", "b"}, "history asked": {"h", "D"}, "history noting": {"h", "n"}, "picker asked": {"shift+tab", "D"}, "picker noting": {"shift+tab", "n"}, "picker sifting": {"shift+tab", "/"}, "compare": {"h", "space", "down", "c"},
		"searching": {"enter", "f"}, "results": {"h", "enter"}, "results distribution": {"h", "enter", "tab", "tab"}, "export": {"h", "enter", "e"}, "export folder": {"h", "enter", "e", "tab"},
		"tuning": {"enter", "t"},
	} {
		out[name] = func(t *testing.T) *testApp {
			a := pickApp(t, tuitest.NewDemo(), Options{}, w, h)
			send(t, a, keys...)
			return a
		}
	}
	return out
}

// allScreens are the screens that states lead to.
func allScreens(t *testing.T) map[string]screen.Screen {
	t.Helper()
	out := map[string]screen.Screen{}
	for name, to := range states(120, 40) {
		out[name] = to(t).stack.top()
	}
	return out
}

// A key that is offered does something: where it stands, or a step away from there. On
// smaller screens that is tried where panels have no room.
func TestEveryKeyThatIsOfferedDoesSomething(t *testing.T) {
	tier.Slow(t, tier.Computes)
	for name, to := range states(120, 40) {
		t.Run(name, func(t *testing.T) { keysDoSomething(t, to) })
	}
	cramped := []string{"picker", "picker form", "picker plan", "picker runs", "dashboard", "tuning", "searching", "history"}
	for _, size := range [][2]int{{80, 24}, {60, 16}} {
		all := states(size[0], size[1])
		for _, name := range cramped {
			t.Run(fmt.Sprintf("%s %d×%d", name, size[0], size[1]), func(t *testing.T) { keysDoSomething(t, all[name]) })
		}
	}
}

func keysDoSomething(t *testing.T, to func(t *testing.T) *testApp) {
	ways := [][]any{nil, {"down"}, {"G"}, {"right"}, {"pgdown"}}
	at := to(t)
	at.View() // keys are offered below what is drawn
	keys := at.stack.top().Keys()
	for _, b := range slices.Concat(append(keys.FullHelp(), keys.ShortHelp())...) {
		if !b.Enabled() {
			continue
		}
		does := slices.ContainsFunc(ways, func(way []any) bool {
			return slices.ContainsFunc(b.Keys(), func(k string) bool {
				a := to(t)
				send(t, a, way...)
				send(t, a, frame(a))
				before := a.View().Content
				send(t, a, k, frame(a))
				return a.quit || a.View().Content != before
			})
		})
		assert.True(t, does, "%s %s", b.Help().Key, b.Help().Desc)
	}
}

func TestNoScreenHasTwoEnabledBindingsOnOneKey(t *testing.T) {
	for name, s := range allScreens(t) {
		t.Run(name, func(t *testing.T) {
			seen := map[string]string{}
			global := slices.DeleteFunc(widget.AllKeys.Global(true), func(b key.Binding) bool { // where letters are typed, none is global
				w, ok := s.(screen.Writer)
				return ok && w.Writes(tuitest.KeyPress(b.Keys()[0]))
			})
			groups := append([][]key.Binding{global}, s.Keys().FullHelp()...)
			for _, g := range groups {
				for _, b := range g {
					if !b.Enabled() {
						continue
					}
					for _, k := range b.Keys() {
						assert.Empty(t, seen[k], "key %q: %q and %q", k, seen[k], b.Help().Desc)
						seen[k] = b.Help().Desc
					}
				}
			}
		})
	}
}

func TestTheBottomLineShowsOnlyKeysThatHelpListsToo(t *testing.T) {
	for name, s := range allScreens(t) {
		listed := map[string]bool{}
		for _, g := range append([][]key.Binding{widget.AllKeys.Global(true)}, s.Keys().FullHelp()...) {
			for _, b := range g {
				for _, k := range b.Keys() {
					listed[k] = true
				}
			}
		}
		for _, b := range s.Keys().ShortHelp() {
			for _, k := range b.Keys() {
				assert.True(t, listed[k], "%s: %s %s", name, k, b.Help().Desc)
			}
		}
	}
}

// Escape and a key that a terminal took for one, with alt, are two keys: the second is for the screen that
// the first leads to.
func TestEscapeAndAKeyAreNeverTakenForOne(t *testing.T) {
	alt := func(code rune, mod tea.KeyMod) tea.KeyPressMsg {
		return tea.KeyPressMsg{Code: code, Mod: mod | tea.ModAlt}
	}
	for name, c := range map[string]struct {
		way  []any
		both tea.KeyPressMsg
		then string
	}{
		"from the list of runs": {[]any{"h"}, alt(tea.KeyRight, 0), "right"},
		"from typing":           {[]any{"right", "enter"}, alt('/', 0), "/"},
		"from a run":            {[]any{"enter"}, alt('x', 0), "x"},
		"from the panel":        {[]any{"enter", "t"}, alt('+', 0), "+"},
		"a capital":             {[]any{"h"}, alt('g', tea.ModShift), "G"},
	} {
		t.Run(name, func(t *testing.T) {
			inTurn, asOne := pickApp(t, tuitest.NewDemo(), Options{}, 120, 40), pickApp(t, tuitest.NewDemo(), Options{}, 120, 40)
			send(t, inTurn, c.way...)
			send(t, inTurn, "esc", c.then, frame(inTurn))
			send(t, asOne, c.way...)
			send(t, asOne, c.both, frame(asOne))
			assert.Equal(t, picture(t, inTurn), picture(t, asOne))
		})
	}
}

// What was said of a key may be untrue after the next one, which ends it.
func TestAKeyEndsTheMessageOfTheOneBefore(t *testing.T) {
	a := appAt(t, tuitest.NewDemo(), Options{}, screen.Runs{}, 80, 24)
	send(t, a, "D", "y")
	require.Contains(t, picture(t, a), "1 run deleted; u brings it back")
	send(t, a, "u")
	require.Contains(t, picture(t, a), "1 deleted run brought back")
	send(t, a, "/", "r")
	assert.NotContains(t, picture(t, a), "brought back")
}

// Who quits is told once how many deleted runs are gone for good then, and may bring them back instead.
func TestQuittingAsksWhereDeletedRunsAreGoneThen(t *testing.T) {
	for _, key := range []string{"q", "ctrl+c"} {
		a := appAt(t, tuitest.NewDemo(), Options{}, screen.Runs{}, 80, 24)
		send(t, a, "D", "y", key)
		assert.Contains(t, picture(t, a), "Quit? The deleted run is gone for good then. [y/N]  y quit  enter stay")
		send(t, a, "n")
		send(t, a, "down", "D", "y", key)
		assert.Contains(t, picture(t, a), "Quit? 2 deleted runs are gone for good then. [y/N]  y quit  enter stay")
		a.env.Now = a.env.Now.Add(time.Minute)
		send(t, a, frame(a), "down")
		assert.Contains(t, picture(t, a), "gone for good then. [y/N]", "a question stays until it is answered")
		send(t, a, "enter")
		assert.False(t, a.quit)
		send(t, a, key, key)
		assert.True(t, a.quit)
	}
	a := appAt(t, tuitest.NewDemo(), Options{}, screen.Runs{}, 80, 24)
	send(t, a, "D", "y", "u", "q")
	assert.True(t, a.quit, "it was brought back")

	b := tuitest.NewDemo()
	b.Dead = 2
	a = pickApp(t, b, Options{}, 80, 24)
	send(t, a, "h")
	assert.Contains(t, picture(t, a), "a workbench that was killed had deleted 2 runs: u brings them back")
	send(t, a, "q")
	assert.True(t, a.quit, "they stay where they are")
}

// That a key does nothing stands in the place of the keys for three seconds at most, and until the next
// key: what is edited then shows its own.
func TestThatAKeyDoesNothingIsSaidBriefly(t *testing.T) {
	const nothing = "ü does nothing here"
	for name, to := range map[string]func(*testing.T) *testApp{
		"first screen": func(t *testing.T) *testApp { return pickApp(t, tuitest.NewDemo(), Options{}, 80, 24) },
		"results":      func(t *testing.T) *testApp { a, _ := resultsApp(t, Options{}, 80, 24); return a },
		"live":         func(t *testing.T) *testApp { a, _ := dashApp(t, Options{}, 1, 3*time.Second, 80, 24); return a },
		"runs":         func(t *testing.T) *testApp { return appAt(t, tuitest.NewDemo(), Options{}, screen.Runs{}, 80, 24) },
	} {
		t.Run(name, func(t *testing.T) {
			a := to(t)
			send(t, a, "ü")
			require.Contains(t, picture(t, a), nothing)
			at := a.env.Now
			send(t, a, screen.FrameMsg{At: at.Add(2900 * time.Millisecond), Gen: a.gen})
			assert.Contains(t, picture(t, a), nothing)
			send(t, a, screen.FrameMsg{At: at.Add(3 * time.Second), Gen: a.gen})
			assert.NotContains(t, picture(t, a), nothing)
			send(t, a, "ü", "down")
			assert.NotContains(t, picture(t, a), nothing)
		})
	}
	a := pickApp(t, tuitest.NewDemo(), Options{}, 80, 24)
	send(t, a, "tab", "ü")
	require.Contains(t, picture(t, a), nothing)
	send(t, a, "enter")
	require.True(t, a.stack.typing())
	assert.NotContains(t, picture(t, a), nothing)
	assert.Contains(t, picture(t, a), "enter keep")
}

// The key that stops asks first, on every screen that has it; y or the key itself answers yes.
func TestOneKeyStopsNoRun(t *testing.T) {
	for name, to := range map[string]func() (*testApp, func() bool){
		"run": func() (*testApp, func() bool) {
			a, run := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
			return a, func() bool { return run.Stopped }
		},
		"tuning": func() (*testApp, func() bool) {
			a, run := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
			send(t, a, "t")
			return a, func() bool { return run.Stopped }
		},
		"too small": func() (*testApp, func() bool) {
			a, run := dashApp(t, Options{}, 1, 3*time.Second, 40, 8)
			return a, func() bool { return run.Stopped }
		},
		"sweep": func() (*testApp, func() bool) {
			b := tuitest.NewDemo()
			b.NextSweep = tuitest.NewSweepRun(screen.SweepNow{Result: tuitest.NewSweep(3)})
			a := pickApp(t, b, Options{}, 80, 24)
			send(t, a, "w", "enter", frame(a))
			return a, func() bool { return b.NextSweep.Stopped }
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, stopped := to()
			const asks = `Stop the (run|sweep)\? \[y/N\]`
			send(t, a, "x", frame(a))
			assert.Regexp(t, asks, picture(t, a))
			for _, no := range []string{"enter", "esc", "n"} {
				send(t, a, no, frame(a))
				assert.NotRegexp(t, asks, picture(t, a), no)
				send(t, a, "x", "down")
				assert.Regexp(t, asks, picture(t, a), "until it is answered")
			}
			send(t, a, tea.KeyPressMsg{Code: 'x', Mod: tea.ModAlt})
			assert.False(t, stopped(), "escape comes before it")
			send(t, a, "x")
			assert.True(t, stopped())
			a, stopped = to()
			send(t, a, "x", "y", frame(a))
			assert.True(t, stopped())
			assert.NotRegexp(t, asks, picture(t, a))
		})
	}
}

// answers reports whether the screen on top says what a key does that it has no use for.
func answers(a *testApp) bool {
	a.View()
	_, ok := a.stack.top().(screen.Listener)
	return ok && !a.stack.typing()
}

// A key that a screen does not have is answered, and changes nothing.
func TestAKeyThatDoesNothingSaysSo(t *testing.T) {
	for name, to := range states(120, 40) {
		t.Run(name, func(t *testing.T) {
			a := to(t)
			if !answers(a) {
				return
			}
			for _, k := range []string{"x", "S", "Y", "T", "m", "w", "F", "b", "(", "y", "ü"} {
				if _, has := a.stack.top().Keys().Of(tuitest.KeyPress(k)); has {
					continue
				}
				a := to(t)
				send(t, a, k, frame(a))
				assert.Regexp(t, regexp.QuoteMeta(k)+`.* does nothing here.*; \? lists the keys|only watches|are left to where the run was started`, picture(t, a), k)
			}
		})
	}
}

// So is a key that types nothing and that no screen lists, unless it moves something.
func TestAKeyThatTypesNothingIsAnswered(t *testing.T) {
	for name, to := range states(120, 40) {
		t.Run(name, func(t *testing.T) {
			if a := to(t); !answers(a) {
				return
			}
			for _, k := range []string{"f5", "f9", "backspace", "pgup", "pgdown", "enter", "ctrl+a", "ctrl+r", "ctrl+x", "ctrl+z"} {
				a := to(t)
				a.suspend = false
				if a.View(); a.stack.top().Keys().Takes(tuitest.KeyPress(k)) {
					continue
				}
				if k == "pgup" && name == "picker" { // that the first profile is selected is seen
					continue
				}
				before := picture(t, a)
				send(t, a, k)
				assert.False(t, before == picture(t, a), k)
			}
		})
	}
	a, _ := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	a.suspend = false
	for k, said := range map[string]string{
		"f5": "f5 does nothing here; ? lists the keys", "enter": "enter does nothing here", "ctrl+z": "ctrl+z does nothing: no shell here",
	} {
		send(t, a, k)
		assert.Contains(t, picture(t, a), said)
	}
}

// F1 is help, where text is typed, too.
func TestF1IsHelp(t *testing.T) {
	for name, to := range states(120, 40) {
		a := to(t)
		send(t, a, "f1")
		assert.Equal(t, help, a.overlay, name)
	}
}

// Where a key that does nothing works is said.
func TestAKeyThatDoesNothingSaysWhereItWorks(t *testing.T) {
	for _, c := range []struct{ state, key, said string }{
		{"history", "e", "e (export) does nothing here, only in results"},
		{"history", "m", "m (mark) does nothing here, only while a run goes on"},
		{"results", "Z", "Z (archive) does nothing here, only in the list of runs"},
		{"results", "E", "E (end search) does nothing here, only while a search goes on"},
		{"dashboard", "h", "h (earlier runs) does nothing here, only where no run is live"},
		{"dashboard", "n", "n (note) does nothing here, only on a run that has ended"},
	} {
		a := states(120, 40)[c.state](t)
		send(t, a, c.key, frame(a))
		assert.Contains(t, picture(t, a), c.said+"; ? lists the keys")
	}
}

// A key that is dimmed in the list of keys is answered, too: by what the screen knows, or else that it does nothing now.
func TestADimmedKeySaysSo(t *testing.T) {
	for name, to := range states(120, 40) {
		t.Run(name, func(t *testing.T) {
			a := to(t)
			if !answers(a) {
				return
			}
			keys := a.stack.top().Keys()
			for _, group := range keys.FullHelp() {
				for _, b := range group {
					if b.Enabled() || len(b.Keys()) == 0 || keys.Takes(tuitest.KeyPress(b.Keys()[0])) {
						continue
					}
					if press := tuitest.KeyPress(b.Keys()[0]); press.Text == "" && press.String() != "enter" {
						continue // that nothing moves is seen
					}
					a := to(t)
					before := picture(t, a)
					send(t, a, b.Keys()[0], frame(a))
					assert.NotEqual(t, before, picture(t, a), "%s: %s", b.Keys()[0], b.Help().Desc)
				}
			}
		})
	}
}

// H goes to the first screen at once, however many lie above it; while a run is going, to that.
func TestOneKeyGoesToTheFirstScreen(t *testing.T) {
	a, _ := resultsApp(t, Options{}, 120, 40)
	a.stack[0].Update(tea.KeyPressMsg{Code: tea.KeyRight}, a.env)
	send(t, a, "h", "enter", "h")
	require.Len(t, a.stack, 5)
	send(t, a, "?")
	assert.Contains(t, picture(t, a), "H  first screen")
	send(t, a, "esc", "/", "H")
	require.Len(t, a.stack, 5, "a letter of a filter")
	send(t, a, "esc", "H")
	assert.Len(t, a.stack, 1)
	assert.Contains(t, picture(t, a), "→ values", "the list of profiles has the keys")
	send(t, a, "?")
	assert.NotContains(t, picture(t, a), "first screen", "that is it")
	send(t, a, "esc", "H")
	assert.Contains(t, picture(t, a), "this is the first screen")

	d, _ := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	at := len(d.stack)
	send(t, d, "H")
	assert.Len(t, d.stack, at, "a run is not left")
	assert.Contains(t, picture(t, d), "not left by H")
	send(t, d, screen.OpenMsg{To: screen.Runs{}}, screen.OpenMsg{To: screen.Runs{}}, "H")
	assert.Len(t, d.stack, at)
}

// A key that the help does not use closes it, and does nothing else.
func TestAnyOtherKeyClosesTheHelp(t *testing.T) {
	for _, k := range []string{"x", "enter", "ctrl+u", "H", "?"} {
		a, _ := resultsApp(t, Options{}, 120, 40)
		send(t, a, "?")
		require.Equal(t, help, a.overlay)
		send(t, a, "down")
		require.Equal(t, help, a.overlay, "it scrolls")
		at := len(a.stack)
		send(t, a, k)
		assert.Equal(t, none, a.overlay, k)
		assert.Len(t, a.stack, at, k)
	}
}

// A sweep whose runs are listed stays so when the list is left and opened again.
func TestAnOpenedSweepStaysOpen(t *testing.T) {
	b := tuitest.NewDemo()
	done := tuitest.NewSweep(2, b.Past[0].ID, b.Past[1].ID)
	b.PastSweeps = []sweep.Kept{{ID: "260503-235900-ingestion-sweep", When: tuitest.Day.Add(23*time.Hour + 59*time.Minute), Result: &done}}
	a := pickApp(t, b, Options{}, 120, 40)
	send(t, a, "h")
	require.Contains(t, picture(t, a), "▸ + ")
	send(t, a, "right", "down", "enter", "H", "h")
	assert.Contains(t, picture(t, a), "▸ − ")
	send(t, a, "left", "esc", "h")
	assert.Contains(t, picture(t, a), "▸ + ")
}

// Help in a form does not name keys that are typed there.
func TestHelpInAFormNamesOnlyWhatWorks(t *testing.T) {
	all := states(120, 40)
	for _, name := range []string{"search asked", "sweep asked", "picker typing"} {
		a := all[name](t)
		send(t, a, "?")
		assert.Equal(t, help, a.overlay, name)
		got := picture(t, a)
		assert.NotRegexp(t, ` [qLH]  (quit|log|first screen)`, got, name)
		assert.Contains(t, got, "ctrl+c  quit", name)
	}
}

// A start that has failed is left by H, one that is under way by esc alone.
func TestAFailedStartIsLeftByTheKeyToTheFirstScreen(t *testing.T) {
	for name, left := range map[string]bool{"starting failed": true, "starting": false} {
		b := tuitest.NewDemo()
		a := pickApp(t, b, Options{}, 120, 40)
		s := dashboard.NewStarting(b, dashboard.Bench{Past: b, Presets: b}, "", screen.Start{})
		a.stack = append(a.stack, s)
		if left {
			b.StartErr = errors.New("x")
			perform(t, a, s.Start(a.env))
		}
		send(t, a, "H")
		assert.Equal(t, left, len(a.stack) == 1, name)
	}
}
