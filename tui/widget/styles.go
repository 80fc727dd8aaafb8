package widget

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// Themes that --theme accepts. The empty theme is auto.
const (
	ThemeAuto  = "auto"
	ThemeLight = "light"
	ThemeDark  = "dark"
	ThemeMono  = "mono"
)

// Themes lists them for completion and messages.
var Themes = []string{ThemeAuto, ThemeLight, ThemeDark, ThemeMono}

// Steps is how many shades an area has from its bottom to its top, and Shades how many
// a heat map has.
const (
	Steps  = 5
	Shades = 7
)

// palette is a theme: colours by meaning, as lipgloss writes them: hex values, numbers
// from 16 on in a terminal of 256 colours, below 16 the terminal's own. Only this file
// knows them.
type palette struct {
	accent, muted, line, ok, warn, bad string
	// earlier is the line of the run that charts compare with: no hue, and so none of a series, whatever hues one sees.
	earlier string
	series  [4]string
	// ramps are the shades of an area of each series, from the bottom up, of one hue: where there
	// are fewer of it, a shade has several rows. heat are those of a heat map, from few to many.
	ramps [4][Steps]string
	heat  [Shades]string
}

// palettes by the number of colours a terminal has: all, 256, 16; light and dark.
var palettes = map[colorprofile.Profile][2]palette{
	colorprofile.TrueColor: {
		{
			accent: "#5B3DF5", muted: "#5F6472", line: "#C9CDD6", ok: "#00704A", warn: "#8A5A00", bad: "#B3261E", earlier: "#000000",
			series: [4]string{"#0063A6", "#A65F00", "#00735C", "#A0417A"},
			ramps: [4][Steps]string{
				{"#C5DDEE", "#94C0E0", "#64A4D0", "#3687BE", "#0063A6"},
				{"#F0DCC0", "#E1BD89", "#D19E54", "#BC7F26", "#A65F00"},
				{"#C2E2DA", "#8FC9BB", "#5DAE9C", "#2F937E", "#00735C"},
				{"#EBD0DF", "#D9AAC5", "#C784AB", "#B46292", "#A0417A"},
			},
			heat: [Shades]string{"#DCE6F5", "#B5C7EC", "#9B9FE0", "#8B70CC", "#7F42AC", "#701E80", "#4A0A4D"},
		},
		{
			accent: "#A896FF", muted: "#9AA0B2", line: "#3C4152", ok: "#35C98F", warn: "#F0B429", bad: "#FF7A70", earlier: "#FFFFFF",
			series: [4]string{"#56B4E9", "#E69F00", "#2FBF9B", "#E08BB9"},
			ramps: [4][Steps]string{
				{"#1F4560", "#2B5F85", "#3A7FAF", "#4799CC", "#56B4E9"},
				{"#5C410C", "#7F590B", "#A4720A", "#C58805", "#E69F00"},
				{"#174A3E", "#1D6553", "#23806A", "#299F82", "#2FBF9B"},
				{"#573A4B", "#7A4F68", "#9D6485", "#BE779F", "#E08BB9"},
			},
			heat: [Shades]string{"#26275A", "#40308C", "#6A35A8", "#A03C9E", "#D4537C", "#F5875A", "#FCD878"},
		},
	},
	colorprofile.ANSI256: {
		{
			accent: "57", muted: "240", line: "252", ok: "22", warn: "94", bad: "124", earlier: "16",
			series: [4]string{"25", "130", "29", "132"},
			ramps:  [4][Steps]string{{"153", "110", "110", "67", "25"}, {"223", "223", "215", "172", "130"}, {"115", "115", "72", "72", "29"}, {"218", "218", "175", "175", "132"}},
			heat:   [Shades]string{"189", "153", "141", "98", "91", "54", "53"},
		},
		{
			accent: "141", muted: "247", line: "238", ok: "42", warn: "214", bad: "209", earlier: "231",
			series: [4]string{"74", "178", "43", "175"},
			ramps:  [4][Steps]string{{"24", "24", "31", "31", "74"}, {"94", "94", "136", "136", "178"}, {"29", "29", "36", "36", "43"}, {"132", "132", "132", "132", "175"}},
			heat:   [Shades]string{"17", "54", "91", "127", "168", "209", "222"},
		},
	},
	// What the sixteen look like is the terminal's choice. On light, green, yellow and cyan are
	// too pale for words: what is good has the colour of text. White is not to be seen there at all.
	colorprofile.ANSI: {
		{
			accent: "4", muted: "8", line: "8", ok: "", warn: "5", bad: "1", earlier: "0",
			series: [4]string{"4", "5", "6", "3"},
			ramps:  [4][Steps]string{{"12", "12", "12", "4", "4"}, {"13", "13", "13", "5", "5"}, {"6", "6", "6", "6", "6"}, {"3", "3", "3", "3", "3"}},
			heat:   [Shades]string{"6", "6", "12", "12", "5", "4", "0"},
		},
		{
			accent: "13", muted: "7", line: "8", ok: "10", warn: "11", bad: "9", earlier: "15",
			series: [4]string{"12", "11", "14", "13"},
			ramps:  [4][Steps]string{{"4", "4", "4", "12", "12"}, {"3", "3", "3", "11", "11"}, {"6", "6", "6", "14", "14"}, {"5", "5", "5", "13", "13"}},
			heat:   [Shades]string{"4", "5", "12", "9", "13", "11", "15"},
		},
	},
}

// Ink colours text. It is a lipgloss style reduced to what it writes before and after,
// because every frame is drawn with it.
type Ink struct {
	before, after string
	behind        string // writes its colour as that of the background
}

func newInk(s lipgloss.Style) Ink {
	before, after, _ := strings.Cut(s.Render("\x00"), "\x00")
	if before == "" {
		// Some versions drop the NUL; a letter is always kept.
		before, after, _ = strings.Cut(s.Render("x"), "x")
	}
	return Ink{before: before, after: after}
}

// Over returns this ink on a background of the colour of another; the same where the other
// has none.
func (k Ink) Over(back Ink) Ink {
	if back.behind != "" {
		k.before = back.behind + k.before
	}
	return k
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
	Earlier                                  Ink
	Series                                   [4]Ink
	Gone, Alarm, cursor                      Ink
	// Ramp are the shades of an area of each series, from the bottom up, Heat those of
	// a heat map, from few to many.
	Ramp [4][Steps]Ink
	Heat [Shades]Ink
	// Spoken means that nothing is drawn: what has a meaning only by its place or its form is said
	// in words, and nothing is cut.
	Spoken bool
}

// Unbroken is how wide text is that is spoken: no sentence of it is broken.
const Unbroken = 1 << 10

// TextWidth returns how wide lines of text are in w cells: unbroken where they are spoken.
func (s *Styles) TextWidth(w int) int {
	if s.Spoken {
		return Unbroken
	}
	return w
}

// NewStyles derives every style from a theme; dark determines what auto means, colours
// is how many the terminal has.
func NewStyles(theme string, dark bool, colours colorprofile.Profile) *Styles {
	if theme == ThemeMono || colours <= colorprofile.ASCII && colours != colorprofile.Unknown {
		return monoStyles()
	}
	known, ok := palettes[colours]
	if !ok {
		known = palettes[colorprofile.TrueColor]
	}
	name, p := "light", &known[0]
	if theme == ThemeDark || theme != ThemeLight && dark {
		name, p = "dark", &known[1]
	}
	fg := func(c string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(c)) }
	area := func(c string) Ink {
		k := newInk(fg(c))
		k.behind = newInk(lipgloss.NewStyle().Background(lipgloss.Color(c))).before
		return k
	}
	s := &Styles{
		Name: name,
		Bold: newInk(lipgloss.NewStyle().Bold(true)), Muted: newInk(fg(p.muted)), Line: area(p.line),
		OK: newInk(fg(p.ok)), Warn: newInk(fg(p.warn)), Bad: newInk(fg(p.bad).Bold(true)),
		Accent: newInk(fg(p.accent)), title: newInk(fg(p.accent)), FocusTitle: newInk(fg(p.accent).Bold(true)), focusLine: newInk(fg(p.accent)),
		Selected: newInk(fg(p.accent).Bold(true)), Key: newInk(lipgloss.NewStyle().Bold(true)), KeyOff: newInk(fg(p.line)),
		now: newInk(fg(p.muted)), Past: area(p.muted), future: newInk(fg(p.line)), Earlier: newInk(fg(p.earlier).Bold(true)),
		Gone: newInk(fg(p.bad).Bold(true).Reverse(true)), Alarm: newInk(fg(p.warn).Bold(true).Reverse(true)), cursor: newInk(lipgloss.NewStyle().Reverse(true)),
	}
	for i, c := range p.series {
		s.Series[i] = area(c)
		for k, c := range p.ramps[i] {
			s.Ramp[i][k] = area(c)
		}
	}
	for i, c := range p.heat {
		s.Heat[i] = newInk(fg(c))
	}
	return s
}

// Shade returns the ink of an area of a series in a row of so many, counted from the bottom.
func (s *Styles) Shade(series, row, rows int) Ink {
	return s.Ramp[series][min(row*Steps/max(rows, 1), Steps-1)]
}

// Dimmed returns the ink of an area that does not count, or of its edge.
func (s *Styles) Dimmed(edge bool) Ink {
	if edge {
		return s.Past
	}
	return s.Line
}

// Unsure returns the ink of an area of a series that too few calls support, or of its edge: it has its colour, but
// less of it.
func (s *Styles) Unsure(series int, edge bool) Ink {
	if edge {
		return s.Ramp[series][Steps/2]
	}
	return s.Ramp[series][0]
}

// monoStyles returns styles that express by weight alone what the others also express
// by colour.
func monoStyles() *Styles {
	bold, faint := lipgloss.NewStyle().Bold(true), lipgloss.NewStyle().Faint(true)
	s := &Styles{
		Name: "mono",
		Bold: newInk(bold), Muted: newInk(faint), Line: newInk(faint), Warn: newInk(bold), Bad: newInk(bold),
		FocusTitle: newInk(bold), focusLine: newInk(lipgloss.NewStyle()), Selected: newInk(bold),
		Key: newInk(bold), KeyOff: newInk(faint), now: newInk(faint), Past: newInk(faint), future: newInk(faint), Earlier: newInk(bold),
		Gone: newInk(bold.Reverse(true)), Alarm: newInk(bold.Reverse(true)), cursor: newInk(lipgloss.NewStyle().Reverse(true)),
	}
	for i := range s.Ramp {
		for k := range s.Ramp[i] {
			s.Ramp[i][k] = newInk(faint)
		}
	}
	return s
}
