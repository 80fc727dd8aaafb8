package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// overlay is what floats above the screen.
type overlay int

const (
	none overlay = iota
	help
	logs
	quitting
)

// overlayKey handles a key while something floats.
func (a *App) overlayKey(msg tea.KeyPressMsg) tea.Cmd {
	if a.overlay == quitting {
		switch msg.String() {
		case "y", "Y", "enter":
			return a.leave()
		case "n", "N", "esc", "q":
			a.overlay = none
		}
		return nil
	}
	switch {
	case key.Matches(msg, allKeys.Interrupt), key.Matches(msg, allKeys.Quit), key.Matches(msg, allKeys.Back),
		a.overlay == help && key.Matches(msg, allKeys.Help), a.overlay == logs && key.Matches(msg, allKeys.Logs):
		a.overlay = none
	case key.Matches(msg, allKeys.Down):
		a.scroll++
	case key.Matches(msg, allKeys.Up):
		a.scroll = max(a.scroll-1, 0)
	case key.Matches(msg, allKeys.PageDown):
		a.scroll += a.env.h / 2
	case key.Matches(msg, allKeys.PageUp):
		a.scroll = max(a.scroll-a.env.h/2, 0)
	}
	return nil
}

// overlayMouse scrolls by the wheel and closes by a click.
func (a *App) overlayMouse(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelDown {
			a.scroll++
		} else {
			a.scroll = max(a.scroll-1, 0)
		}
	case tea.MouseClickMsg:
		a.overlay = none
	}
}

// float draws the overlay above a page.
func (a *App) float(page string) string {
	var p panel
	var lines []string
	switch a.overlay {
	case help:
		p, lines = panel{title: "Keys", foot: "esc closes"}, helpLines(a.env, a.top().keys())
	case logs:
		p, lines = panel{title: "Log", foot: "esc closes"}, logLines(a.env, a.logs)
	default:
		p, lines = panel{title: "Stop the run and quit?"}, quitLines(a.env)
	}
	p.focused = true
	wide := 0
	for _, l := range lines {
		wide = max(wide, ansi.StringWidth(l))
	}
	w, h := min(max(wide+4, ansi.StringWidth(p.title)+8), a.env.w-2), min(len(lines)+2, a.env.h-2)
	a.scroll = min(a.scroll, max(len(lines)-(h-2), 0))
	if len(lines) > h-2 {
		p.note = fmt.Sprintf("%d–%d of %d", a.scroll+1, a.scroll+h-2, len(lines))
		lines = lines[a.scroll:]
	}
	box := strings.Join(p.draw(a.env.styles, w, h, lines), "\n")
	out := lipgloss.NewCompositor(
		lipgloss.NewLayer(page),
		lipgloss.NewLayer(box).ID("overlay").X((a.env.w-w)/2).Y((a.env.h-h)/2).Z(1),
	).Render()
	lines = strings.Split(out, "\n") // without the spaces at the ends
	for i := range lines {
		lines[i] = fit(lines[i], a.env.w)
	}
	return strings.Join(lines, "\n")
}

// helpLines lists all keys of a screen and the global ones, group by group, in
// two columns where there is room.
func helpLines(e env, k keyMap) []string {
	groups := append([][]key.Binding{}, k.FullHelp()...)
	groups = append(groups, allKeys.global(e.suspend))
	var col []string
	for i, g := range groups {
		if i > 0 {
			col = append(col, "")
		}
		for _, b := range g {
			name := " " + fitRight(b.Help().Key, 9) + "  "
			if b.Enabled() {
				col = append(col, fit(e.styles.key.on(name)+b.Help().Desc, 36))
			} else {
				col = append(col, fit(e.styles.keyOff.on(name+b.Help().Desc), 36))
			}
		}
	}
	if e.w < 80 || len(col) < 12 {
		return col
	}
	cut := (len(col) + 1) / 2
	for cut < len(col) && cut > 0 && strings.TrimSpace(col[cut-1]) != "" && strings.TrimSpace(col[cut]) != "" {
		cut++
	}
	left, right := col[:cut], col[cut:]
	if len(right) > 0 && strings.TrimSpace(right[0]) == "" {
		right = right[1:]
	}
	for len(left) < len(right) {
		left = append(left, "")
	}
	out := make([]string, len(left))
	for i := range left {
		out[i] = fit(left[i], 36)
		if i < len(right) {
			out[i] += right[i]
		}
	}
	return out
}

func logLines(e env, log []string) []string {
	if len(log) == 0 {
		return []string{" Nothing has been logged yet."}
	}
	out := make([]string, len(log))
	for i, l := range log {
		out[i] = " " + ansi.Truncate(ansi.Strip(l), e.w-6, "…")
	}
	return out
}

func quitLines(e env) []string {
	s := e.styles
	return []string{
		"",
		"  The report of what was measured is written.",
		"",
		"  " + s.key.on("enter") + " stop and quit   " + s.key.on("esc") + " stay",
		"  " + s.key.on("ctrl+c") + " stop at once",
	}
}

// tooSmallView says what is needed; a run goes on.
func tooSmallView(e env) string {
	text := fmt.Sprintf("perfbench needs %d×%d, this is %d×%d", minWidth, minHeight, e.w, e.h)
	lines := blankLines(e.w, e.h)
	text = ansi.Truncate(text, e.w, "…")
	pad := (e.w - ansi.StringWidth(text)) / 2
	lines[e.h/2] = fit(strings.Repeat(" ", pad)+text, e.w)
	return strings.Join(lines, "\n")
}
