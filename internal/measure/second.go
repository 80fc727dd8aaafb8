package measure

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

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

// Step is how long the buckets of the timeline of a run are that is still young.
const Step = 200 * time.Millisecond

const (
	stepsEach = int(time.Second / Step) // in a second
	youth     = 30                      // for so many seconds a run is young
)

// youngFor is how many seconds of a run have steps: none of one that several processes
// carry out, who tell each other of whole seconds.
func youngFor(cfg *Config) int {
	if cfg.Part != nil || cfg.Complete != nil {
		return 0
	}
	return youth
}

// stepped says that the open second has steps.
func (c *Collector) stepped() bool { return c.second < c.first+c.young }

// opened is the first moment of what is open.
func (c *Collector) opened() int64 {
	return int64(c.second)*int64(time.Second) + int64(c.step)*int64(Step)
}

// open sets the end of what is open.
func (c *Collector) open() {
	c.end = c.opened() + int64(time.Second)
	if c.stepped() {
		c.end = c.opened() + int64(Step)
	}
}

// slot numbers the steps, and after them the seconds, of a run from its beginning.
func (c *Collector) slot(at int64) int {
	second := floorSecond(at)
	n := second - c.first
	if n < c.young {
		return n*stepsEach + int((at-int64(second)*int64(time.Second))/int64(Step))
	}
	return n + c.young*(stepsEach-1)
}
