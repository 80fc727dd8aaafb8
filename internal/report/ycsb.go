package report

import (
	"bytes"
	_ "embed" // for the documentation
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed ycsb.md
var ycsbDoc string

var ycsbFormat = rundir.Format{
	ID: "ycsb", Title: "result lines as YCSB prints them", Doc: ycsbDoc, Names: []string{"ycsb.txt"},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) { return one("ycsb.txt", ycsbLines(f)), nil },
}

// ycsbLines has a line for each figure: [OPERATION], figure, value.
func ycsbLines(f *rundir.Folder) []byte {
	var b bytes.Buffer
	line := func(op, figure, value string) { fmt.Fprintf(&b, "[%s], %s, %s\n", op, figure, value) }
	line("OVERALL", "RunTime(ms)", strconv.FormatInt(int64(math.Round(f.Run.MeasuredS*1000)), 10))
	line("OVERALL", "Throughput(ops/sec)", javaDouble(callRate(f)))
	for _, o := range operationsOf(f) {
		op, micros := ycsbName(o.name), func(ns int64) string { return strconv.FormatInt(ns/1000, 10) }
		line(op, "Operations", strconv.FormatInt(o.calls, 10))
		line(op, "AverageLatency(us)", javaDouble(o.response.Mean()/1000))
		line(op, "MinLatency(us)", micros(o.response.Min()))
		line(op, "MaxLatency(us)", micros(o.response.Max()))
		for _, p := range []float64{50, 95, 99} {
			line(op, fmt.Sprintf("%gthPercentileLatency(us)", p), micros(measure.Percentile(o.response, p)))
		}
		line(op, "Return=OK", strconv.FormatInt(max(o.calls-o.errors, 0), 10))
		if o.errors > 0 {
			line(op, "Return=ERROR", strconv.FormatInt(o.errors, 10))
		}
	}
	return b.Bytes()
}

// ycsbName returns an operation's name as YCSB writes it.
func ycsbName(op string) string {
	if op == "readmodifywrite" {
		return "READ-MODIFY-WRITE"
	}
	return strings.ToUpper(op)
}

// javaDouble returns a number as Java prints it, which is what YCSB is written in.
func javaDouble(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "NaN"
	}
	if abs := math.Abs(v); abs != 0 && (abs < 1e-3 || abs >= 1e7) {
		digits, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
		if !strings.Contains(digits, ".") {
			digits += ".0"
		}
		n, _ := strconv.Atoi(exponent) // digits
		return digits + "E" + strconv.Itoa(n)
	}
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
