// Package report writes a th2-style report of a run, with its charts, from the facts in
// the run's folder.
package report

import (
	"cmp"
	_ "embed" // for the documentation
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	given "github.com/perfbench/perfbench/internal/facts"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
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
		ID: FormatID, Title: "th2's performance report in Markdown, with charts", Profile: facts.Profile,
		Doc: reportDoc, Encode: encodeReport, Facts: checkFacts, Names: []string{reportFile, "th2-series.csv", "th2-*.svg"},
	}}
}

// reporter writes the report of one run.
type reporter struct {
	folder *rundir.Folder
	run    *rundir.Run
	f      *facts.Facts
	given  *given.Facts // empty when there are none
	b      strings.Builder
	charts []picture
	// steps are the steps without the drain.
	steps []*facts.Step
}

func encodeReport(folder *rundir.Folder) ([]rundir.File, error) {
	r := &reporter{folder: folder, run: &folder.Run, f: &facts.Facts{}, given: &given.Facts{}}
	if _, err := folder.Run.DecodeFacts(r.f); err != nil {
		return nil, err
	}
	for i := range r.f.Steps {
		if s := &r.f.Steps[i]; s.Name != facts.DrainStep {
			r.steps = append(r.steps, s)
		}
	}
	if folder.Given != nil {
		var err error
		if r.given, err = given.Parse(rundir.FactsFile, folder.Given, components); err != nil {
			return nil, err
		}
	}
	r.collectCharts()
	r.head()
	r.hardware()
	r.software()
	r.printf("## Cluster schema\n\n![Cluster schema](%s)\n\n", schemaFile)
	r.parameters()
	r.metrics()
	r.appendix()
	files := []rundir.File{{Name: reportFile, Data: []byte(r.b.String())}, r.schema()}
	for i := range r.charts {
		files = append(files, rundir.File{Name: r.charts[i].file + ".svg", Data: r.charts[i].File()})
	}
	if csv := r.csv(); csv != nil {
		files = append(files, rundir.File{Name: "th2-series.csv", Data: csv})
	}
	return files, nil
}

func (r *reporter) printf(format string, args ...any) { fmt.Fprintf(&r.b, format, args...) }

// rate returns a rate, or NaN if what was stored is not what was acknowledged.
func (r *reporter) rate(s string) string {
	if r.run.Failed() {
		return "NaN"
	}
	return s
}

// show includes those charts with these names that exist.
func (r *reporter) show(names ...string) {
	for _, n := range names {
		if i := slices.IndexFunc(r.charts, func(c picture) bool { return c.file == "th2-"+n }); i >= 0 {
			r.printf("![%s](%s.svg)\n\n", r.charts[i].Title, r.charts[i].file)
		}
	}
}

// head writes the title, and what readers must know before the figures.
func (r *reporter) head() {
	version := unknown
	if v, ok := r.run.Environment["perfbench"]; ok {
		version = fmt.Sprint(v)
	}
	r.printf("# Store events via perfbench:%s (%s)\n\n", version, cmp.Or(r.given.Cluster.Name, r.storeName()))
	if v := r.run.Verdict; !v.Valid() {
		r.printf("> Verdict: **%s**", v.State)
		if len(v.Reasons) > 0 {
			r.printf(" (%s)", strings.Join(v.Reasons, "; "))
		}
		r.printf(".\n\n")
	}
	switch n := len(r.run.Notices); {
	case n == 1:
		r.printf("> A notice in the appendix belongs to these figures.\n\n")
	case n > 1:
		r.printf("> %d notices in the appendix belong to these figures.\n\n", n)
	}
}

// appendix writes what the original lacks.
func (r *reporter) appendix() {
	r.printf("## Appendix: what perfbench adds\n\n")
	r.about()
	r.inForce()
	r.stepsInFull()
	r.receivedInFull()
	r.cradleInFull()
	r.processes()
	r.latency()
	r.backlog()
	r.integrity()
	r.readBack()
	r.search()
	r.verdict()
}

// about describes the run, and what was given rather than measured.
func (r *reporter) about() {
	env := func(name string) string {
		if v, ok := r.run.Environment[name]; ok {
			return fmt.Sprint(v)
		}
		return unknown
	}
	r.printf("### Run\n\n")
	table(&r.b, []string{"what", "value"},
		[]string{"run", r.run.ID}, []string{"target", r.run.Target}, []string{"started", r.run.Started.UTC().Format("2006-01-02 15:04:05") + " UTC"},
		[]string{"ended by", r.run.EndedBy}, []string{"generators and store stage (estore)", "perfbench " + env("perfbench") + ", " + env("go") + ", " + env("os") + "/" + env("arch")},
		[]string{"transport", orUnknown(r.f.Transport)}, []string{"store", r.storeName()}, []string{"topology of the store", orUnknown(r.run.Store.Topology)},
		[]string{"schema", orUnknown(r.f.Schema)}, []string{"compression", orUnknown(r.f.Compression)}, []string{"durability of a write", orUnknown(r.f.Durability)})
	for _, n := range r.run.Notices {
		r.printf("> %s\n\n", n)
	}
	if r.f.Compat {
		r.printf("> compat=on: batches may be lost as in the original; what was is counted below.\n\n")
	}
	r.printf("### Remarks\n\n")
	for _, m := range r.given.Remarks {
		r.printf("* %s\n", m)
	}
	if r.folder.Given != nil {
		r.printf("* Machines, images and arguments that perfbench cannot see are as given in %s; what it has seen itself goes before that.\n", rundir.FactsFile)
	} else {
		r.printf("* What perfbench cannot see of machines, images and arguments is n/a; a file of --facts can say it.\n")
	}
	r.printf("* The store stage runs within perfbench, beside the generators: CPU, RAM and heap of estore are of both. It is Go, whose collector\n  has no generations: its collections are in the column of the old one.\n")
	r.printf("* CPU of Cassandra is the load of its machine per core over a minute, RAM what is in use on that machine, Network what came in;\n  what the process itself used stands below.\n")
	r.printf("* Collections are counted a minute. Bytes are binary, events and Mbps decimal.\n")
	if r.run.Failed() {
		r.printf("* The verification failed, so rates are NaN.\n")
	}
	r.printf("\n")
}

// inForce lists every parameter and setting.
func (r *reporter) inForce() {
	r.printf("### Values in force\n\n")
	var rows [][]string
	for _, k := range slices.Sorted(maps.Keys(r.f.Config)) {
		rows = append(rows, []string{k, r.f.Config[k], r.run.Origins[k]})
	}
	rows = append(rows, []string{"seed", fmt.Sprint(r.run.Seed), r.run.Origins["seed"]}, []string{"warm-up", fmt.Sprintf("%g s", r.run.WarmupS), r.run.Origins["warmup"]})
	for _, k := range slices.Sorted(maps.Keys(r.run.Settings)) {
		rows = append(rows, []string{k + " at the start", number("%g", r.run.Settings[k]), r.run.Origins[k]})
	}
	table(&r.b, []string{"key", "value", "from"}, rows...)
}

// stepsInFull writes the steps including the drain.
func (r *reporter) stepsInFull() {
	r.printf("### Steps\n\n")
	var rows [][]string
	for i := range r.f.Steps {
		s := &r.f.Steps[i]
		rate, offered, size, generators := number("%g", s.Rate), fmt.Sprint(s.Offered.Events), fmt.Sprint(s.Batch), fmt.Sprint(s.Generators)
		if s.Rate == 0 {
			rate = "closed loop"
		}
		if s.Name == facts.DrainStep {
			rate, offered, size, generators = "none", "none", "none", "none"
		}
		rows = append(rows, []string{
			s.Name, size, number("%.3g", s.Seconds()/60), rate, orUnknown(r.f.Config["tickRate"]), generators, offered,
			fmt.Sprint(s.Sent.Events), fmt.Sprint(s.Confirmed.Events), fmt.Sprint(s.Stored.Events), fmt.Sprint(s.Acked.Events),
		})
	}
	r.table([]string{
		"step", "maxBatchSize, events", "duration, min", "rate, events/s", "tickRate", "generators", "offered, events",
		"sent, events", "confirmed, events", "stored, events", "acknowledged, events",
	}, rows)
	r.printf("A batch counts as offered, sent and confirmed in the step that generated it, and as received, stored and acknowledged in the step\nin which that happened. The drain is what came after the generators had ended.\n\n")
}

// csv returns every series as a table.
func (r *reporter) csv() []byte {
	if len(r.f.Series) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("t_s,series,line,value\n")
	for i := range r.charts {
		c := &r.charts[i]
		for _, l := range c.Lines {
			for j, v := range l.Values {
				if !math.IsNaN(v) {
					fmt.Fprintf(&b, "%.3f,%s,%s,%g\n", c.At[j], strings.TrimPrefix(c.file, "th2-"), l.Name, v)
				}
			}
		}
	}
	return []byte(b.String())
}
