package report

import (
	"bytes"
	_ "embed" // for the documentation
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

//go:embed memtier.md
var memtierDoc string

var memtierFormat = rundir.Format{
	ID: "memtier", Title: "JSON in the layout of memtier_benchmark", Doc: memtierDoc, Names: []string{"memtier.json"},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		data, err := memtierJSON(f)
		return one("memtier.json", data), err
	},
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// fixed is a number with so many decimals; null if there is none.
func fixed(v float64, decimals int) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return json.Number(fmt.Sprintf("%.*f", decimals, v))
}

// memtierPercentiles are those that the layout has.
var memtierPercentiles = []float64{50, 99, 99.9}

const totals = "Totals"

func memtierJSON(f *rundir.Folder) ([]byte, error) {
	ops := operationsOf(f)
	all := &calls{name: totals, response: measure.NewHistogram()}
	for _, o := range f.Run.Operations {
		if tag := hlog.Tag(o.Track, o.Op, hlog.Response); f.Run.Counts(o) {
			all.calls += o.Calls
			all.tags = append(all.tags, tag)
			if h := f.Histograms[tag]; h != nil {
				all.response.Merge(h)
			}
		}
	}
	seconds, err := memtierSeconds(f, append(ops, all))
	if err != nil {
		return nil, err
	}
	r := &f.Run
	hits, misses := foundOf(r)
	threads := r.Settings["threads"]
	stats := object{{"Runtime", object{
		{"Start time", r.Measured.UnixMilli()}, {"Finish time", r.Measured.UnixMilli() + int64(math.Round(r.MeasuredS*1000))},
		{"Total duration", int64(math.Round(r.MeasuredS * 1000))}, {"Time unit", "MILLISECONDS"},
	}}}
	for _, o := range append(ops, all) {
		found := [2]float64{}
		if o == all || o.name == "get" {
			found = [2]float64{hits, misses}
		}
		block, err := memtierBlock(r, o, found, seconds[o.name])
		if err != nil {
			return nil, err
		}
		stats = append(stats, member{memtierName(o.name), block})
	}
	data, err := json.Marshal(object{
		{"configuration", object{
			{"server", r.Target}, {"protocol", r.Store.Name}, {"run_count", 1}, {"clients", 1}, {"threads", threads}, {"test_time", int64(math.Round(r.MeasuredS))},
		}},
		{"run information", object{{"Threads count", threads}, {"Connections per thread", 1}, {"Requests per client", perClient(all.calls, threads)}, {"Format version", 2}}},
		{"ALL STATS", stats},
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// foundOf returns how many records reads have found, and have not, where the profile's facts
// say so.
func foundOf(r *rundir.Run) (hits, misses float64) {
	var facts struct {
		Hits   float64 `json:"hits"`
		Misses float64 `json:"misses"`
	}
	if _, err := r.DecodeFacts(&facts); err != nil {
		return 0, 0 // another profile has something else under these names
	}
	return facts.Hits, facts.Misses
}

func perClient(calls int64, threads float64) int64 { return calls / max(int64(threads), 1) }

// memtierName returns the name of a kind of calls: Sets, Gets …
func memtierName(op string) string {
	if op == totals || op == "" {
		return totals
	}
	return strings.ToUpper(op[:1]) + strings.ToLower(op[1:]) + "s"
}

// memtierBlock is what the layout says of a kind of calls; times are in milliseconds.
func memtierBlock(r *rundir.Run, c *calls, found [2]float64, seconds object) (object, error) {
	rate := func(n float64) any {
		if r.Failed() || r.MeasuredS < measure.ShortestRate {
			return nil
		}
		return fixed(n/r.MeasuredS, 2)
	}
	percentiles := object{}
	for _, p := range memtierPercentiles {
		percentiles = append(percentiles, member{fmt.Sprintf("p%.2f", p), fixed(float64(measure.Percentile(c.response, p))/1e6, 3)})
	}
	encoded, err := inMicros(c.response).Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("histogram of %s: %w", c.name, err)
	}
	percentiles = append(percentiles, member{"Histogram log format", object{{"Compressed Histogram", string(encoded)}}})
	mean := fixed(c.response.Mean()/1e6, 3)
	return object{
		{"Count", c.calls}, {"Ops/sec", rate(float64(c.calls))}, {"Hits/sec", rate(found[0])}, {"Misses/sec", rate(found[1])},
		{"Latency", mean}, {"Average Latency", mean},
		{"Min Latency", fixed(float64(c.response.Min())/1e6, 3)}, {"Max Latency", fixed(float64(c.response.Max())/1e6, 3)},
		{"KB/sec", fixed(0, 2)}, {"Time-Serie", seconds}, {"Percentile Latencies", percentiles},
	}, nil
}

// inMicros returns a histogram of nanoseconds as one of microseconds.
func inMicros(h *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	out := hdrhistogram.New(1, measure.Highest/1000, 3)
	for _, bar := range h.Distribution() {
		if bar.Count > 0 {
			_ = out.RecordValues(min(max((bar.From+bar.To)/2000, 1), measure.Highest/1000), bar.Count) // within its range
		}
	}
	return out
}

// memtierSeconds returns what the layout says of every second, by the name of the calls.
func memtierSeconds(f *rundir.Folder, ops []*calls) (map[string]object, error) {
	out := map[string]object{}
	for _, o := range ops {
		out[o.name] = object{}
	}
	second, m := math.NaN(), hlog.NewMerger()
	flush := func() {
		hs := m.Histograms()
		for _, o := range ops {
			sum := measure.NewHistogram()
			for _, tag := range o.tags {
				if h := hs[tag]; h != nil {
					sum.Merge(h)
				}
			}
			if sum.TotalCount() == 0 {
				continue
			}
			figures := object{
				{"Count", sum.TotalCount()}, {"Average Latency", fixed(sum.Mean()/1e6, 2)},
				{"Min Latency", fixed(float64(sum.Min())/1e6, 2)}, {"Max Latency", fixed(float64(sum.Max())/1e6, 2)},
			}
			for _, p := range memtierPercentiles {
				figures = append(figures, member{fmt.Sprintf("p%.2f", p), fixed(float64(measure.Percentile(sum, p))/1e6, 2)})
			}
			out[o.name] = append(out[o.name], member{fmt.Sprint(int64(second)), figures})
		}
	}
	err := f.Intervals(func(iv hlog.Interval) error {
		if at := math.Floor(iv.T); at != second {
			flush()
			second, m = at, hlog.NewMerger()
		}
		return m.Add(iv)
	})
	flush()
	return out, err
}
