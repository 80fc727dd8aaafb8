package measure

import "github.com/HdrHistogram/hdrhistogram-go"

// Second is one finished second of a run, as handed to the journal. It and its
// histograms are valid during the call only.
type Second struct {
	// T is its first moment in whole seconds since measurement began; negative in
	// warm-up.
	T int
	// Length is 1 but for the last second of a run.
	Length float64
	Warmup bool
	// Rows holds one row for each operation whose track ran in it.
	Rows []Row
	// Intervals holds the histograms of the operations that recorded anything; none
	// in warm-up.
	Intervals []Interval
	// Result is what the run has come to up to and including this second.
	Result *Result
}

// Interval holds the histograms of one operation over one second, in nanoseconds.
type Interval struct {
	Op                                Operation
	Response, Service, Wait, Lateness *hdrhistogram.Histogram
}
