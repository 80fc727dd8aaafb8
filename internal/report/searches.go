package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/units"
)

// Searches are what the runs of two sides found, where each of them was a search.
type Searches struct{ A, B []*find.Result }

// SearchesOf reads what the runs of both sides of a comparison found.
func SearchesOf(c *compare.Comparison) (s Searches, err error) {
	var errs [2]error
	s.A, errs[0] = find.LoadAll(c.A.Dirs())
	s.B, errs[1] = find.LoadAll(c.B.Dirs())
	return s, errors.Join(errs[:]...)
}

// both returns the searches of each side as one; ok is false unless both searched for the same.
func (s Searches) both() (a, b *find.Result, ok bool) {
	if len(s.A) == 0 || len(s.B) == 0 {
		return nil, nil, false
	}
	a, b = find.Together(s.A), find.Together(s.B)
	return a, b, a.Over == b.Over && (a.Recovery == nil) == (b.Recovery == nil)
}

// Curve is latency over load of both sides in one picture; it is empty unless both searched for
// the same.
func (s Searches) Curve() plot.Chart {
	a, b, ok := s.both()
	if !ok {
		return plot.Chart{}
	}
	return curves([]string{"A", "B"}, []*find.Result{a, b})
}

// Lead says what each side holds; nothing unless both searched for the same.
func (s Searches) Lead() []string {
	a, b, ok := s.both()
	if !ok {
		return nil
	}
	out := []string{s.sentence(a, b)}
	switch {
	case slices.Equal(a.Under, b.Under) && a.Recovery == nil:
		out[0] = "Under " + strings.Join(a.Under, " and ") + " " + out[0]
	case !slices.Equal(a.Under, b.Under):
		out = append(out, fmt.Sprintf("A was searched under %s, and B under %s.", strings.Join(a.Under, " and "), strings.Join(b.Under, " and ")))
	}
	return out
}

// section draws the curves of both sides as one picture, and says what each holds; it is
// empty unless both searched for the same.
func (s Searches) section() Section {
	lead := s.Lead()
	if lead == nil {
		return Section{}
	}
	out := Section{Heading: "Latency over load", Weight: Answer, Text: lead}
	if c := s.Curve(); !c.Empty() {
		out.Charts = []Graph{{Chart: c, Over: true, Drawn: true}}
	}
	return out
}

// sentence says up to which level each side holds.
func (s Searches) sentence(a, b *find.Result) string {
	what := " threads"
	if a.Over == find.OverRate {
		what = " " + a.Unit + "/s"
	}
	side := func(name string, r *find.Result, all []*find.Result) string {
		if r.Found == 0 {
			return noLevel(name, what, all)
		}
		upTo := " holds up to "
		if len(all) == 1 && r.TooMuch == 0 {
			upTo = " holds at least "
		}
		text := name + upTo + units.Number(r.Found) + what
		if r.Enough() {
			text += fmt.Sprintf(" and does most with %s (%s %s/s)", units.Number(r.Best), units.Number(r.BestDone), r.Unit)
		}
		if len(all) == 1 && r.Behind > 0 {
			text += " (" + units.Number(r.Done) + " done)"
		}
		if len(all) > 1 {
			low, high := math.Inf(1), 0.0
			for _, one := range all {
				low, high = min(low, one.Found), max(high, one.Found)
			}
			text += fmt.Sprintf(" (%s to %s in %d searches)", units.Number(low), units.Number(high), len(all))
		}
		return text
	}
	return side("A", a, s.A) + ", " + side("B", b, s.B) + "."
}

// noLevel says what is known of a side of which no level is known to hold.
func noLevel(name, what string, all []*find.Result) string {
	tried, held, limits, measured, beyond := 0, 0, map[string]int{}, "", ""
	lowest := math.Inf(1)
	for _, r := range all {
		switch {
		case r.Found > 0:
			held++
		case r.Tried():
			tried++
			if limits[r.Limit.By]++; r.Limit.By == find.ByPerfbench {
				measured = r.Limit.Measured()
			}
			if r.TooMuch < lowest {
				lowest, beyond = r.TooMuch, r.Beyond()
			}
		}
	}
	text := name + " holds at no level that was tried "
	switch {
	case held > 0:
		return fmt.Sprintf("%s held at a level in only %d of %d searches", name, held, len(all))
	case tried == 0:
		return name + " tried no level to its end"
	case limits[find.ByPerfbench] > 0:
		return name + " holds at no level that is known: " + measured + " was the limit"
	case limits[find.ByThreads] > 0:
		return text + "(its number of threads was the limit)"
	}
	return text + "(" + units.Number(lowest) + what + " is already " + beyond + ")"
}

// jsonSearches are the searches of two sides, where both searched for the same.
type jsonSearches struct {
	Over string       `json:"over"`
	Unit string       `json:"unit"`
	A    []jsonSearch `json:"a"`
	B    []jsonSearch `json:"b"`
}

// jsonSearch is one search: its run, and the fields of find.json with these names.
type jsonSearch struct {
	Run      string   `json:"run"`
	Under    []string `json:"under"`
	Found    float64  `json:"found"`
	TooMuch  float64  `json:"too_much"`
	Done     float64  `json:"done_per_s"`
	Complete bool     `json:"complete"`
}

// json returns what the searches found; nil unless both sides searched for the same.
func (s Searches) json() *jsonSearches {
	first, _, ok := s.both()
	if !ok {
		return nil
	}
	side := func(all []*find.Result) (out []jsonSearch) {
		for _, r := range all {
			out = append(out, jsonSearch{r.Run, r.Under, r.Found, r.TooMuch, r.Done, r.Complete})
		}
		return out
	}
	return &jsonSearches{first.Over, first.Unit, side(s.A), side(s.B)}
}
