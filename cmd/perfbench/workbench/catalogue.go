package workbench

import (
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// catalogue is what there is to choose from: profiles, their presets, stores.
type catalogue struct{ env session.Env }

func (c catalogue) Profiles() []workload.Profile { return c.env.Profiles }

func (c catalogue) profile(name string) (workload.Profile, bool) {
	for _, p := range c.env.Profiles {
		if p.Name == name {
			return p, true
		}
	}
	return workload.Profile{}, false
}

// Presets lists the built-in presets, the default first, then the user's own.
func (c catalogue) Presets(profile string) []screen.Preset {
	p, ok := c.profile(profile)
	if !ok {
		return nil
	}
	var first, rest []screen.Preset
	if p.Presets != nil {
		list, err := request.Presets(p.Presets)
		if err != nil {
			c.env.Log.Warn("The presets could not be listed", "error", err)
		}
		for _, info := range list {
			one := screen.Preset{Name: info.Name, Summary: info.Description}
			if info.Name == p.DefaultPreset {
				first = append(first, one)
			} else {
				rest = append(rest, one)
			}
		}
	}
	return append(first, rest...)
}

func (catalogue) Stores() []screen.StoreInfo {
	var out []screen.StoreInfo
	for _, d := range drivers.All() {
		out = append(out, screen.StoreInfo{Driver: d.Name, Title: d.Title, Example: d.Example})
	}
	return out
}
