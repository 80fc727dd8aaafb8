package doctor

import (
	"cmp"

	"github.com/charmbracelet/colorprofile"

	"github.com/perfbench/perfbench/internal/units"
)

// The states of findings.
const (
	Good    = "ok"
	Doubt   = "warning"
	Wrong   = "problem"
	Unknown = "unknown"
)

// Finding is the result of one check.
type Finding struct {
	// About names what was checked: "open files". State is one of the states above.
	About string `json:"about"`
	State string `json:"state"`
	// Found says what is the case, Do what to do about it; Do is empty if all is well.
	Found string `json:"found"`
	Do    string `json:"do,omitempty"`
}

// Section has the findings about one subject.
type Section struct {
	// Subject is the terminal, this machine, the store or the profiles.
	Subject  string    `json:"subject"`
	Findings []Finding `json:"findings"`
}

// Count returns how many findings in all sections have a state.
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

// either adds a good finding, or a doubtful one with what to do.
func (l *list) either(ok bool, about, found, do string) {
	if ok {
		l.good(about, found)
		return
	}
	l.doubt(about, found, do)
}

// Worst returns the worst state of all findings.
func Worst(all []Section) string {
	for _, state := range []string{Wrong, Doubt} {
		if Count(all, state) > 0 {
			return state
		}
	}
	return Good
}

// Terminal describes the standard output.
type Terminal struct {
	// Is means that it is a terminal, Width is its width in cells.
	Is    bool
	Width int
	// Kind, Claims and Locale come from the environment: TERM, COLORTERM, and the
	// first of LC_ALL, LC_CTYPE and LANG. Refused means that NO_COLOR is set.
	Kind, Claims, Locale string
	Refused, Poor        bool
	// Colours is how many the workbench uses there.
	Colours colorprofile.Profile
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
		count := map[colorprofile.Profile]string{colorprofile.TrueColor: "all", colorprofile.ANSI256: "256", colorprofile.ANSI: "16"}[t.Colours]
		l.either(t.Colours > colorprofile.ANSI, "colours", cmp.Or(count, "none")+": TERM is "+quoted(t.Kind)+", COLORTERM "+quoted(t.Claims), "charts have fewer shades; if the terminal has more colours, set TERM=xterm-256color or COLORTERM=truecolor")
	}
	l.either(!t.Poor, "letters", "the locale is "+quoted(t.Locale), "charts are drawn in ASCII: set LANG to a UTF-8 locale, such as C.UTF-8")
	return Section{"terminal", l}
}

// narrow is the width for which screens are designed.
const narrow = 80
