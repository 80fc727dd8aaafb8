package eventstore

import (
	"cmp"
	_ "embed" // for the documentation
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed report.md
var reportDoc string

// reportFile is the name of the report within a run's folder; its charts begin with
// the same word.
const reportFile = "th2-report.md"

// Formats returns the documents of the profile.
func Formats() []rundir.Format {
	return []rundir.Format{{
		ID: FormatID, Title: "th2's performance report in Markdown, with charts", Profile: Name,
		Doc: reportDoc, Encode: encodeReport,
	}}
}

// reporter writes the report of one run.
type reporter struct {
	run    *rundir.Run
	f      *Facts
	b      strings.Builder
	charts []chart
	// steps are those without the drain.
	steps []*StepFacts
}

func encodeReport(folder *rundir.Folder) ([]rundir.File, error) {
	r := &reporter{run: &folder.Run, f: &Facts{}}
	if len(folder.Run.Facts) > 0 {
		if err := json.Unmarshal(folder.Run.Facts, r.f); err != nil {
			return nil, fmt.Errorf("facts of run %s: %w", folder.Run.ID, err)
		}
	}
	for i := range r.f.Steps {
		if s := &r.f.Steps[i]; s.Name != drainStep {
			r.steps = append(r.steps, s)
		}
	}
	r.collectCharts()
	r.head()
	r.setup()
	r.original()
	r.latency()
	r.backlog()
	r.integrity()
	r.readBack()
	r.search()
	r.verdict()
	files := []rundir.File{{Name: reportFile, Data: []byte(r.b.String())}}
	for i := range r.charts {
		files = append(files, rundir.File{Name: r.charts[i].file + ".svg", Data: r.charts[i].svg()})
	}
	if csv := r.csv(); csv != nil {
		files = append(files, rundir.File{Name: "th2-series.csv", Data: csv})
	}
	return files, nil
}

func (r *reporter) printf(format string, args ...any) { fmt.Fprintf(&r.b, format, args...) }

// rate writes a rate, or NaN when what was stored is not what was acknowledged.
func (r *reporter) rate(s string) string {
	if r.run.Failed() {
		return "NaN"
	}
	return s
}

// picture shows the charts of these names that there are.
func (r *reporter) picture(names ...string) {
	for i := range r.charts {
		if c := &r.charts[i]; slices.Contains(names, strings.TrimPrefix(c.file, "th2-")) {
			r.printf("![%s](%s.svg)\n\n", c.title, c.file)
		}
	}
}

func (r *reporter) head() {
	r.printf("# Event store performance test\n\n")
	r.printf("Run `%s` on %s, started %s, ended by %s.", r.run.ID, r.run.Target, r.run.Started.UTC().Format("2006-01-02 15:04:05"), r.run.EndedBy)
	if !r.run.Verdict.Valid() {
		r.printf(" Verdict: **%s**", r.run.Verdict.State)
		if len(r.run.Verdict.Reasons) > 0 {
			r.printf(" (%s)", strings.Join(r.run.Verdict.Reasons, "; "))
		}
		r.printf(".")
	}
	r.printf("\n\n")
	for _, n := range r.run.Notices {
		r.printf("> %s\n\n", n)
	}
	if r.f.Compat {
		r.printf("> compat=on: batches may be lost as in the original; what was is counted below.\n\n")
	}
}

func (r *reporter) processor() string { return cmp.Or(r.f.Machine.Processor, "n/a") }

func (r *reporter) machineMemory() string {
	if r.f.Machine.Memory == 0 {
		return "n/a"
	}
	return memory(float64(r.f.Machine.Memory))
}

// setup is hardware, software, schema, configuration and parameters.
func (r *reporter) setup() {
	env := func(name string) string {
		if v, ok := r.run.Environment[name]; ok {
			return fmt.Sprint(v)
		}
		return "n/a"
	}
	r.printf("## Hardware\n\n")
	table(&r.b, []string{"machine of perfbench", "value"},
		[]string{"processor", r.processor()}, []string{"processors", env("cpus")}, []string{"memory", r.machineMemory()}, []string{"system", env("os") + "/" + env("arch")})
	r.printf("## Software\n\n")
	rows := [][]string{
		{"generators and store stage (estore)", "perfbench " + env("perfbench") + ", " + env("go")},
		{"transport", r.f.Transport},
		{"store", strings.TrimSpace(r.run.Store.Product + " " + r.run.Store.Version)},
	}
	if r.run.Store.Topology != "" {
		rows = append(rows, []string{"topology", r.run.Store.Topology})
	}
	table(&r.b, []string{"component", "version"}, rows...)
	r.printf("## Schema\n\n")
	table(&r.b, []string{"what", "value"},
		[]string{"schema", r.f.Schema}, []string{"book", r.f.Book}, []string{"page", r.f.Page}, []string{"scope", r.f.Scope},
		[]string{"compression", r.f.Compression}, []string{"durability of a write", r.f.Durability})
	r.printf("## Component configuration\n\nAs run, every value in force.\n\n")
	rows = nil
	for _, k := range slices.Sorted(maps.Keys(r.f.Config)) {
		rows = append(rows, []string{k, r.f.Config[k], r.run.Origins[k]})
	}
	table(&r.b, []string{"key", "value", "from"}, rows...)
	r.printf("## Test parameters\n\n")
	rows = [][]string{{"pacing", r.f.Pacing}, {"seed", fmt.Sprint(r.run.Seed)}, {"warm-up", fmt.Sprintf("%g s", r.run.WarmupS)}}
	for _, k := range slices.Sorted(maps.Keys(r.run.Settings)) {
		rows = append(rows, []string{k + " at the start", number("%g", r.run.Settings[k])})
	}
	table(&r.b, []string{"parameter", "value"}, rows...)
	r.printf("## Steps\n\n")
	rows = nil
	for i := range r.f.Steps {
		s := &r.f.Steps[i]
		rate, offered := number("%g", s.Rate), fmt.Sprint(s.Offered.Events)
		if s.Rate == 0 {
			rate = "closed loop"
		}
		if s.Name == drainStep {
			rate, offered = "none", "none"
		}
		rows = append(rows, []string{
			s.Name, fmt.Sprint(s.Batch), number("%.3g", s.seconds()/60), rate, r.f.Config["tickRate"], fmt.Sprint(s.Generators), offered,
			fmt.Sprint(s.Sent.Events), fmt.Sprint(s.Confirmed.Events), fmt.Sprint(s.Stored.Events), fmt.Sprint(s.Acked.Events),
		})
	}
	table(&r.b, []string{
		"step", "maxBatchSize, events", "duration, min", "rate, events/s", "tickRate", "generators", "offered, events",
		"sent, events", "confirmed, events", "stored, events", "acknowledged, events",
	}, rows...)
	r.printf("A batch counts as offered, sent and confirmed in the step that generated it, and as received, stored and acknowledged in the step\nin which that happened. The drain is what came after the generators had ended.\n\n")
}

// csv is every series as a table.
func (r *reporter) csv() []byte {
	if len(r.f.Series) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("t_s,series,line,value\n")
	for i := range r.charts {
		c := &r.charts[i]
		for _, l := range c.lines {
			for j, v := range l.values {
				if !math.IsNaN(v) {
					fmt.Fprintf(&b, "%.3f,%s,%s,%g\n", c.at[j], strings.TrimPrefix(c.file, "th2-"), l.name, v)
				}
			}
		}
	}
	return []byte(b.String())
}
