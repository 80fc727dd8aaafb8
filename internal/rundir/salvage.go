package rundir

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

// salvage makes the best of files that hold less than run.json covers, as after a power
// failure: it keeps the seconds that are complete in both files and recomputes the
// figures of the run from them.
func (f *Folder) salvage() error {
	until, hlogBytes, err := f.completeLog()
	if err != nil {
		return err
	}
	var whole bool
	err = f.open(SeriesFile, f.Run.Journal.SeriesBytes, func(r io.Reader, full bool) (err error) {
		f.Series, whole, err = readSeries(r)
		whole = whole && full
		return err
	})
	if err != nil {
		return err
	}
	if n := len(f.Series); !whole && n > 0 {
		// The last second may lack rows.
		until = min(until, float64(f.Series[n-1].T))
	} else if !whole {
		until = 0
	}
	kept := f.Series[:0:0]
	for _, r := range f.Series {
		if float64(r.T) < until {
			kept = append(kept, r)
		}
	}
	f.Series = kept
	m := hlog.NewMerger()
	size := int64(0)
	err = f.open(HlogFile, hlogBytes, func(r io.Reader, _ bool) error {
		var err error
		size, err = walkLog(r, func(iv hlog.Interval) error {
			if iv.T >= until {
				return errStop
			}
			return m.Add(iv)
		})
		return err
	})
	if err != nil && !errors.Is(err, errStop) {
		return err
	}
	f.Histograms = m.Histograms()
	f.recompute(max(until, 0), size)
	return nil
}

var errStop = errors.New("enough")

// completeLog returns how many seconds of the log are complete and readable, and where
// the last of them ends. An undamaged log is complete to its last line.
func (f *Folder) completeLog() (until float64, size int64, err error) {
	until = f.Run.Journal.Seconds
	last := math.Inf(-1)
	err = f.open(HlogFile, f.Run.Journal.HlogBytes, func(r io.Reader, full bool) error {
		check := hlog.NewMerger()
		var err error
		size, err = walkLog(r, func(iv hlog.Interval) error {
			last = iv.T
			return check.Add(iv)
		})
		if errors.Is(err, hlog.ErrCorrupt) || err == nil && !full {
			until, err = min(until, max(last, 0)), nil
		}
		return err
	})
	return until, size, err
}

// walkLog is hlog.Each, but also returns where the lines that f accepted end.
func walkLog(r io.Reader, f func(hlog.Interval) error) (size int64, err error) {
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return size, nil
		}
		if err != nil {
			return size, err
		}
		if iv, ok := hlog.Parse(bytes.TrimRight(line, "\r\n")); ok {
			if err := f(iv); err != nil {
				return size, err
			}
		}
		size += int64(len(line))
	}
}

// recompute replaces the figures of run.json by those of what is left.
func (f *Folder) recompute(until float64, hlogBytes int64) {
	r := &f.Run
	f.damaged = true
	r.Notices = append(r.Notices, fmt.Sprintf(
		"%s or %s of this run ended before the %g s that %s covers; the figures were recomputed from the %g s that are left, and settings and errors may include later ones.",
		HlogFile, SeriesFile, r.Journal.Seconds, RunFile, until))
	r.MeasuredS = min(r.MeasuredS, until)
	f.Samples = slices.DeleteFunc(f.Samples, func(s Sample) bool { return float64(s.T) >= until })
	r.Journal = Extent{Seconds: until, HlogBytes: hlogBytes, SeriesBytes: int64(len(SeriesCSV(f.Series))), SamplesBytes: int64(len(SamplesCSV(f.Samples)))}
	for i := range r.Operations {
		o := &r.Operations[i]
		o.Count, o.Errors, o.ActiveS, o.Throughput = 0, 0, 0, nil
		for _, row := range f.Series {
			if row.Track == o.Track && row.Op == o.Op && !row.Warmup {
				o.Count += row.Count
				o.Errors += row.Errors
				o.ActiveS++
			}
		}
		if o.ActiveS > 0 && !r.Failed() {
			v := float64(o.Count) / o.ActiveS
			o.Throughput = &v
		}
		digest := func(what string) measure.Summary {
			return measure.Summarize(f.Histograms[hlog.Tag(o.Track, o.Op, what)])
		}
		o.Calls = digest(hlog.Response).Count
		o.Response, o.Service, o.Wait = LatencyOf(digest(hlog.Response)), LatencyOf(digest(hlog.Service)), LatencyOf(digest(hlog.Wait))
		o.Lateness = LatencyOf(digest(hlog.Lateness))
		several := measure.SlowestOf(f.Histograms[hlog.Tag(o.Track, o.Op, hlog.Response)])
		o.Slowest = slowest(several[:])
	}
	segments := []Segment{}
	for _, s := range r.Segments {
		if s.To <= until {
			segments = append(segments, s)
		}
	}
	changes := []Change{}
	for _, c := range r.Changes {
		if c.At <= until {
			changes = append(changes, c)
		}
	}
	phases := []Phase(nil)
	for _, p := range r.Phases {
		if p.To = min(p.To, until); p.From < p.To {
			phases = append(phases, p)
		}
	}
	r.Segments, r.Changes, r.Phases, r.Shares = segments, changes, phases, nil
}
