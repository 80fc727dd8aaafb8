package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// FormatDoc describes the document.
const FormatDoc = `# padogrid: PadoGrid's group text

One file per group, ` + "`group-<group>-<product>-<yyMMdd-HHmmss>.txt`" + `, in the layout of
PadoGrid 0.9.18 and later: byte for byte the same except for the measured numbers.
Times are in the client's time zone. If a group is listed twice and both files would
have the same name, the second gets the stamp of a later second.

| line | unit | meaning |
| --- | --- | --- |
| Actual Total Number of Invocations | invocations | those that succeeded, over all runs |
| Thread N | ms | time of that thread's loops over all runs, without the pauses between them |
| Max Time | ms | the longest of these |
| Elapsed Time | ms | from the first invocation to the end of the last |
| M Throughput, M Latency | invocations/s, ms | count / max time, and max time / count: an inverse throughput, not a response time |
| E Throughput, E Latency | invocations/s, ms | the same with the elapsed time |

If the verification failed, throughput and latency are ` + "`NaN`" + `. This layout has no room
for the percentiles of the groups and of their operations, nor for misses and losses:
they are in run.json and the other formats.
`

// program is PadoGrid's name for it in file names.
const program = "group"

const (
	headWidth   = 30
	metricWidth = 31
	decimals    = 4
)

// Encode writes the texts of a run, from its folder alone.
func Encode(f *rundir.Folder) ([]rundir.File, error) {
	facts, err := factsOf(&f.Run)
	if err != nil {
		return nil, err
	}
	files := make([]rundir.File, 0, len(facts.Groups))
	taken := map[string]bool{}
	for i := range facts.Groups {
		g := &facts.Groups[i]
		start, stop := padogrid.Span(&f.Run, facts.Zone, g.Started, g.Stopped)
		stamp := start
		name := padogrid.FileName(program, g.Group, f.Run.Store.Name, stamp, "")
		for taken[name] {
			stamp = stamp.Add(time.Second)
			name = padogrid.FileName(program, g.Group, f.Run.Store.Name, stamp, "")
		}
		taken[name] = true
		files = append(files, rundir.File{Name: name, Data: text(&f.Run, facts, g, start, stop)})
	}
	return files, nil
}

func text(r *rundir.Run, f *Facts, g *TrackFacts, start, stop time.Time) []byte {
	var w padogrid.Writer
	title := "Group Test"
	if f.Database {
		title += " (Dababase)" // spelled as in the original
	}
	w.Banner(title)
	w.Field(headWidth, "Product", r.Store.Name)
	w.Field(headWidth, "Group", g.Group)
	w.Field(headWidth, "Concurrent Group(s)", g.Concurrent)
	w.Field(headWidth, "Comment", oneLine.Replace(g.Comment))
	w.Field(headWidth, "Operations", g.Operations)
	w.Int(headWidth, "Test Run Count", f.TestCount)
	w.Int(headWidth, "Test Run Interval (msec)", f.IntervalMS)
	w.Int(headWidth, "Total Invocation Count per Run", g.Total)
	w.Int(headWidth, "Thread Count", int64(max(g.Threads, len(g.ThreadMS))))
	w.Int(headWidth, "Invocation Count per Thread", g.PerThread)
	w.Start(start)
	w.Line("Actual Total Number of Invocations: " + strconv.FormatInt(g.Acknowledged, 10))
	w.Line("")
	w.Threads(g.ThreadMS)
	metrics(&w, r, g, stop.Sub(start).Milliseconds())
	w.Stop(stop)
	return w.Bytes()
}

func metrics(w *padogrid.Writer, r *rundir.Run, g *TrackFacts, elapsed int64) {
	longest, n := padogrid.Max(g.ThreadMS), float64(g.Acknowledged)
	if g.Started == nil {
		elapsed = 0
	}
	perLongest, latency := padogrid.Speed(r, n, longest)
	perElapsed, share := padogrid.Speed(r, n, elapsed)
	w.Int(metricWidth, "Max Time (msec)", longest)
	w.Int(metricWidth, "Elapsed Time (msec)", elapsed)
	w.Int(metricWidth, "Total Invocation Count", g.Acknowledged)
	w.Number(metricWidth, "M Throughput (invocations/sec)", perLongest, decimals)
	w.Number(metricWidth, "M Latency per invocation (msec)", latency, decimals)
	w.Number(metricWidth, "E Throughput (invocations/sec)", perElapsed, decimals)
	w.Number(metricWidth, "E Latency per invocation (msec)", share, decimals)
}

// factsOf returns a run's facts. If a run was killed before it wrote any, nothing is
// known to have been done, and the facts are made from its parameters.
func factsOf(r *rundir.Run) (*Facts, error) {
	var f Facts
	if _, err := r.DecodeFacts(&f); err != nil {
		return nil, fmt.Errorf("padogrid: %w", err)
	}
	if len(f.Groups) > 0 {
		return &f, nil
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(r.Parameters[name], 10, 64)
		return n
	}
	f = Facts{TestCount: number("testCount"), IntervalMS: number("testIntervalInMsec")}
	for i, step := range stepsOf(r.Parameters["groupNames"]) {
		for _, g := range step {
			threads, total := max(number(g+".threadCount"), 1), number(g+".totalInvocationCount")
			f.Groups = append(f.Groups, TrackFacts{
				Group: g, Track: g, Step: i + 1, Concurrent: joined(step), Comment: r.Parameters[g+".comment"], Operations: r.Parameters[g+".operations"],
				Total: total, PerThread: total / threads, Threads: int(threads), ThreadMS: make([]int64, min(threads, workload.MaxThreads)),
			})
		}
	}
	return &f, nil
}

func stepsOf(names string) [][]string {
	var out [][]string
	for _, step := range model.Items(names) {
		var groups []string
		for g := range strings.SplitSeq(step, "&") {
			if g = strings.TrimSpace(g); g != "" {
				groups = append(groups, g)
			}
		}
		if len(groups) > 0 {
			out = append(out, groups)
		}
	}
	return out
}

// oneLine keeps a comment on its line.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

func joined(step []string) string { return strings.Join(step, " & ") }
