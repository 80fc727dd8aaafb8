package measure

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Second is one finished second of a run, as handed to the journal. The Second
// and its histograms are valid only during the call.
type Second struct {
	// T is the start of the second, in whole seconds since measurement began;
	// negative during warm-up.
	T int
	// Length is 1, except for the last second of a run.
	Length float64
	Warmup bool
	// Rows holds one row for each operation whose track ran in the second.
	Rows []Row
	// Intervals holds the histograms of the operations that recorded anything;
	// there are none during warm-up.
	Intervals []Interval
	// Result is the result of the run up to and including this second.
	Result *Result
}

// Interval holds the histograms of one operation over one second, in nanoseconds.
type Interval struct {
	Op                                Operation
	Response, Service, Wait, Lateness *hdrhistogram.Histogram
}

// Step is the width of timeline buckets while a run is young.
const Step = 200 * time.Millisecond

const (
	stepsEach = int(time.Second / Step) // per second
	youth     = 30                      // how many seconds a run is young
)

// youngFor returns how many seconds of a run have steps. There are none in a run
// carried out by several processes, which exchange whole seconds.
func youngFor(cfg *Config) int {
	if cfg.Part != nil || cfg.Complete != nil {
		return 0
	}
	return youth
}

// stepped reports whether the open second has steps.
func (c *Collector) stepped() bool { return c.second < c.first+c.young }

// opened returns the start of what is open.
func (c *Collector) opened() int64 {
	return int64(c.second)*int64(time.Second) + int64(c.step)*int64(Step)
}

// open computes the end of what is open.
func (c *Collector) open() {
	c.end = c.opened() + int64(time.Second)
	if c.stepped() {
		c.end = c.opened() + int64(Step)
	}
}

// slot numbers the steps, and after them the seconds, from the beginning of the
// run.
func (c *Collector) slot(at int64) int {
	second := floorSecond(at)
	n := second - c.first
	if n < c.young {
		return n*stepsEach + int((at-int64(second)*int64(time.Second))/int64(Step))
	}
	return n + c.young*(stepsEach-1)
}
