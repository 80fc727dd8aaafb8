package widget

import "time"

// Note is a short message that disappears by itself.
type Note struct {
	Text  string
	bad   bool
	until time.Time
	// told means that the text answers a key that does nothing.
	told bool
}

// Answered is for how long a key that does nothing is answered.
const Answered = 3 * time.Second

// Say shows a text for eight seconds.
func (n *Note) Say(now time.Time, text string, bad bool) {
	*n = Note{Text: text, bad: bad, until: now.Add(8 * time.Second)}
}

// Tell answers a key that does nothing; no text takes such an answer back, and nothing else.
func (n *Note) Tell(now time.Time, text string) {
	switch {
	case text != "":
		*n = Note{Text: text, until: now.Add(Answered), told: true}
	case n.told:
		*n = Note{}
	}
}

// Tick removes what has been shown for long enough.
func (n *Note) Tick(now time.Time) {
	if !n.until.IsZero() && !now.Before(n.until) {
		*n = Note{}
	}
}

// Line draws the note in w cells; blank if there is none.
func (n Note) Line(s *Styles, w int) string {
	k := s.OK
	if n.bad {
		k = s.Bad
	}
	if n.Text == "" {
		return Fit("", w)
	}
	return Fit(" "+k.On(oneLine(n.Text)), w)
}
