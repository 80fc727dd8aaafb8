package rundir

// Why says what held a run back, as far as the samples tell; package explain works it
// out.
type Why struct {
	// Parts are periods of the run in order; there is more than one only if different
	// things held them back.
	Parts []WhyPart `json:"parts"`
	// Coincidences are unusual seconds, with what happened at the time.
	Coincidences []Coincidence `json:"coincidences,omitempty"`
}

// WhyPart is what held a period of the run back; times are seconds since measurement
// began.
type WhyPart struct {
	From float64 `json:"from_s"`
	To   float64 `json:"to_s"`
	// Resource is the keyword for what was at its limit, "unknown" if that cannot be
	// determined.
	Resource string `json:"resource"`
	// Text describes it in a sentence; Evidence has the figures behind it.
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
}

// Coincidence is a period of unusual seconds, and what happened at the same time. That
// one caused the other is likely, not certain.
type Coincidence struct {
	At    float64 `json:"at_s"`
	Until float64 `json:"until_s"`
	// Text is a clause: "p99 rose 8× …, when redis forked".
	Text string `json:"text"`
	// Outage means that nothing was done meanwhile, although it was meant to be.
	Outage bool `json:"outage,omitempty"`
	// Lost means that the store answered meanwhile, but only without records that it had acknowledged.
	Lost bool `json:"lost,omitempty"`
}

// Part returns the part that covers most of the run: the longest. It is empty for a run
// in which nothing was measured.
func (w *Why) Part() (p WhyPart) {
	for _, q := range w.Parts {
		if q.To-q.From > p.To-p.From {
			p = q
		}
	}
	return p
}
