package rundir

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
)

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
	// Limit names it in words, "the store's main thread"; "" if it is not known, and in runs of
	// earlier versions. Hint is what there is to know or to do about it, as a clause.
	Limit string `json:"limit,omitempty"`
	Hint  string `json:"hint,omitempty"`
	// Full means that what was at its limit does no more for more threads.
	Full bool `json:"full,omitempty"`
	// Uses are the figures behind it, what was at its limit first; Evidence is what else shows it, in
	// clauses. Text says Limit and Hint in a sentence.
	Uses     []Use    `json:"uses,omitempty"`
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
}

// Use is how much of a resource a period of a run used.
type Use struct {
	What string `json:"what"`
	// Used of Of were in use, which is 0 if it is not known, in a unit: UsedProcessors and the like, or
	// one a second.
	Used float64 `json:"used"`
	Of   float64 `json:"of,omitempty"`
	Unit string  `json:"unit"`
	// Note is more about it, as a clause.
	Note string `json:"note,omitempty"`
	// Limit means that it held the period back.
	Limit bool `json:"limit,omitempty"`
}

// Units of a Use that are written in a way of their own.
const (
	UsedProcessors = "processors"
	UsedThreads    = "threads"
	UsedTime       = "of the time" // a fraction
	UsedBytes      = "bytes/s"
)

// Amount says how much was used: "0.89 of 1 processor".
func (u *Use) Amount() string {
	of := ""
	switch {
	case u.Unit == UsedTime:
		return fmt.Sprintf("%.0f %% %s", 100*u.Used, u.Unit)
	case u.Unit == UsedBytes:
		if u.Of > 0 {
			of = " of " + units.Size(int64(u.Of))
		}
		return units.Size(int64(u.Used)) + of + " a second"
	}
	unit := u.Unit
	if u.Of > 0 {
		of = " of " + Decimals(u.Of)
	}
	if u.Of == 1 || u.Of == 0 && u.Used == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return Decimals(u.Used) + of + " " + unit
}

// Words says what was used, and what more there is to it.
func (u *Use) Words() string {
	if u.Note != "" {
		return u.What + " " + u.Amount() + ", " + u.Note
	}
	return u.What + " " + u.Amount()
}

// Part is how much of it was in use, from 0 to 1; false if that is not known.
func (u *Use) Part() (part float64, known bool) {
	if u.Of <= 0 {
		return 0, false
	}
	return min(max(u.Used/u.Of, 0), 1), true
}

// Decimals formats a number with few digits.
func Decimals(v float64) string {
	if v >= 100 {
		return units.Number(v)
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// Coincidence is a period of unusual seconds, and what happened at the same time. That
// one caused the other is likely, not certain.
type Coincidence struct {
	At    float64 `json:"at_s"`
	Until float64 `json:"until_s"`
	// Text is a clause: "p99 rose 8× …, when redis forked".
	Text string `json:"text"`
	// Outage means that nothing was done meanwhile, although calls were due or under way.
	Outage bool `json:"outage,omitempty"`
	// Own means that it was perfbench itself that did not run then.
	Own bool `json:"own,omitempty"`
	// Lost means that the store answered meanwhile, but only without records that it had acknowledged.
	Lost bool `json:"lost,omitempty"`
	// Crowded means that other processes of the machine had its processors meanwhile.
	Crowded bool `json:"crowded,omitempty"`
}
