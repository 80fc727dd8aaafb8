package rundir

// Why says what held a run back, as far as what was sampled of it tells: package explain
// finds it out.
type Why struct {
	// Parts are stretches of the run in order, more than one only where they were held
	// back by different things.
	Parts []WhyPart `json:"parts"`
	// Coincidences are seconds that were out of the ordinary, with what happened then.
	Coincidences []Coincidence `json:"coincidences,omitempty"`
}

// WhyPart is what held a stretch of the run back; seconds since measurement began.
type WhyPart struct {
	From float64 `json:"from_s"`
	To   float64 `json:"to_s"`
	// Resource is the word for what was at its limit, "unknown" where that cannot be told.
	Resource string `json:"resource"`
	// Text is a sentence of it, Evidence the figures that it rests on.
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
}

// Coincidence is a stretch of seconds that was out of the ordinary, and what happened at
// the same time. That one caused the other is likely, not known.
type Coincidence struct {
	At    float64 `json:"at_s"`
	Until float64 `json:"until_s"`
	// Text is a clause: "p99 rose 8× …, when redis forked".
	Text string `json:"text"`
}

// Part is the one that tells most of the run: the longest. It has none of a run that
// nothing was measured of.
func (w *Why) Part() (p WhyPart) {
	for _, q := range w.Parts {
		if q.To-q.From > p.To-p.From {
			p = q
		}
	}
	return p
}
