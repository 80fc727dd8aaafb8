package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// dashboard is the live screen of a run.
type dashboard struct {
	run   Run
	ended bool
}

func newDashboard(r Run, e env) *dashboard { return &dashboard{run: r} }

func (d *dashboard) running() Run {
	if d.ended {
		return nil
	}
	return d.run
}

func (d *dashboard) update(msg tea.Msg, e env) (screen, tea.Cmd) { return d, nil }

func (d *dashboard) view(e env) string { return page(e.w, e.h, nil) }

func (d *dashboard) keys() keyMap { return keyMap{full: [][]key.Binding{}} }
