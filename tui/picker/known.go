package picker

import (
	"cmp"
	"reflect"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// knownMsg delivers recent targets and the presets of all profiles.
type knownMsg struct {
	recent  []string
	presets map[string][]screen.Preset
	last    map[string]request.Request
	err     error // of reading last
}

// know reads the known presets and targets, in the background.
func (p *Picker) know() tea.Cmd {
	b, profiles := p.bench, p.profiles
	return func() tea.Msg {
		msg := knownMsg{recent: b.Recent(), presets: map[string][]screen.Preset{}}
		msg.last, msg.err = b.Last()
		for i := range profiles {
			if built(&profiles[i]) {
				msg.presets[profiles[i].Name] = b.Presets(profiles[i].Name)
			}
		}
		return msg
	}
}

// recall restores the last settings of each profile for which nothing has been set yet,
// here or by a flag, and reports whether the selected one is among them.
func (p *Picker) recall(last map[string]request.Request) bool {
	begun := p.begun
	p.begun = nil
	if begun == nil || p.Typing() {
		return false
	}
	for name, r := range last {
		now, is := p.requests[name]
		out := now.Out
		now.Out, now.Profile, r.Profile = "", "", name
		if len(now.Values) == 0 {
			now.Values = nil
		}
		if !is || reflect.DeepEqual(now, request.Request{}) {
			r.Out = cmp.Or(r.Out, out)
			p.requests[name] = r
		}
	}
	return !reflect.DeepEqual(p.requests[p.name], begun[p.name])
}

// elsewhere returns the request for use outside the workbench, where the defaults for
// preset and length differ: it has both set explicitly.
func (p *Picker) elsewhere() request.Request {
	r := p.request()
	if p.preview == nil {
		return r
	}
	if v, ok := lineOf(p.preview.Run, "preset"); ok && r.Preset == "" && len(r.Files) == 0 {
		r.Preset = v.Text
	}
	if v, ok := lineOf(p.preview.Run, "duration"); ok && v.Text == workload.Forever {
		r.Values = without(r.Values, v.Name)
		r.Values[v.Name] = workload.Value{Name: v.Name, Text: v.Text, Origin: workload.OriginFlag}
	}
	return r
}
