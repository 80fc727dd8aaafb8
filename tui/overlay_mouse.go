package tui

import (
	"image"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/widget"
)

// overlayMouse scrolls with the wheel. Clicking a key in the help presses it, and clicking
// anywhere else closes the overlay.
func (a *App) overlayMouse(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelDown {
			a.scroll++
		} else {
			a.scroll = max(a.scroll-1, 0)
		}
	case tea.MouseClickMsg:
		if msg.Button != tea.MouseLeft || a.overlay == command || a.overlay == finishing {
			return nil
		}
		_, _, r := a.box()
		at := image.Pt(msg.X-r.Min.X-1, msg.Y-r.Min.Y-1)
		inside := image.Pt(msg.X, msg.Y).In(r.Inset(1))
		was := a.overlay
		a.overlay = none
		switch {
		case !inside || was == logs:
		default:
			return a.clickHelp(at)
		}
	}
	return nil
}

// clickHelp presses the key whose line of the help was clicked.
func (a *App) clickHelp(at image.Point) tea.Cmd {
	columns, wide := helpColumns(a.env, a.helpGroups())
	n, row := at.X/wide, at.Y+a.scroll
	if n >= len(columns) || row >= len(columns[n]) {
		return nil
	}
	b := columns[n][row].b
	if len(b.Keys()) == 0 || key.Matches(widget.PressOf(b.Keys()[0]), widget.AllKeys.Help) {
		return nil
	}
	return a.press(widget.Clicked(b))
}
