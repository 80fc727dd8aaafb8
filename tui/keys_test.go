package tui

import (
	"testing"

	"charm.land/bubbles/v2/key"
	"github.com/stretchr/testify/assert"
)

// allScreens builds every screen in every state that changes its keys. A new
// screen is added here.
func allScreens(e env) map[string]screen {
	return map[string]screen{
		"picker":    newPicker(e),
		"starting":  newStarting(Request{}),
		"dashboard": newDashboard(newFakeRun(2), e),
		"results":   newResults(e, Outcome{ID: "x"}),
	}
}

func TestNoScreenHasTwoEnabledBindingsOnOneKey(t *testing.T) {
	for name, s := range allScreens(newTestEnv(&fakeBench{})) {
		t.Run(name, func(t *testing.T) {
			seen := map[string]string{}
			groups := append([][]key.Binding{allKeys.global()}, s.keys().FullHelp()...)
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
	for name, s := range allScreens(newTestEnv(&fakeBench{})) {
		listed := map[string]bool{}
		for _, g := range append([][]key.Binding{allKeys.global()}, s.keys().FullHelp()...) {
			for _, b := range g {
				for _, k := range b.Keys() {
					listed[k] = true
				}
			}
		}
		for _, b := range s.keys().ShortHelp() {
			for _, k := range b.Keys() {
				assert.True(t, listed[k], "%s: %s %s", name, k, b.Help().Desc)
			}
		}
	}
}
