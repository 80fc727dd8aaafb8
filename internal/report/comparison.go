package report

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// comparisons are the documents of a comparison, by format id.
var comparisons = []struct {
	id, file string
	encode   func(*compare.Comparison, Searches) ([]byte, error)
}{
	{"text", "comparison.txt", func(c *compare.Comparison, s Searches) ([]byte, error) { return []byte(compared(c, s).Text()), nil }},
	{"markdown", "comparison.md", func(c *compare.Comparison, s Searches) ([]byte, error) { return []byte(compared(c, s).Markdown()), nil }},
	{"json", "comparison.json", comparisonJSON},
	{"junit", "comparison.xml", comparisonJUnit},
	{"html", "comparison.html", func(c *compare.Comparison, s Searches) ([]byte, error) { return []byte(compared(c, s).HTML()), nil }},
}

// ComparisonFormats returns the ids of the formats of a comparison.
func ComparisonFormats() []string {
	var out []string
	for _, d := range comparisons {
		out = append(out, d.id)
	}
	return out
}

// Comparison writes a comparison in one of its formats, with what searches of its sides found.
// An unknown format is bad input.
func Comparison(c *compare.Comparison, found Searches, id string) (rundir.File, error) {
	i := slices.Index(ComparisonFormats(), id)
	if i < 0 {
		return rundir.File{}, fault.Input(fmt.Errorf("unknown format %q of a comparison", id), fault.Suggest(id, ComparisonFormats()))
	}
	data, err := comparisons[i].encode(c, found)
	return rundir.File{Name: comparisons[i].file, Data: data}, err
}

// compared lays out a comparison for people.
func compared(c *compare.Comparison, found Searches) Page {
	a, b := &c.A.Runs[0].Conditions, &c.B.Runs[0].Conditions
	title := "perfbench compare: " + a.Profile
	if a.Mode != "" {
		title += " (" + a.Mode + ")"
	}
	p := Page{
		Title:   title + " on " + StoreName(a.Store),
		Lead:    append([]string{leading(c)}, sideOf("A", c.A), sideOf("B", c.B)),
		Notices: slices.Concat(c.Refusals, c.Cautions),
	}
	if b.Store.Name != a.Store.Name {
		p.Title += " and " + StoreName(b.Store)
	}
	var open []string
	advised := map[string]bool{}
	for _, part := range c.Parts {
		if len(part.Findings) == 0 {
			continue // nothing was found
		}
		heading := units.Capital(c.Covered())
		if part.BySearch() {
			heading = "What they hold"
		}
		if op := part.Operation; op != nil {
			if len(c.Parts) == 2 {
				continue // a single operation is the same as all calls
			}
			if heading = op.Track + " " + op.Op; unsureOfAll(part) {
				open = append(open, heading)
				continue
			}
		}
		s := Section{
			Heading: heading, Weight: Answer, Table: Findings(part, c.Unit(part.Operation)), Parts: unsure(part, c.Unit(part.Operation), advised),
		}
		if g := sidesByPercentile("response time by percentile", part.A, part.B); !g.Empty() {
			s.Charts = []Graph{g}
		}
		p.Sections = append(p.Sections, s)
	}
	if len(open) > 0 {
		p.Sections = append(p.Sections, Section{Heading: "Unsure in every figure", Text: []string{
			"Nothing can be told of " + strings.Join(open, ", ") + ". Their figures are in comparison.json (--format json).",
		}})
	}
	p.Add(found.section())
	if len(c.Differences) > 0 {
		t := Table{Left: 3, Columns: []string{"", "A", "B"}}
		for _, d := range c.Differences {
			t.Add(d.Name, d.A, d.B)
		}
		p.Sections = append(p.Sections, Section{Heading: "What differs", Table: t})
	}
	p.Sections = append(p.Sections, Section{Heading: "How to read this", Text: append(slices.Clone(c.Notes), reading)})
	return p
}

// unsureOfAll reports whether nothing can be told of any figure of a part that was measured.
func unsureOfAll(p compare.Pair) bool {
	unsure := false
	for _, f := range p.Findings {
		switch f.Verdict {
		case compare.Unsure:
			unsure = true
		case compare.Better, compare.Worse:
			return false
		case compare.Same:
			if f.Figure != compare.Errors { // that neither side failed says nothing of its times
				return false
			}
		}
	}
	return unsure
}

// leading is the answer of a comparison, or what there is instead.
func leading(c *compare.Comparison) string {
	if len(c.Parts) > 0 {
		if text := c.Answer(c.Parts[0]); text != "" {
			return text
		}
	}
	return Outcome(c)
}

const reading = "The figure after ± is the margin of error, at 95 % confidence; a wide one is not even on both sides, and stands as its two ends in brackets. The change lies between the two bounds given, which are wide enough " +
	"that all figures together raise a false alarm in at most 5 of 100 comparisons. " +
	"Better and worse: chance does not explain the change. Same within N %: if there is a change, it is smaller than that. Unsure: too close to call; " +
	"more or longer runs would settle it. Not judged: nothing tells what chance did. Uncertain, or a question mark, stands for a range too wide to be of use. A dash stands for a figure that is not known, or a percentile with too few calls behind it."

// unsure says why what is not judged is not, and what would tell more, each if nothing said so
// before.
func unsure(p compare.Pair, unit string, advised map[string]bool) []Section {
	var text []string
	if said := p.Powers(unit); said != "" {
		text = append(text, said)
	}
	if advice := p.Advice(unit); advice != "" && !advised[advice] {
		advised[advice] = true
		text = append(text, advice)
	}
	return some(Section{Heading: "Where it is unsure", Text: text})
}

// sideOf describes a side.
func sideOf(name string, s compare.Set) string {
	first, last := &s.Runs[0].Conditions, &s.Runs[len(s.Runs)-1].Conditions
	day := func(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") }
	if len(s.Runs) == 1 {
		return fmt.Sprintf("%s: run %s, started %s, measured for %s.", name, first.ID, day(first.Started), Length(first.MeasuredS))
	}
	return fmt.Sprintf("%s: %d runs, %s, from %s of %s to %s of %s.", name, len(s.Runs), s.Name, first.ID, day(first.Started), last.ID, day(last.Started))
}

// Repeats describes for people how the runs of a set vary.
func Repeats(s compare.Set) string {
	c := &s.Runs[0].Conditions
	t := Table{Left: 1, Columns: []string{"", "mean", "least", "most", "varies by"}}
	for _, r := range compare.Repeats(s) {
		t.Add(r.Texts(c.Unit)...)
	}
	what := "1 run"
	if n := len(s.Runs); n > 1 {
		what = fmt.Sprintf("%d runs", n)
	}
	return Page{
		Title: "perfbench: " + what + " of " + c.Profile + " on " + StoreName(c.Store),
		Lead:  []string{fmt.Sprintf("From %s to %s.", c.ID, s.Runs[len(s.Runs)-1].Conditions.ID)},
		Sections: []Section{{Heading: units.Capital(s.Covered()), Table: t, Text: []string{
			"The figure after ± is the margin of error of the mean, at 95 % confidence; the last column is the standard deviation from run to run.",
		}}},
	}.Text()
}

// comparisonSchema is the version of the layout of comparison.json.
const comparisonSchema = 1

type jsonComparison struct {
	Schema      int              `json:"schema"`
	Verdict     string           `json:"verdict"`
	Tolerance   float64          `json:"tolerance"`
	A           jsonSide         `json:"a"`
	B           jsonSide         `json:"b"`
	Worse       []string         `json:"worse_than_tolerance"`
	Refusals    []string         `json:"refusals"`
	Cautions    []string         `json:"cautions"`
	Notes       []string         `json:"notes"`
	Differences []jsonDifference `json:"differences"`
	Parts       []jsonPart       `json:"parts"`
	Searches    *jsonSearches    `json:"searches,omitempty"`
}

type jsonSide struct {
	Name string               `json:"name"`
	Runs []compare.Conditions `json:"runs"`
}

type jsonDifference struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

type jsonPart struct {
	Track   string        `json:"track,omitempty"`
	Op      string        `json:"op,omitempty"`
	Figures []jsonFinding `json:"figures"`
}

type jsonFinding struct {
	Figure compare.Figure `json:"figure"`
	A      jsonRange      `json:"a"`
	B      jsonRange      `json:"b"`
	// Change is relative to the figure of A; for errors, a difference of shares of all
	// calls.
	Change  *float64        `json:"change"`
	Least   *float64        `json:"change_at_least"`
	Most    *float64        `json:"change_at_most"`
	Verdict compare.Verdict `json:"verdict"`
	Within  float64         `json:"same_within,omitempty"`
	Paired  bool            `json:"paired,omitempty"`
	// NotJudged is why an unsure figure could not be judged at all.
	NotJudged string `json:"not_judged,omitempty"`
	// Power is that of a figure that is unsure.
	Power *jsonPower `json:"power,omitempty"`
}

// jsonPower is what the runs could have shown: changes as Change is one; null if that is
// unknown or a hundredfold, or if it would take too many runs.
type jsonPower struct {
	Shows      *float64 `json:"shows_at_80"`
	ShowsOften *float64 `json:"shows_at_90"`
	Of         float64  `json:"change_wanted"`
	More       *int     `json:"more_runs_a_side"`
}

func jsonPowerOf(p *compare.Power) *jsonPower {
	if p == nil {
		return nil
	}
	out := &jsonPower{Shows: finite(p.Shows), ShowsOften: finite(p.ShowsOften), Of: p.Of}
	if p.More >= 0 {
		out.More = &p.More
	}
	return out
}

type jsonRange struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// finite returns v with six digits, or nil if JSON has no number for it.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // cannot fail
	return &v
}

func comparisonJSON(c *compare.Comparison, found Searches) ([]byte, error) {
	list := func(l []string) []string { return append([]string{}, l...) }
	out := jsonComparison{
		Schema: comparisonSchema, Verdict: overall(c), Tolerance: c.Tolerance, A: jsonSideOf(c.A), B: jsonSideOf(c.B),
		Worse: []string{}, Refusals: list(c.Refusals), Cautions: list(c.Cautions), Notes: list(c.Notes), Differences: []jsonDifference{}, Parts: []jsonPart{}, Searches: found.json(),
	}
	for _, f := range c.Worse() {
		out.Worse = append(out.Worse, string(f.Figure))
	}
	for _, d := range c.Differences {
		out.Differences = append(out.Differences, jsonDifference(d))
	}
	side := func(r compare.Range) jsonRange {
		if r.Vague {
			return jsonRange{}
		}
		return jsonRange{finite(r.Value), finite(r.Lo), finite(r.Hi)}
	}
	for _, p := range c.Parts {
		part := jsonPart{}
		if p.Operation != nil {
			part.Track, part.Op = p.Operation.Track, p.Operation.Op
		}
		for _, f := range p.Findings {
			part.Figures = append(part.Figures, jsonFinding{f.Figure, side(f.A), side(f.B), finite(f.Change), finite(f.Lo), finite(f.Hi), f.Verdict, f.Within, f.Paired, f.NotJudged(), jsonPowerOf(f.Power)})
		}
		out.Parts = append(out.Parts, part)
	}
	data, err := json.MarshalIndent(out, "", "  ")
	return append(data, '\n'), err
}

func jsonSideOf(s compare.Set) jsonSide {
	out := jsonSide{Name: s.Name}
	for _, r := range s.Runs {
		out.Runs = append(out.Runs, r.Conditions)
	}
	return out
}

// overall sums up the comparison in a word: worse if any figure is worse by more than
// the tolerance, otherwise the verdict on throughput.
func overall(c *compare.Comparison) string {
	if len(c.Worse()) > 0 {
		return string(compare.Worse)
	}
	if len(c.Parts) == 0 || len(c.Parts[0].Findings) == 0 || c.Parts[0].Findings[0].Verdict == compare.Noted {
		return string(compare.Unsure)
	}
	return string(c.Parts[0].Findings[0].Verdict)
}

// comparisonJUnit makes a test case of each figure of all calls, which fails if the
// figure is worse by more than the tolerance.
func comparisonJUnit(c *compare.Comparison, _ Searches) ([]byte, error) {
	a := &c.A.Runs[0].Conditions
	s := testSuite{
		Name: "perfbench.compare." + a.Profile, Time: noTime, Timestamp: c.B.Runs[0].Conditions.Started.UTC().Format(time.RFC3339),
		Properties: []property{{"a", c.A.Name}, {"b", c.B.Name}, {"tolerance", fmt.Sprintf("%g %%", c.Tolerance*100)}},
		Out:        strings.Join(slices.Concat(c.Refusals, c.Cautions, c.Notes), "\n"),
	}
	failed := c.Worse()
	if c.Unsure == compare.Fail {
		failed = append(failed, c.Unsures()...)
	}
	for _, why := range c.Failures() {
		s.add("verification", noTime, &outcome{why, "its figures are none"})
	}
	if len(c.Parts) > 0 {
		for _, f := range c.Parts[0].Findings {
			if f.Figure == compare.Max {
				continue
			}
			var o *outcome
			switch {
			case slices.ContainsFunc(failed, func(w compare.Finding) bool { return w.Figure == f.Figure }):
				o = &outcome{f.Sentence(c.Unit(nil)), "the change is " + cmp.Or(f.RangeText(), f.ChangeText())}
			case f.Verdict == compare.Unsure || f.Verdict == compare.Noted:
				o = &outcome{f.Sentence(c.Unit(nil)), skipped}
			}
			s.add(string(f.Figure), noTime, o).Out = f.Sentence(c.Unit(nil))
		}
	}
	data, err := xml.MarshalIndent(testSuites{Tests: s.Tests, Failures: s.Failures, Suites: []testSuite{s}}, "", "  ")
	return append([]byte(xml.Header), append(data, '\n')...), err
}
