// Package report writes a th2-style report of a run, with its charts, from the facts in
// the run's folder.
package report

import (
	"cmp"
	_ "embed" // for the documentation
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// FormatID is the id of the profile's document.
const FormatID = "th2"

//go:embed report.md
var reportDoc string

// reportFile is the name of the report in a run's folder; the names of its charts begin
// in the same way.
const reportFile = "th2-report.md"

// Formats returns the documents of the profile.
func Formats() []rundir.Format {
	return []rundir.Format{{
		ID: FormatID, Title: "th2's performance report in Markdown, with charts", Profile: Profile,
		Doc: reportDoc, Encode: encodeReport, Facts: checkFacts, Names: []string{reportFile, "th2-series.csv", "th2-*.svg"},
	}}
}

// source is what a report is made from: the run, the profile's facts of it, and what was
// given of its surroundings.
type source struct {
	run      *rundir.Run
	f        *Facts
	given    *surroundings // empty when there are none
	hasGiven bool          // there is a file of facts
	steps    []*Step       // without the drain
}

func newSource(folder *rundir.Folder) (*source, error) {
	src := &source{run: &folder.Run, f: &Facts{}, given: &surroundings{}, hasGiven: folder.Given != nil}
	if _, err := folder.Run.DecodeFacts(src.f); err != nil {
		return nil, err
	}
	for i := range src.f.Steps {
		if s := &src.f.Steps[i]; s.Name != DrainStep {
			src.steps = append(src.steps, s)
		}
	}
	if !src.hasGiven {
		return src, nil
	}
	var err error
	src.given, err = parseGiven(rundir.FactsFile, folder.Given, components)
	return src, err
}

// rate returns a rate, or NaN if what was stored is not what was acknowledged.
func (src *source) rate(s string) string {
	if src.run.Failed() {
		return "NaN"
	}
	return s
}

// env returns what is known of perfbench's environment.
func (src *source) env(name string) string {
	if v, ok := src.run.Environment[name]; ok {
		return fmt.Sprint(v)
	}
	return unknown
}

func encodeReport(folder *rundir.Folder) ([]rundir.File, error) {
	src, err := newSource(folder)
	if err != nil {
		return nil, err
	}
	w := &page{charts: drawCharts(src.f)}
	d, sc := newDeployment(src), newScenario(src)
	head(w, src, d)
	hardware(w, d)
	software(w, d)
	w.printf("## Cluster schema\n\n![Cluster schema](%s)\n\n", schemaFile)
	parameters(w, sc)
	metrics(w, src)
	appendix(w, src, d)
	files := []rundir.File{{Name: reportFile, Data: []byte(harmless(w.text.String()))}, schema(d, sc)}
	for i := range w.charts {
		files = append(files, rundir.File{Name: w.charts[i].file + ".svg", Data: w.charts[i].File()})
	}
	if len(src.f.Series) > 0 {
		files = append(files, rundir.File{Name: "th2-series.csv", Data: csv(w.charts)})
	}
	return files, nil
}

// head writes the title, and what readers must know before the figures.
func head(w *page, src *source, d *deployment) {
	w.printf("# Store events via perfbench:%s (%s)\n\n", src.env("perfbench"), cmp.Or(src.given.Cluster.Name, d.storeName()))
	if v := src.run.Verdict; !v.Valid() {
		w.printf("> Verdict: **%s**", v.State)
		if why := v.Why(); len(why) > 0 {
			w.printf(" (%s)", strings.Join(why, "; "))
		}
		w.printf(".\n\n")
	}
	switch n := len(src.run.Notices); {
	case n == 1:
		w.printf("> A notice in the appendix belongs to these figures.\n\n")
	case n > 1:
		w.printf("> %d notices in the appendix belong to these figures.\n\n", n)
	}
}
