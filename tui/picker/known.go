package picker

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// known is what is known to choose values from.
type known struct {
	catalogue Catalogue
	memory    Memory
	// every are the parameters that every run has.
	every   []workload.Param
	recent  []string
	presets map[string][]screen.Preset
}

// knownMsg delivers recent targets and the presets of all profiles.
type knownMsg struct {
	recent  []string
	presets map[string][]screen.Preset
	last    map[string]request.Request
	err     error // of reading last
}

// read reads the known presets and targets, in the background.
func (k *known) read(list *profiles) tea.Cmd {
	catalogue, memory, all := k.catalogue, k.memory, list.all
	return func() tea.Msg {
		msg := knownMsg{recent: memory.Recent(), presets: map[string][]screen.Preset{}}
		msg.last, msg.err = memory.Last()
		for i := range all {
			if built(&all[i]) {
				msg.presets[all[i].Name] = catalogue.Presets(all[i].Name)
			}
		}
		return msg
	}
}

// targets lists what the target can be switched to: recent ones, then an example of
// each store that the profile runs on.
func (k *known) targets(pr *workload.Profile, stores []screen.StoreInfo) []string {
	out := []string{widget.DefaultTarget}
	add := func(t string) {
		if t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, t := range k.recent {
		add(t)
	}
	for _, st := range stores {
		if b, ok := pr.Binding(st.Driver); ok && b.Refuse == "" {
			add(st.Example)
		}
	}
	return out
}

// has reports whether a value is one of the parameters.
func has(params []workload.Param, name string) bool {
	return slices.ContainsFunc(params, func(q workload.Param) bool { return q.Name == name })
}
