package tui

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// Themes that --theme understands. The empty theme is auto.
const (
	ThemeAuto  = "auto"
	ThemeLight = "light"
	ThemeDark  = "dark"
	ThemeMono  = "mono"
)

// Themes lists them for completion and messages.
var Themes = []string{ThemeAuto, ThemeLight, ThemeDark, ThemeMono}

// palette is a theme: colours by meaning. Only this file knows hex values.
type palette struct {
	accent, muted, line, ok, warn, bad color.Color
	series                             [4]color.Color
}

var (
	lightPalette = palette{
		accent: lipgloss.Color("#5B3DF5"), muted: lipgloss.Color("#5F6472"), line: lipgloss.Color("#C9CDD6"),
		ok: lipgloss.Color("#00704A"), warn: lipgloss.Color("#8A5A00"), bad: lipgloss.Color("#B3261E"),
		series: [4]color.Color{lipgloss.Color("#0063A6"), lipgloss.Color("#A65F00"), lipgloss.Color("#00735C"), lipgloss.Color("#A0417A")},
	}
	darkPalette = palette{
		accent: lipgloss.Color("#A896FF"), muted: lipgloss.Color("#9AA0B2"), line: lipgloss.Color("#3C4152"),
		ok: lipgloss.Color("#35C98F"), warn: lipgloss.Color("#F0B429"), bad: lipgloss.Color("#FF7A70"),
		series: [4]color.Color{lipgloss.Color("#56B4E9"), lipgloss.Color("#E69F00"), lipgloss.Color("#2FBF9B"), lipgloss.Color("#E08BB9")},
	}
)

// ink colours text. It is a lipgloss style boiled down to what it writes before
// and after, because frames are drawn ten times a second.
type ink struct{ before, after string }

func newInk(s lipgloss.Style) ink {
	before, after, _ := strings.Cut(s.Render("\x00"), "\x00")
	if before == "" {
		// Some versions drop the NUL; a letter is always kept.
		before, after, _ = strings.Cut(s.Render("x"), "x")
	}
	return ink{before, after}
}

// on returns text in this ink. Text must hold no escape codes.
func (k ink) on(text string) string {
	if text == "" || k.before == "" {
		return text
	}
	return k.before + text + k.after
}

// styles is what screens draw with.
type styles struct {
	name                                     string
	plain, bold, muted, line, ok, warn, bad  ink
	accent, title, focusTitle, focusLine     ink
	selected, key, keyOff, now, past, future ink
	series                                   [4]ink
	gone, cursor                             ink
}

// newStyles derives every style from a theme; dark tells what auto means.
func newStyles(theme string, dark bool) *styles {
	if theme == ThemeMono {
		return monoStyles()
	}
	name, p := "light", lightPalette
	if theme == ThemeDark || theme != ThemeLight && dark {
		name, p = "dark", darkPalette
	}
	fg := func(c color.Color) lipgloss.Style { return lipgloss.NewStyle().Foreground(c) }
	s := &styles{
		name: name,
		bold: newInk(lipgloss.NewStyle().Bold(true)), muted: newInk(fg(p.muted)), line: newInk(fg(p.line)),
		ok: newInk(fg(p.ok)), warn: newInk(fg(p.warn)), bad: newInk(fg(p.bad).Bold(true)),
		accent: newInk(fg(p.accent)), title: newInk(fg(p.accent)), focusTitle: newInk(fg(p.accent).Bold(true)), focusLine: newInk(fg(p.accent)),
		selected: newInk(fg(p.accent).Bold(true)), key: newInk(lipgloss.NewStyle().Bold(true)), keyOff: newInk(fg(p.line)),
		now: newInk(fg(p.muted)), past: newInk(fg(p.muted)), future: newInk(fg(p.line)),
		gone: newInk(fg(p.bad).Bold(true).Reverse(true)), cursor: newInk(lipgloss.NewStyle().Reverse(true)),
	}
	for i, c := range p.series {
		s.series[i] = newInk(fg(c))
	}
	return s
}

// monoStyles says with weight alone what the others say with colour too.
func monoStyles() *styles {
	bold, faint := lipgloss.NewStyle().Bold(true), lipgloss.NewStyle().Faint(true)
	s := &styles{
		name: "mono",
		bold: newInk(bold), muted: newInk(faint), line: newInk(faint), warn: newInk(bold), bad: newInk(bold),
		focusTitle: newInk(bold), focusLine: newInk(lipgloss.NewStyle()), selected: newInk(bold),
		key: newInk(bold), keyOff: newInk(faint), now: newInk(faint), past: newInk(faint), future: newInk(faint),
		gone: newInk(bold.Reverse(true)), cursor: newInk(lipgloss.NewStyle().Reverse(true)),
	}
	return s
}
