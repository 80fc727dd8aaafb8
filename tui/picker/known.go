package picker

import (
	"slices"

	tea "charm.land/bubbletea/v2"

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
	labs    []string // targets of the lab
	presets map[string][]screen.Preset
}

// knownMsg delivers recent targets and the presets of all profiles.
type knownMsg struct {
	recent  []string
	presets map[string][]screen.Preset
}

// read reads the known presets and targets: a few small files.
func (k *known) read(list *profiles) knownMsg {
	msg := knownMsg{recent: k.memory.Recent(), presets: map[string][]screen.Preset{}}
	for i := range list.all {
		if built(&list.all[i]) {
			msg.presets[list.all[i].Name] = k.catalogue.Presets(list.all[i].Name)
		}
	}
	return msg
}

// again reads them in the background.
func (k *known) again(list *profiles) tea.Cmd {
	before := *k
	return func() tea.Msg { return before.read(list) }
}

// learn takes what was read.
func (k *known) learn(msg knownMsg) { k.recent, k.presets = msg.recent, msg.presets }

// targets lists what is offered as a target: recent ones, then an example of each store
// that the profile runs on.
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
