package pbm

import (
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Format returns the document of the mode.
func Format() rundir.Format {
	return rundir.Format{ID: "padogrid", Title: "PadoGrid transaction text, one file a map (mode=pbm)", Doc: padogridDoc, Encode: encode, Names: []string{"tx-*.txt"}}
}

const padogridDoc = `# padogrid: PadoGrid's transaction text

mode=pbm. One file per map, ` + "`tx-<map>-<product>-<yyMMdd-HHmmss>_<prefix>.txt`" + `, in the
layout of PadoGrid 0.9.18 and later: byte for byte the same except for the measured
numbers. Times are in the client's time zone.

| line | unit | meaning |
| --- | --- | --- |
| Actual Total Number of Transactions | transactions | acknowledged by the store, over all runs; with getall, the number of keys asked for |
| Total Number of Transactions on Missing Data | transactions | of these, those that found nothing |
| Thread N | ms | time of that client's loops over all runs, without the pauses between them |
| Max Time | ms | the longest of these |
| Throughput (tx/sec) | 1/s | transactions / max time |
| Latency per transaction (msec) | ms | max time / transactions: an inverse throughput, not a response time |

If the verification failed, throughput and latency are ` + "`NaN`" + `. Percentiles, errors,
conflicts and live changes are in run.json, NOTICE.txt and the other formats. Other
modes have no such document.
`

const (
	headWidth   = 28
	totalWidth  = 44
	metricWidth = 31
	decimals    = 3
)

var missingNote = []string{
	"Missing Data represents the number of transaction operations that are performed on",
	"non-existing co-located data. This may occur if there are not enough ClientProfile",
	"objects ingested. To avoid this, increase the number of profile objects by setting",
	"'profile.totalEntryCount' in the ingestion properties file and rerun the ingestion test.",
	"This value must be greater than or equal to 'eligibility.totalEntryCount'.",
}

func encode(f *rundir.Folder) ([]rundir.File, error) {
	facts, err := rundir.FactsOf[Facts](&f.Run, Mode)
	if err != nil || facts == nil {
		return nil, err
	}
	var files []rundir.File
	for i := range facts.Maps {
		m := &facts.Maps[i]
		start, stop := padogrid.Span(&f.Run, facts.Zone, m.Started, m.Stopped)
		files = append(files, rundir.File{
			Name: padogrid.FileName(f.Run.Profile, m.Map, f.Run.Store.Name, start, facts.Prefix),
			Data: text(&f.Run, facts, m, start, stop),
		})
	}
	return files, nil
}

func text(r *rundir.Run, f *Facts, m *MapFacts, start, stop time.Time) []byte {
	var w padogrid.Writer
	w.Banner("Transaction Test")
	w.Field(headWidth, "Product", r.Store.Name)
	w.Field(headWidth, "Test Case", m.TestCase)
	w.Field(headWidth, "Map", m.Map)
	if m.TestCase == caseGetAll {
		w.Int(headWidth, "GetAll Batch Size", int64(m.BatchSize))
	}
	w.Int(headWidth, "Test Run Count", f.TestCount)
	w.Int(headWidth, "Test Run Interval (msec)", f.IntervalMS)
	w.Int(headWidth, "Total Entry Count Per Run", m.TotalEntryCount)
	w.Int(headWidth, "Thread Count", int64(max(m.ThreadCount, len(m.ThreadMS))))
	w.Field(headWidth, "Prefix", f.Prefix)
	w.Int(headWidth, "Entry Count per Thread", m.PerThread)
	w.Start(start)
	w.Field(totalWidth, "Actual Total Number of Transactions", strconv.FormatInt(m.Done, 10))
	w.Field(totalWidth, "Total Number of Transactions on Missing Data", strconv.FormatInt(m.Missing, 10))
	w.Line("")
	for _, l := range missingNote {
		w.Line(l)
	}
	w.Line("")
	w.Threads(m.ThreadMS)
	longest := padogrid.Max(m.ThreadMS)
	perSecond, latency := padogrid.Speed(r, float64(m.Done), longest)
	w.Int(metricWidth, "Max Time (msec)", longest)
	w.Number(metricWidth, "Throughput (tx/sec)", perSecond, decimals)
	w.Number(metricWidth, "Latency per transaction (msec)", latency, decimals)
	w.Stop(stop)
	return w.Bytes()
}
