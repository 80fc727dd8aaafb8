package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// picker is the first screen: which profile, on which store.
type picker struct {
	req Request
}

func newPicker(e env) *picker { return &picker{req: e.opts.Request} }

func (p *picker) update(msg tea.Msg, e env) (screen, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok && key.Matches(k, allKeys.Start) {
		return p, startRun(p.req)
	}
	return p, nil
}

func (p *picker) view(e env) string {
	lines := []string{fit(e.styles.bold.on(" perfbench"), e.w)}
	lines = append(lines, panel{title: "Profiles", focused: true}.draw(e.styles, e.w, e.h-2, nil)...)
	return page(e.w, e.h, append(lines, footer(e, p.keys().short)))
}

func (p *picker) keys() keyMap {
	k := allKeys
	return keyMap{
		short: []key.Binding{k.Start, k.Help, k.Quit},
		full:  [][]key.Binding{{k.Start}},
	}
}
