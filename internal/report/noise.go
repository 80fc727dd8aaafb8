package report

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

// noises are the documents of how much repeats differ, by format id.
var noises = []struct {
	id, file string
	encode   func(*compare.Noise) ([]byte, error)
}{
	{"text", "noise.txt", func(n *compare.Noise) ([]byte, error) { return []byte(noisy(n).Text()), nil }},
	{"markdown", "noise.md", func(n *compare.Noise) ([]byte, error) { return []byte(noisy(n).Markdown()), nil }},
	{"json", "noise.json", noiseJSON},
	{"html", "noise.html", func(n *compare.Noise) ([]byte, error) { return []byte(noisy(n).HTML()), nil }},
}

// NoiseFormats returns the ids of the formats of how much repeats differ.
func NoiseFormats() []string {
	var out []string
	for _, d := range noises {
		out = append(out, d.id)
	}
	return out
}

// Noise writes how much repeats differ in one of the formats. An unknown format is bad input.
func Noise(n *compare.Noise, id string) (rundir.File, error) {
	i := slices.Index(NoiseFormats(), id)
	if i < 0 {
		return rundir.File{}, fault.Input(fmt.Errorf("unknown format %q of a comparison of one side", id), fault.Suggest(id, NoiseFormats()))
	}
	data, err := noises[i].encode(n)
	return rundir.File{Name: noises[i].file, Data: data}, err
}

// noisy lays out how much repeats differ for people.
func noisy(n *compare.Noise) Page {
	c := &n.Of.Runs[0].Conditions
	p := Page{Title: "perfbench compare --aa: " + c.Profile + " on " + StoreName(c.Store), Lead: []string{sideOf("A", n.Of)}}
	t := Table{Left: 1, Columns: []string{"", "mean", "run to run"}}
	for _, runs := range compare.NoiseSides {
		t.Columns = append(t.Columns, fmt.Sprintf("%d a side", runs))
	}
	t.Columns = append(t.Columns, fmt.Sprintf("for %.3g %%", 100*n.Tolerance))
	for _, f := range n.Figures {
		t.Add(f.Texts(c.Unit)...)
	}
	p.Sections = append(p.Sections, Section{Heading: "What runs differ by with nothing changed", Weight: Answer, Table: t, Text: []string{
		"Run to run is the standard deviation from one run to the next. Then follow the smallest changes that so many runs a side find in 9 of 10 comparisons of all these figures, " +
			fmt.Sprintf("and how many runs a side it takes to find one of %.3g %% (of a tenth of a point in errors).", 100*n.Tolerance),
	}})
	check := []string{fmt.Sprintf("Of %d comparisons of a run with the next, judged by the other runs, %d called a figure better or worse.", n.Pairs, n.Alarms)}
	s := Section{Heading: "Compared with each other", Weight: Answer, Text: check}
	if n.Halves != nil && len(n.Halves.Parts) > 0 {
		s.Text = append(s.Text, "Every second run, A, against the others, B: "+Outcome(n.Halves))
		s.Table = Findings(n.Halves.Parts[0], c.Unit)
	}
	p.Sections = append(p.Sections, s)
	return p
}

type jsonNoise struct {
	Schema    int           `json:"schema"`
	Of        jsonSide      `json:"of"`
	Tolerance float64       `json:"tolerance"`
	Pairs     int           `json:"pairs"`
	Alarms    int           `json:"false_alarms"`
	Figures   []jsonNoiseOf `json:"figures"`
}

type jsonNoiseOf struct {
	Figure compare.Figure `json:"figure"`
	Mean   *float64       `json:"mean"`
	// Next is relative to the mean; for errors, a share of all calls.
	Next  *float64    `json:"run_to_run"`
	Shows []jsonShows `json:"shows_at_90"`
	Need  *int        `json:"runs_a_side_for_tolerance"`
}

type jsonShows struct {
	Runs   int      `json:"runs_a_side"`
	Change *float64 `json:"change"`
}

func noiseJSON(n *compare.Noise) ([]byte, error) {
	out := jsonNoise{Schema: 1, Of: jsonSideOf(n.Of), Tolerance: n.Tolerance, Pairs: n.Pairs, Alarms: n.Alarms, Figures: []jsonNoiseOf{}}
	for _, f := range n.Figures {
		one := jsonNoiseOf{Figure: f.Figure, Mean: finite(f.Value), Next: finite(f.Next)}
		for i, v := range f.Shows {
			one.Shows = append(one.Shows, jsonShows{compare.NoiseSides[i], finite(v)})
		}
		if f.Need > 0 {
			one.Need = &f.Need
		}
		out.Figures = append(out.Figures, one)
	}
	data, err := json.MarshalIndent(out, "", "  ")
	return append(data, '\n'), err
}
