package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// results shows a finished run.
type results struct {
	outcome Outcome
}

func newResults(_ env, o Outcome) *results { return &results{outcome: o} }

func (r *results) update(msg tea.Msg, e env) (screen, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok && key.Matches(k, allKeys.Back) {
		return r, back
	}
	return r, nil
}

func (r *results) view(e env) string {
	lines := []string{fit(e.styles.bold.on(" Results"), e.w)}
	text := strings.Split(strings.TrimRight(r.outcome.Summary, "\n"), "\n")
	if r.outcome.Err != nil {
		text = append(text, "", r.outcome.Err.Error())
	}
	lines = append(lines, panel{title: r.outcome.ID, focused: true}.draw(e.styles, e.w, e.h-2, text)...)
	return page(e.w, e.h, append(lines, footer(e, r.keys().short)))
}

func (r *results) keys() keyMap {
	k := allKeys
	return keyMap{
		short: []key.Binding{k.Back, k.Help, k.Quit},
		full:  [][]key.Binding{{k.Back}},
	}
}
