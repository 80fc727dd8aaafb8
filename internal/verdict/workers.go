package verdict

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
)

// Worker is one of several processes that carried out a run together.
type Worker struct {
	// Number counts from 1.
	Number int
	Host   string
	// SkewMS is how much later than agreed it began, in milliseconds; negative: earlier.
	SkewMS float64
	// Known is the time, in seconds since measurement began, up to which a worker that
	// did not come to its end reported what it did; nil for any other worker. Lost is
	// when it was missed; nil if it was there but silent.
	Known, Lost *float64
	// Dealt is when its threads and its rate were distributed to the others; nil if
	// they were not.
	Dealt *float64
	// Heir is the number of the worker that did what this one had left to do; 0 if none.
	Heir int
	// Dismissed means that it came back after that and was told to end.
	Dismissed bool
	// ChangeMS is the longest time that a live change took to come into force there.
	ChangeMS float64
	// Stalls is how often it was silent for a while.
	Stalls int
	// GivenUp means that the others at one point no longer waited for it.
	GivenUp bool
	// Doubts are the reasons why its own figures are not valid.
	Doubts []string
	// Came is how its own calls came in open loop.
	Came []Came
	// Company is what it saw of its machine; nil if that is not known.
	Company *Company
	// Unusable is why what it sent cannot be used; empty: it can.
	Unusable string
}

// Resumed records that the coordinator of a run died and another took over.
type Resumed struct {
	// AtS is when, in seconds since measurement began; ForS is how long there had been
	// none.
	AtS, ForS float64
}

// skewMost is how far apart, in milliseconds, workers may start.
const skewMost = 10

// changeMost is how long, in milliseconds, a live change may take to reach a worker.
const changeMost = 250

// workers reports workers that were lost or silent, whose own figures are in doubt, or whose
// word cannot be used.
func workers(r *Record) finding {
	var all []string
	state := Degraded
	same := alike{said: map[string]int{}}
	for _, c := range r.Resumed {
		all = append(all, fmt.Sprintf("the coordinator died and was resumed at %.1f s, after %.1f s without one: workers went on, and nobody changed settings, began a phase or watched the store meanwhile", c.AtS, c.ForS))
	}
	for _, w := range r.Workers {
		who := fmt.Sprintf("worker %d (%s)", w.Number, w.Host)
		switch {
		case w.Unusable != "":
			state = Invalid
			all = same.add(all, w, ": "+w.Unusable+"; what it did is not known")
		case w.Known != nil && w.Lost != nil:
			all = same.add(all, w, fmt.Sprintf(" was lost: what it did from %.0f s on is not in the figures, and it was missed at %.1f s", *w.Known, *w.Lost)+dealt(w))
		case w.Known != nil:
			all = same.add(all, w, fmt.Sprintf(" did not finish: what it did from %.0f s on is not in the figures", *w.Known)+dealt(w))
		case w.GivenUp:
			all = same.add(all, w, " was silent for so long that the others went on without it"+dealt(w))
		case w.Stalls > 0:
			all = same.add(all, w, " was silent for a while"+dealt(w))
		case w.ChangeMS > changeMost:
			all = append(all, fmt.Sprintf("a live change took %.0f ms to reach %s", w.ChangeMS, who))
		}
		if len(w.Doubts) > 0 {
			all = same.add(all, w, ": "+strings.Join(causesOf(w.Doubts), ", and "))
		}
	}
	if r.Undone != "" {
		all = append(all, r.Undone)
	}
	if len(all) == 0 {
		return finding{}
	}
	same.name(all)
	return finding{state: state, what: strings.Join(all, "; ")}
}

// causesOf leaves out of doubts what their causes show themselves in: the record of the worker has it.
func causesOf(doubts []string) (out []string) {
	for _, d := range doubts {
		cause, _, _ := strings.Cut(d, showsIn)
		out = append(out, cause)
	}
	return out
}

// alike makes one reason of those that several workers have in words that differ in figures only.
type alike struct {
	said map[string]int // where a reason is, by its words without figures
	of   []group
}

// figures are what may differ: numbers with their units.
var figures = regexp.MustCompile(`[0-9][0-9.,]*( ?(ns|µs|ms|s|%|[kMG](iB)?)\b)?`)

// group is a reason, and the workers that have it.
type group struct {
	at     int
	words  string
	who    []Worker
	differ bool // in figures; those of words are the first one's
}

// add adds what is said of a worker, whose words follow its name.
func (a *alike) add(all []string, w Worker, words string) []string {
	plain := figures.ReplaceAllString(words, "#")
	if i, there := a.said[plain]; there {
		g := &a.of[i]
		g.who, g.differ = append(g.who, w), g.differ || words != g.words
		return all
	}
	a.said[plain] = len(a.of)
	a.of = append(a.of, group{at: len(all), words: words, who: []Worker{w}})
	return append(all, fmt.Sprintf("worker %d (%s)%s", w.Number, w.Host, words))
}

// name has the reasons that several workers have name them all.
func (a *alike) name(all []string) {
	for _, g := range a.of {
		if len(g.who) == 1 {
			continue
		}
		var numbers []int
		for _, w := range g.who {
			numbers = append(numbers, w.Number)
		}
		who := units.Numbered("worker", numbers)
		if !strings.HasPrefix(g.words, ":") {
			who = "each of " + who
		}
		all[g.at] = who + g.words
		if g.differ {
			all[g.at] += fmt.Sprintf(" (the figures are those of worker %d)", g.who[0].Number)
		}
	}
}

// dealt says what happened to the rest of a lost worker's part; empty: nothing.
func dealt(w Worker) string {
	if w.Dealt == nil {
		return ""
	}
	if w.Heir == 0 {
		return fmt.Sprintf("; its threads and its rate were dealt to the others at %.1f s", *w.Dealt)
	}
	s := fmt.Sprintf("; what of its part is not in the figures was done, or done again, by worker %d from %.1f s on", w.Heir, *w.Dealt)
	if w.Dismissed {
		s += "; it came back, and was told to end"
	}
	return s
}

// skew reports workers that did not start together.
func skew(r *Record) finding {
	most, of := 0.0, 0
	for _, w := range r.Workers {
		if math.Abs(w.SkewMS) > math.Abs(most) {
			most, of = w.SkewMS, w.Number
		}
	}
	if math.Abs(most) <= skewMost {
		return finding{}
	}
	word := "late"
	if most < 0 {
		word = "early"
	}
	return finding{Degraded, fmt.Sprintf("worker %d began %.0f ms %s: the workers' seconds are not the same seconds", of, math.Abs(most), word), "; leave its machine to perfbench"}
}
