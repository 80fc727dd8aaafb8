// Package doctor looks at this machine and at a store before anything is measured, and
// says of each thing that would spoil a run what to do about it.
package doctor

import (
	"slices"

	"github.com/perfbench/perfbench/internal/units"
)

// The states of findings.
const (
	Good    = "ok"
	Doubt   = "warning"
	Wrong   = "problem"
	Unknown = "unknown"
)

// Finding is one thing that was looked at.
type Finding struct {
	// About names what was looked at: "open files". State is one of the states above.
	About string `json:"about"`
	State string `json:"state"`
	// Found says what is the case, Do what to do about it; Do is empty where all is well.
	Found string `json:"found"`
	Do    string `json:"do,omitempty"`
}

// Section is what was found about one subject.
type Section struct {
	// Subject is the terminal, this machine, the store or the profiles.
	Subject  string    `json:"subject"`
	Findings []Finding `json:"findings"`
}

// Count tells how many findings of all sections have a state.
func Count(all []Section, state string) int {
	n := 0
	for _, s := range all {
		for _, f := range s.Findings {
			if f.State == state {
				n++
			}
		}
	}
	return n
}

// list gathers findings in order.
type list []Finding

func (l *list) good(about, found string)      { *l = append(*l, Finding{about, Good, found, ""}) }
func (l *list) doubt(about, found, do string) { *l = append(*l, Finding{about, Doubt, found, do}) }
func (l *list) wrong(about, found, do string) { *l = append(*l, Finding{about, Wrong, found, do}) }
func (l *list) unknown(about, why string)     { *l = append(*l, Finding{about, Unknown, why, ""}) }

// either is good, or a doubt with what to do.
func (l *list) either(ok bool, about, found, do string) {
	if ok {
		l.good(about, found)
		return
	}
	l.doubt(about, found, do)
}

// Worst is the state of all findings together.
func Worst(all []Section) string {
	for _, state := range []string{Wrong, Doubt} {
		if Count(all, state) > 0 {
			return state
		}
	}
	return Good
}

// Terminal is what the standard output is.
type Terminal struct {
	// Is says that it is a terminal, Width how many cells wide.
	Is    bool
	Width int
	// Kind, Colours and Locale are what the environment says: TERM, COLORTERM, and the first
	// of LC_ALL, LC_CTYPE and LANG. Refused says that NO_COLOR is set.
	Kind, Colours, Locale string
	Refused, Poor         bool
}

// Section says what can be shown on a terminal.
func (t Terminal) Section() Section {
	var l list
	if !t.Is {
		l.good("terminal", "stdout is not a terminal: perfbench run prints lines; perfbench tui needs one")
		return Section{"terminal", l}
	}
	l.either(t.Kind != "dumb" && t.Kind != "", "terminal", "TERM is "+quoted(t.Kind), "set TERM to what it is, such as xterm-256color; perfbench run works without")
	l.either(t.Width >= narrow, "width", units.Plural(t.Width, "column"), "make it 80 columns or wider; below 60 the workbench leaves parts out")
	switch {
	case t.Refused:
		l.good("colours", "none: NO_COLOR is set")
	default:
		many := t.Colours == "truecolor" || t.Colours == "24bit" || has(t.Kind, "256color") || has(t.Kind, "direct") || slices.Contains([]string{"xterm-kitty", "alacritty", "wezterm", "foot", "xterm-ghostty"}, t.Kind)
		l.either(many, "colours", "TERM is "+quoted(t.Kind)+", COLORTERM "+quoted(t.Colours), "with 16 colours charts have fewer shades; TERM=xterm-256color or COLORTERM=truecolor says that it has more")
	}
	l.either(!t.Poor, "letters", "the locale is "+quoted(t.Locale), "charts are drawn in ASCII: set LANG to a UTF-8 locale, such as C.UTF-8")
	return Section{"terminal", l}
}

// narrow is what screens are drawn for.
const narrow = 80
