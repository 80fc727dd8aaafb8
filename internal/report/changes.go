package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/units"
)

// Changed describes for a terminal what changed when in kept runs.
func Changed(list []compare.Series) string { return changedPage(list, false).Text() }

// ChangedHTML is Changed as a page, with a picture of each figure.
func ChangedHTML(list []compare.Series) []byte { return []byte(changedPage(list, true).HTML()) }

func changedPage(list []compare.Series, drawn bool) Page {
	p := Page{Title: "perfbench history: what changed when", Lead: []string{changedLead(list)}}
	for _, s := range list {
		last := s.Runs[len(s.Runs)-1]
		heading := last.Profile
		if last.Mode != "" {
			heading += " (" + last.Mode + ")"
		}
		sec := Section{Heading: heading + " on " + last.Target, Weight: Answer, Text: []string{fmt.Sprintf("%d runs, from %s to %s.", len(s.Runs), s.Runs[0].ID, last.ID)}}
		t := Table{Left: 5, Columns: []string{"from run", "", "", "change", "what else differs there"}}
		for _, f := range s.Figures {
			for _, c := range f.Changes {
				first := s.Runs[c.At]
				label, change := parted(f.Sentence(c, first.Unit))
				t.Add(first.ID, label, string(c.Verdict), change, differing(c.Differs))
			}
			if drawn {
				if g := historyOf(s, f); !g.Empty() {
					sec.Charts = append(sec.Charts, g)
				}
			}
		}
		slices.SortStableFunc(t.Rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
		if sec.Table = t; len(t.Rows) == 0 {
			sec.Text = append(sec.Text, "Nothing changed for good.")
		}
		p.Sections = append(p.Sections, sec)
	}
	return p
}

func changedLead(list []compare.Series) string {
	if len(list) == 0 {
		return fmt.Sprintf("No plan has %d runs on one kind of machine, which it takes to tell a change from chance.", compare.LeastSeries)
	}
	return "Each plan on each kind of machine is a series. A change is where throughput, p50 or p99 moved by 2.5 % or more and stayed there for three runs or more; single runs that are far off do not count."
}

// parted divides "p99: worse, +12 %" into the figure and the change.
func parted(sentence string) (label, change string) {
	label, rest, _ := strings.Cut(sentence, ": ")
	_, change, _ = strings.Cut(rest, ", ")
	return label, change
}

// differing lists what differs, with the values.
func differing(list []compare.Difference) string {
	var out []string
	for _, d := range list {
		out = append(out, d.Name+" "+d.A+" → "+d.B)
	}
	if len(out) == 0 {
		return "nothing that is recorded"
	}
	return strings.Join(out, ", ")
}

// historyOf draws a figure over the runs of a series, with a mark at each change.
func historyOf(s compare.Series, f compare.SeriesFigure) Graph {
	unit := s.Runs[0].Unit
	layout := time.DateOnly
	for i, r := range s.Runs[1:] { // a date would stand there twice
		if r.Started.Format(time.DateOnly) == s.Runs[i].Started.Format(time.DateOnly) {
			layout = "01-02 15:04"
		}
	}
	g := Graph{Over: true, Chart: plot.Chart{
		Title: string(f.Figure) + " of each run", Caption: "A point for each run, in order. A dashed line is where a change was found.", To: float64(len(s.Runs) - 1), Unit: plot.Nanoseconds, Format: duration,
		Across: func(x float64) string {
			return s.Runs[min(max(int(x+0.5), 0), len(s.Runs)-1)].Started.Format(layout)
		},
	}}
	if f.Figure == compare.Throughput {
		g.Title, g.Unit, g.Format = unit+" per second of each run", "", units.Number
	}
	for i := range s.Runs {
		g.At = append(g.At, float64(i))
	}
	g.Lines = []plot.Line{{Name: string(f.Figure), Values: f.Values}}
	for _, c := range f.Changes {
		first := s.Runs[c.At]
		g.Marks = append(g.Marks, plot.Mark{At: float64(c.At) - 0.5, Note: Plain(f.Sentence(c, unit) + " from " + first.ID + " on; differs: " + differing(c.Differs))})
	}
	return g
}

type jsonSeries struct {
	Profile string       `json:"profile"`
	Mode    string       `json:"mode,omitempty"`
	Target  string       `json:"target"`
	Runs    []string     `json:"runs"`
	Changes []jsonChange `json:"changes"`
}

type jsonChange struct {
	Figure  compare.Figure   `json:"figure"`
	From    string           `json:"from_run"`
	Began   time.Time        `json:"began"`
	Change  *float64         `json:"change"`
	Verdict compare.Verdict  `json:"verdict"`
	Differs []jsonDifference `json:"differs"`
}

// ChangedJSON is Changed for programs: a list of series.
func ChangedJSON(list []compare.Series) ([]byte, error) {
	out := []jsonSeries{}
	for _, s := range list {
		last := s.Runs[len(s.Runs)-1]
		one := jsonSeries{Profile: last.Profile, Mode: last.Mode, Target: last.Target, Changes: []jsonChange{}}
		for _, r := range s.Runs {
			one.Runs = append(one.Runs, r.ID)
		}
		for _, f := range s.Figures {
			for _, c := range f.Changes {
				change := jsonChange{f.Figure, s.Runs[c.At].ID, s.Runs[c.At].Started, finite(c.Change), c.Verdict, []jsonDifference{}}
				for _, d := range c.Differs {
					change.Differs = append(change.Differs, jsonDifference(d))
				}
				one.Changes = append(one.Changes, change)
			}
		}
		out = append(out, one)
	}
	data, err := json.MarshalIndent(out, "", "  ")
	return append(data, '\n'), err
}

// ChangedAt says, for each run that is the first after a change, what changed there.
func ChangedAt(list []compare.Series) map[string]string {
	said := map[string][]string{}
	differs := map[string]string{}
	for _, s := range list {
		for _, f := range s.Figures {
			for _, c := range f.Changes {
				id := s.Runs[c.At].ID
				said[id], differs[id] = append(said[id], f.FromTo(c, s.Runs[c.At].Unit)), differing(c.Differs)
			}
		}
	}
	out := map[string]string{}
	for id, changes := range said {
		out[id] = "from this run on " + strings.Join(changes, ", ") + "; what else differs: " + differs[id]
	}
	return out
}
