package tui

import (
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
)

// speaker is the application for a screen reader: it draws nothing, and writes lines when
// there is something new. What changes by itself is said every few seconds, what a key has
// done at once. It belongs to the event loop.
type speaker struct {
	*guard
	out io.Writer
	// said are the phrases of the screen as last said, top is that screen.
	said    map[string]bool
	top     screen.Screen
	overlay overlay
	// under are the phrases of the screen below an overlay, as last said.
	under map[string]bool
	// moments are what was said of moments of the run, which is not said again.
	moments map[string]bool
	// at is when something that changes by itself was last said.
	at time.Time
	// lines are those that are being said.
	lines []string
}

// Of a screen that is not drawn, this much is read: so narrow that no panels lie side by side.
const (
	plainWidth, plainHeight = 79, 100
	// pausePlain is how long nothing is said of what changes by itself.
	pausePlain = 5 * time.Second
)

// newSpeaker returns the application as it is spoken.
func newSpeaker(g *guard, out io.Writer) *speaker {
	g.app.env.W, g.app.env.H, g.app.suspend = plainWidth, plainHeight, false
	g.app.opts.ASCII, g.app.opts.Plain = false, true // what is said has no frames, which letters could not be told from
	g.app.env.Styles = g.app.newStyles()
	return &speaker{guard: g, out: out, lines: []string{"perfbench, spoken: ? says the keys, ctrl+l says the screen again"}}
}

// Update passes a message on, and says what is new.
func (s *speaker) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.WindowSizeMsg); ok {
		return s, nil
	}
	if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "ctrl+l" { // the whole screen once more
		s.said, s.at = nil, time.Time{}
		s.speak(true)
		return s, nil
	}
	_, cmd := s.guard.Update(msg)
	f, frame := msg.(screen.FrameMsg)
	if s.broken == nil && (!frame || f.Gen == s.app.gen) {
		s.speak(!frame)
	}
	return s, cmd
}

// View is empty: nothing is drawn.
func (s *speaker) View() tea.View { return tea.NewView("") }

// spoken is a screen whose figures change all the time: it says what they are now, and what
// is to be said as soon as it is new, apart from its numbers.
type spoken interface {
	Spoken(e screen.Env) (now string, events []string)
}

// boxed is a screen with a dialog of its own above what it shows.
type boxed interface{ Boxed() bool }

// speak says what is new. At once means that somebody did something; what a screen has by
// itself waits for its turn.
func (s *speaker) speak(atOnce bool) {
	defer func() {
		if r := recover(); r != nil {
			s.broken = s.bug(r)
		}
	}()
	now, due := s.app.env.Now, s.app.env.Now.Sub(s.at) >= pausePlain
	layer := s.app.overlay
	if b, ok := s.app.stack.top().(boxed); ok && layer == none && b.Boxed() {
		layer = dialog
	}
	switch {
	case s.top != s.app.stack.top():
		s.said, s.under, s.moments, due = nil, nil, map[string]bool{}, true
	case s.overlay == none && layer != none:
		s.said, s.under, due = nil, s.said, true
	case s.overlay != none && layer == none: // back: the screen is known, but for where one is in it
		s.said, s.under, due = s.under, nil, true
		maps.DeleteFunc(s.said, func(p string, _ bool) bool { return strings.HasPrefix(p, selected) || strings.HasPrefix(p, setting) })
	case s.overlay != layer:
		s.said, due = nil, true
	}
	s.top, s.overlay = s.app.stack.top(), layer
	if live, ok := s.top.(spoken); ok && s.overlay == none {
		figures, events := live.Spoken(s.app.env)
		if q := s.app.asking(); q != nil {
			events = append(events, q.InWords())
		}
		fresh := map[string]bool{}
		for _, e := range events {
			if strings.HasPrefix(e, panel) {
				e = frames.ReplaceAllString(e, " ")
			}
			e = phrase(e)
			key := e
			if !strings.HasPrefix(e, setting) && !strings.HasPrefix(e, planned) && !strings.HasPrefix(e, reading) {
				key = bare(e)
			}
			if strings.HasPrefix(e, panel) { // its figures are said once, when it is selected
				key, _, _ = strings.Cut(e, ":")
			}
			if at := moment.FindString(e); at != "" {
				key = at + key
				if s.moments[key] {
					continue
				}
				s.moments[key] = true
			}
			if fresh[key] = true; e != "" && !s.said[key] {
				s.say(s.typed(e))
			}
		}
		if s.said = fresh; due && figures != "" {
			s.say(phrase(figures))
			s.at = now
		}
		s.flush()
		return
	}
	if !atOnce && !due {
		return
	}
	before := s.said
	s.said = map[string]bool{}
	var chosen, rest []string
	page := s.app.View().Content
	if s.app.overlay != none {
		page = s.app.float(strings.TrimSuffix(strings.Repeat(strings.Repeat(" ", plainWidth)+"\n", plainHeight), "\n"))
	}
	for _, p := range phrases(page) {
		s.said[p] = true
		switch bare := strings.TrimPrefix(p, selected); {
		case before[p] || bare == p && before[selected+p]:
		case bare != p:
			chosen = append(chosen, p)
		default:
			rest = append(rest, p)
		}
	}
	s.said, before = before, s.said
	for i, p := range slices.Concat(chosen, rest) {
		if i < len(chosen) {
			p = s.typed(p)
		}
		s.say(p)
		s.at = now
	}
	s.said = before
	s.flush()
}

// typed returns what is new in a line that is being typed into: what was typed, if what stands
// before it has been said.
func (s *speaker) typed(line string) string {
	i := strings.LastIndex(line, ": ")
	if i < 0 || !s.app.stack.typing() {
		return line
	}
	label := bare(line[:i]) + ":"
	for said := range s.said {
		if said = bare(said); said == label || strings.HasPrefix(said, label+" ") {
			return line[i+2:]
		}
	}
	return line
}

// bare is a phrase without its numbers.
func bare(phrase string) string {
	return strings.Join(strings.Fields(numbers.ReplaceAllString(phrase, "")), " ")
}

func (s *speaker) say(line string) { s.lines = append(s.lines, line) }

// flush writes the lines; the terminal is in raw mode, so each begins anew.
func (s *speaker) flush() {
	for _, l := range s.lines {
		_, _ = io.WriteString(s.out, l+"\r\n") // a terminal that has gone away ends the program in another way
	}
	s.lines = nil
}

// selected is how the row that keys act on begins, setting how the line of knobs does, planned
// what the timetable changes next, reading what the charts show at one moment, and panel what the panel of
// a run has that is selected.
const selected, setting, planned, reading, panel = "selected: ", "settings: ", "next: ", "at ", "panel "

var (
	// frames are what separates phrases: lines, corners, blocks and dots.
	frames = regexp.MustCompile(`[\x{2500}-\x{259f}\x{2800}-\x{28ff}]+`)
	// ornaments say nothing to those who cannot see them.
	ornaments = regexp.MustCompile(`[●○■◂▾▿▼◆▲]`)
	// mixed is the sign of a figure that mixes segments, moment the time that something is said of.
	mixed  = regexp.MustCompile(`~(\d)`)
	moment = regexp.MustCompile(`^(\d+:)?\d\d:\d\d(\.\d)?, `)
	// warning is the sign of what casts doubt, apart what separates columns and keys, and commas where
	// a sign before it separates already.
	warning = regexp.MustCompile(`(^|  )! `)
	apart   = regexp.MustCompile(` {2,}`)
	commas  = regexp.MustCompile(`([,:;.!?]), `)
	// rightKey is the key in a line of keys, where two spaces part one from the next.
	rightKey = regexp.MustCompile(`(^|  )→ `)
	// label is what stands beside a chart, which has nothing to be read.
	label   = regexp.MustCompile(`^([0-9][0-9.:]* ?[a-zA-Zµ%]{0,2},? ?)+$`)
	numbers = regexp.MustCompile(`[0-9][0-9.,:]*( ?[kMnµm]?s?)\b`)
)

// phrases returns the texts of a screen from top to bottom, without what is drawn around
// them.
func phrases(page string) (out []string) {
	for line := range strings.SplitSeq(ansi.Strip(page), "\n") {
		for _, part := range frames.Split(line, -1) {
			if p := phrase(part); p != "" && !label.MatchString(p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// phrase returns a text in plain letters.
func phrase(text string) string {
	text = strings.TrimSpace(ansi.Strip(text))
	if row, is := strings.CutPrefix(text, "▸ "); is {
		text = selected + row
	}
	text = mixed.ReplaceAllString(text, "mixed $1")
	text = warning.ReplaceAllString(strings.TrimPrefix(text, "· "), "${1}note: ")
	text = strings.ReplaceAll(ornaments.ReplaceAllString(rightKey.ReplaceAllString(text, "${1}right "), " "), "▸", "")
	text = strings.NewReplacer("\u2009", "", "~ mixes", "mixed means that it mixes", "[x] ", "chosen: ", "[ ] payload", "[ and ] payload", "[ ] ", "not chosen: ", "…", "...", " · ", ", ", "·", ", ", "→", "to", "✓", "ok", "✗", "failed", "▶", "running", "‖", "paused", "±", "plus or minus", "↑↓", "up and down", "←→", "left and right", "← →", "left and right", "( )", "( and )", "{ }", "{ and }", "+−", "+ and -", "←", "left", "↑", "up", "↓", "down").Replace(text)
	text = apart.ReplaceAllString(strings.Trim(chart.ASCII(text), " "), ", ")
	return commas.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1 ")
}

// raw lets single keys through while nothing is drawn, and returns how to undo that.
func raw(in *os.File) func() {
	if in == nil || !term.IsTerminal(int(in.Fd())) {
		return func() {}
	}
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(in.Fd()), was) } // nothing else can be done
}
