package tui

import (
	"errors"
	"testing"
	"time"

	"charm.land/bubbles/v2/key"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/dashboard/starting"
	"github.com/perfbench/perfbench/tui/results"
	"github.com/perfbench/perfbench/tui/runs"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/sweeps"
	"github.com/perfbench/perfbench/tui/tuitest"
	"github.com/perfbench/perfbench/tui/widget"
)

// allScreens builds every screen in every state that changes its keys. A new
// screen is added here.
func allScreens(t *testing.T) map[string]screen.Screen {
	t.Helper()
	b := tuitest.NewDemo()
	past := tuitest.NewSweep(14)
	b.PastSweeps = []sweep.Kept{{ID: "260503-120000-ingestion-sweep", Result: &past}}
	out := map[string]screen.Screen{
		"starting":        starting.New(b, screen.Start{}),
		"starting failed": appAt(t, &tuitest.Bench{StartErr: errors.New("x")}, Options{}, screen.Start{}, 120, 40).top(),
		"dashboard":       dashboard.New(b, tuitest.NewRun(2)),
		"results empty":   results.NewEnded(b, screen.Outcome{ID: "x"}, time.Time{}),
		"history empty":   runs.New(b, ""),
		"sweep asked":     sweeps.Ask(b, screen.AskSweep{}),
		"sweep":           appAt(t, b, Options{}, screen.Sweep{ID: b.PastSweeps[0].ID}, 120, 40).top(),
		"compare empty":   runs.NewComparison(b, []string{"a"}, []string{"b"}),
	}
	for name, keys := range map[string][]any{
		"picker": nil, "picker filter": {"/"}, "picker form": {"right"}, "picker typing": {"right", "enter"}, "picker finding": {"right", "/"}, "picker plan": {"tab", "tab"}, "picker runs": {"shift+tab"},
		"picker planned": {"G"}, "history": {"h"}, "history filter": {"h", "/"}, "history chosen": {"h", "space", "down"}, "history sides": {"h", "a", "down", "b"}, "compare": {"h", "space", "down", "c"},
		"searching": {"enter", "f"}, "results": {"h", "enter"}, "results distribution": {"h", "enter", "tab", "tab"}, "export": {"h", "enter", "e"}, "export folder": {"h", "enter", "e", "tab"},
	} {
		a := pickApp(t, tuitest.NewDemo(), Options{}, 120, 40)
		send(t, a, keys...)
		out[name] = a.top()
	}
	return out
}

func TestNoScreenHasTwoEnabledBindingsOnOneKey(t *testing.T) {
	for name, s := range allScreens(t) {
		t.Run(name, func(t *testing.T) {
			seen := map[string]string{}
			groups := append([][]key.Binding{widget.AllKeys.Global(true)}, s.Keys().FullHelp()...)
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
