package rundir

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
)

// SeriesColumns are the columns of series.csv, in order.
const SeriesColumns = "t_s,track,op,count,errors,throughput_per_s,response_p50_ns,response_p99_ns,response_max_ns,service_p99_ns,backlog,threads,payload_bytes,batch,rate_per_s,segment,warmup"

func rowOf(r measure.Row, op measure.Operation, warmup bool) SeriesRow {
	return SeriesRow{
		T: r.T, Track: op.Track, Op: op.Op, Count: r.Count, Errors: r.Errors,
		Throughput:  r.PerSecond(),
		ResponseP50: r.ResponseP50, ResponseP99: r.ResponseP99, ResponseMax: r.ResponseMax,
		ServiceP99: r.ServiceP99, Backlog: r.Backlog + r.GivenUp,
		Threads: r.Threads, Payload: r.Payload, Batch: r.Batch, Rate: r.Rate,
		Segment: r.Segment, Warmup: warmup,
	}
}

// Rows returns the rows of a second of the measured part, as series.csv has them.
func Rows(s *measure.Second) []SeriesRow {
	if s.Warmup || s.Result == nil {
		return nil
	}
	out := make([]SeriesRow, 0, len(s.Rows))
	for _, r := range s.Rows {
		out = append(out, rowOf(r, s.Result.Ops[r.Op].Operation, false))
	}
	return out
}

// appendRow appends one line of series.csv.
func appendRow(dst []byte, r SeriesRow) []byte {
	dst = strconv.AppendInt(dst, int64(r.T), 10)
	dst = append(append(dst, ','), field(r.Track)...)
	dst = append(append(dst, ','), field(r.Op)...)
	whole := func(v int64) { dst = strconv.AppendInt(append(dst, ','), v, 10) }
	number := func(v float64, digits int) { dst = strconv.AppendFloat(append(dst, ','), v, 'f', digits, 64) }
	whole(r.Count)
	whole(r.Errors)
	number(r.Throughput, 3)
	for _, v := range []int64{
		r.ResponseP50, r.ResponseP99, r.ResponseMax, r.ServiceP99, r.Backlog,
		int64(r.Threads), int64(r.Payload), int64(r.Batch),
	} {
		whole(v)
	}
	number(r.Rate, -1)
	whole(int64(r.Segment))
	dst = strconv.AppendBool(append(dst, ','), r.Warmup)
	return append(dst, '\n')
}

// field quotes a name if CSV requires it. Line ends become spaces, so that a row is
// always one line.
func field(s string) string {
	s = Cell(strings.NewReplacer("\r", " ", "\n", " ").Replace(s))
	if !strings.ContainsAny(s, ",\"") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// SeriesCSV encodes rows as in series.csv; throughput is NaN where it is unknown.
func SeriesCSV(rows []SeriesRow) []byte {
	out := []byte(SeriesColumns + "\n")
	for _, r := range rows {
		out = appendRow(out, r)
	}
	return out
}

// readSeries reads complete lines. It stops without an error at the first that is not a
// row, and reports whether it read all.
func readSeries(r io.Reader) ([]SeriesRow, bool, error) {
	br := bufio.NewReader(r)
	var out []SeriesRow
	for n := 0; ; n++ {
		line, err := br.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, len(line) == 0, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("read the series: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if n == 0 && string(line) == SeriesColumns {
			continue
		}
		row, ok := parseRow(line)
		if !ok {
			return out, false, nil
		}
		out = append(out, row)
	}
}

func parseRow(line []byte) (SeriesRow, bool) {
	f, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err != nil || len(f) != strings.Count(SeriesColumns, ",")+1 {
		return SeriesRow{}, false
	}
	ok := true
	whole := func(s string) int64 {
		v, err := strconv.ParseInt(s, 10, 64)
		ok = ok && err == nil
		return v
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		ok = ok && err == nil && !math.IsInf(v, 0)
		return v
	}
	r := SeriesRow{
		T: int(whole(f[0])), Track: uncell(f[1]), Op: uncell(f[2]), Count: whole(f[3]), Errors: whole(f[4]),
		Throughput:  number(f[5]),
		ResponseP50: whole(f[6]), ResponseP99: whole(f[7]), ResponseMax: whole(f[8]),
		ServiceP99: whole(f[9]), Backlog: whole(f[10]),
		Threads: int(whole(f[11])), Payload: int(whole(f[12])), Batch: int(whole(f[13])),
		Rate: number(f[14]), Segment: int(whole(f[15])), Warmup: f[16] == "true",
	}
	return r, ok && (f[16] == "true" || f[16] == "false")
}

// SamplesColumns are the columns of store.csv, in order.
const SamplesColumns = "t_s,source,node,name,value"

// Sources of samples.
const (
	// OfClient is for what the system reports about the perfbench process, OfProcess
	// about that of a store on the same machine.
	OfClient  = "perfbench"
	OfProcess = "process"
	// OfStore is for what the store's servers report about themselves.
	OfStore = "store"
	// OfOther is for what the system reports about another process that the run uses,
	// such as a broker.
	OfOther = "other"
	// OfWorker is for what the processes that carry out a run together report about
	// themselves; each is a node named by its number.
	OfWorker = "worker"
	// OfMachine is for what the system reports about this machine.
	OfMachine = "machine"
)

// Sample is one row of store.csv: one number over one second.
type Sample struct {
	// T is the second, counted as in series.csv.
	T int
	// Source says who measured; Node says which of several servers, and is empty for a
	// single one.
	Source, Node string
	// Name ends in its unit: "cpu_cores", "memory_bytes", "commands_per_s".
	Name  string
	Value float64
}

// appendSample appends one line of store.csv; a value that is not a number is left out.
func appendSample(dst []byte, s Sample) []byte {
	if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
		return dst
	}
	dst = strconv.AppendInt(dst, int64(s.T), 10)
	for _, text := range []string{s.Source, s.Node, s.Name} {
		dst = append(append(dst, ','), field(text)...)
	}
	dst = strconv.AppendFloat(append(dst, ','), math.Round(s.Value*1000)/1000, 'f', -1, 64)
	return append(dst, '\n')
}

// SamplesCSV encodes samples as in store.csv; nothing if there are none.
func SamplesCSV(samples []Sample) []byte {
	if len(samples) == 0 {
		return nil
	}
	out := []byte(SamplesColumns + "\n")
	for _, s := range samples {
		out = appendSample(out, s)
	}
	return out
}

// readSamples reads complete lines up to the first that is not a sample.
func readSamples(r io.Reader) ([]Sample, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	lines := csv.NewReader(bytes.NewReader(data[:bytes.LastIndexByte(data, '\n')+1]))
	lines.FieldsPerRecord, lines.ReuseRecord = 5, true
	var out []Sample
	for n := 0; ; n++ {
		f, err := lines.Read()
		if err != nil {
			return out, nil //nolint:nilerr // a damaged rest is left out
		}
		t, err1 := strconv.Atoi(f[0])
		v, err2 := strconv.ParseFloat(f[4], 64)
		if err := errors.Join(err1, err2); err == nil {
			out = append(out, Sample{t, uncell(f[1]), uncell(f[2]), uncell(f[3]), v})
		} else if n > 0 {
			return out, nil
		}
	}
}
