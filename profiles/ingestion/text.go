package ingestion

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Format returns the profile's document: PadoGrid's ingestion text, one file per map.
func Format() rundir.Format {
	return rundir.Format{ID: FormatID, Title: "PadoGrid ingestion text, one file a map", Profile: Name, Doc: formatDoc, Encode: encode, Names: []string{"ingestion-*.txt"}}
}

const formatDoc = `# padogrid: PadoGrid's ingestion text

One file per map, ` + "`ingestion-<map>-<product>-<yyMMdd-HHmmss>_<prefix>.txt`" + `, in the layout
of PadoGrid 0.9.18 and later: byte for byte the same except for the measured numbers.
Times are in the client's time zone.

| line | unit | meaning |
| --- | --- | --- |
| Actual Total Entry (Put) Count | entries | acknowledged by the store, over all runs |
| Thread Count, Payload Size (bytes) | | as the run began; of threads as many as there ever were |
| Thread N | ms | time of that loader's loops over all runs, without the pauses between them |
| Max Time | ms | the longest of these |
| Throughput (msg/sec) | entries/s | count / max time |
| *Throughput (KiB/sec), (MiB/sec) | | the above times the payload size, its mean over all entries if it was changed |
| Latency per put | ms | max time / count: an inverse throughput, not a response time |
| **Total Volume | KiB, MiB, GiB | count times the payload size, likewise |

If the verification failed, throughput and latency are ` + "`NaN`" + `. This layout has no room
for percentiles, errors and live changes: they are in run.json, NOTICE.txt and the other
formats.
`

const (
	headWidth   = 28
	metricWidth = 23
	decimals    = 3
)

// encode writes the texts of a run, from its folder alone.
func encode(f *rundir.Folder) ([]rundir.File, error) {
	facts, err := factsOf(&f.Run)
	if err != nil {
		return nil, err
	}
	files := make([]rundir.File, 0, len(facts.Maps))
	for i := range facts.Maps {
		m := &facts.Maps[i]
		start, stop := padogrid.Span(&f.Run, facts.Zone, m.Started, m.Stopped)
		files = append(files, rundir.File{
			Name: padogrid.FileName(Name, m.Map, f.Run.Store.Name, start, facts.Prefix),
			Data: text(&f.Run, facts, m, start, stop),
		})
	}
	return files, nil
}

func text(r *rundir.Run, f *Facts, m *MapFacts, start, stop time.Time) []byte {
	var w padogrid.Writer
	w.Banner("Data Ingestion Test")
	w.Field(headWidth, "Product", r.Store.Name)
	w.Field(headWidth, "Test Case", m.TestCase)
	w.Field(headWidth, "Map", m.Map)
	if m.TestCase == casePutAll {
		w.Int(headWidth, "PutAll Batch Size", int64(m.BatchSize))
	}
	w.Int(headWidth, "Test Run Count", f.TestCount)
	w.Int(headWidth, "Test Run Interval (msec)", f.IntervalMS)
	w.Int(headWidth, "Total Entry Count Per Run", m.TotalEntryCount)
	w.Int(headWidth, "Thread Count", int64(max(m.ThreadCount, len(m.ThreadMS))))
	w.Int(headWidth, "Payload Size (bytes)", int64(m.PayloadBytes))
	w.Field(headWidth, "Prefix", f.Prefix)
	w.Int(headWidth, "Entry Count per Thread", m.PerThread)
	w.Start(start)
	w.Line("Actual Total Entry (Put) Count: " + strconv.FormatInt(m.Acknowledged, 10))
	w.Line("")
	w.Threads(m.ThreadMS)
	metrics(&w, r, m)
	w.Line("")
	w.Line(" * Throughput does not take the keys into account.")
	w.Line("   The actual rate is higher.")
	w.Line("** Total Volume do not take the keys into account.")
	w.Line("   The actual volume is higher.")
	w.Stop(stop)
	return w.Bytes()
}

func metrics(w *padogrid.Writer, r *rundir.Run, m *MapFacts) {
	longest := padogrid.Max(m.ThreadMS)
	n, p := float64(m.Acknowledged), cmp.Or(r.Payload(m.Map), float64(m.PayloadBytes))
	perSecond, latency := padogrid.Speed(r, n, longest)
	bytes, _ := padogrid.Speed(r, p*n, longest)
	w.Int(metricWidth, "Max Time (msec)", longest)
	w.Number(metricWidth, "Throughput (msg/sec)", perSecond, decimals)
	w.Number(metricWidth, "*Throughput (KiB/sec)", bytes/1024, decimals)
	w.Number(metricWidth, "*Throughput (MiB/sec)", bytes/1024/1024, decimals)
	w.Number(metricWidth, "Latency per put (msec)", latency, decimals)
	w.Number(metricWidth, "**Total Volume (KiB)", p*n/1024, decimals)
	w.Number(metricWidth, "**Total Volume (MiB)", p*n/1024/1024, decimals)
	w.Number(metricWidth, "**Total Volume (GiB)", p*n/1024/1024/1024, decimals)
	w.Int(metricWidth, "Payload Size (bytes)", int64(m.PayloadBytes))
}

// factsOf returns a run's facts. If a run was killed before it wrote any, nothing is
// known to have been done, and the facts are made from its parameters.
func factsOf(r *rundir.Run) (*Facts, error) {
	var f Facts
	if _, err := r.DecodeFacts(&f); err != nil {
		return nil, fmt.Errorf("padogrid: %w", err)
	}
	if len(f.Maps) > 0 {
		return &f, nil
	}
	number := func(name string) int64 {
		n, _ := units.ParseSize(r.Parameters[name])
		return n
	}
	f = Facts{Prefix: r.Parameters["prefix"], TestCount: number("testCount"), IntervalMS: number("testIntervalInMsec")}
	for name := range strings.SplitSeq(r.Parameters["mapNames"], ",") {
		if name == "" {
			continue
		}
		threads := max(number(name+".threadCount"), 1)
		total := number(name + ".totalEntryCount")
		f.Maps = append(f.Maps, MapFacts{
			Map: name, TestCase: r.Parameters[name+".testCase"], TotalEntryCount: total, PerThread: total / threads,
			ThreadCount: int(threads), BatchSize: int(number(name + ".batchSize")), PayloadBytes: int(number(name + ".payloadSize")),
			ThreadMS: make([]int64, min(threads, workload.MaxThreads)),
		})
	}
	return &f, nil
}
