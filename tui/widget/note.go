package widget

import "time"

// Note is a short message that disappears by itself, unless it asks something, or with the next key.
type Note struct {
	Text  string
	bad   bool
	until time.Time
}

// Said is for how long a message is shown, if no key ends it.
const Said = 5 * time.Second

// Answered is for how long a key that does nothing is answered.
const Answered = 3 * time.Second

// Say shows a text for as long as Said.
func (n *Note) Say(now time.Time, text string, bad bool) {
	*n = Note{Text: text, bad: bad, until: now.Add(Said)}
}

// Tell answers a key that does nothing. No text means that a key was pressed, which ends what was said before it:
// that may be untrue after it.
func (n *Note) Tell(now time.Time, text string) {
	*n = Note{}
	if text != "" {
		*n = Note{Text: text, until: now.Add(Answered)}
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
