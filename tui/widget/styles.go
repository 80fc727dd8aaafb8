package widget

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

// Ink colours text. It is a lipgloss style boiled down to what it writes before
// and after, because every frame is drawn with it.
type Ink struct{ before, after string }

func newInk(s lipgloss.Style) Ink {
	before, after, _ := strings.Cut(s.Render("\x00"), "\x00")
	if before == "" {
		// Some versions drop the NUL; a letter is always kept.
		before, after, _ = strings.Cut(s.Render("x"), "x")
	}
	return Ink{before, after}
}

// On returns text in this ink. Text must hold no escape codes.
func (k Ink) On(text string) string {
	if text == "" || k.before == "" {
		return text
	}
	return k.before + text + k.after
}

// Styles is what screens draw with.
type Styles struct {
	Name                                     string
	Plain, Bold, Muted, Line, OK, Warn, Bad  Ink
	Accent, title, FocusTitle, focusLine     Ink
	Selected, Key, KeyOff, now, Past, future Ink
	Series                                   [4]Ink
	Gone, cursor                             Ink
}

// NewStyles derives every style from a theme; dark tells what auto means.
func NewStyles(theme string, dark bool) *Styles {
	if theme == ThemeMono {
		return monoStyles()
	}
	name, p := "light", lightPalette
	if theme == ThemeDark || theme != ThemeLight && dark {
		name, p = "dark", darkPalette
	}
	fg := func(c color.Color) lipgloss.Style { return lipgloss.NewStyle().Foreground(c) }
	s := &Styles{
		Name: name,
		Bold: newInk(lipgloss.NewStyle().Bold(true)), Muted: newInk(fg(p.muted)), Line: newInk(fg(p.line)),
		OK: newInk(fg(p.ok)), Warn: newInk(fg(p.warn)), Bad: newInk(fg(p.bad).Bold(true)),
		Accent: newInk(fg(p.accent)), title: newInk(fg(p.accent)), FocusTitle: newInk(fg(p.accent).Bold(true)), focusLine: newInk(fg(p.accent)),
		Selected: newInk(fg(p.accent).Bold(true)), Key: newInk(lipgloss.NewStyle().Bold(true)), KeyOff: newInk(fg(p.line)),
		now: newInk(fg(p.muted)), Past: newInk(fg(p.muted)), future: newInk(fg(p.line)),
		Gone: newInk(fg(p.bad).Bold(true).Reverse(true)), cursor: newInk(lipgloss.NewStyle().Reverse(true)),
	}
	for i, c := range p.series {
		s.Series[i] = newInk(fg(c))
	}
	return s
}

// monoStyles says with weight alone what the others say with colour too.
func monoStyles() *Styles {
	bold, faint := lipgloss.NewStyle().Bold(true), lipgloss.NewStyle().Faint(true)
	s := &Styles{
		Name: "mono",
		Bold: newInk(bold), Muted: newInk(faint), Line: newInk(faint), Warn: newInk(bold), Bad: newInk(bold),
		FocusTitle: newInk(bold), focusLine: newInk(lipgloss.NewStyle()), Selected: newInk(bold),
		Key: newInk(bold), KeyOff: newInk(faint), now: newInk(faint), Past: newInk(faint), future: newInk(faint),
		Gone: newInk(bold.Reverse(true)), cursor: newInk(lipgloss.NewStyle().Reverse(true)),
	}
	return s
}
