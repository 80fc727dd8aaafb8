package widget

import "time"

// Note is a short message that disappears by itself.
type Note struct {
	Text  string
	bad   bool
	until time.Time
}

// Say shows a text for eight seconds.
func (n *Note) Say(now time.Time, text string, bad bool) {
	*n = Note{text, bad, now.Add(8 * time.Second)}
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
