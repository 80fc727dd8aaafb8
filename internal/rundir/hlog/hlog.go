// Package hlog writes and reads the histogram log of a run.
package hlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
)

// What a histogram measures: the last part of its tag.
const (
	Response = "response"
	Service  = "service"
	Wait     = "wait"
	Lateness = "lateness"
)

// Tag returns the tag of an operation's histograms in latency.hlog. Characters that the
// log format does not allow in a tag become underscores.
func Tag(track, op, what string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == ',' {
			return '_'
		}
		return r
	}, track+"."+op+"."+what)
}

// Header returns the head of a log; times in the log are relative to start.
func Header(start time.Time) []byte {
	return fmt.Appendf(nil, "#[perfbench: response, service and wait time, and lateness, in nanoseconds]\n"+
		"#[Histogram log format version 1.3]\n"+
		"#[BaseTime: %[1]d.%03[2]d (seconds since epoch)]\n"+
		"#[StartTime: %[1]d.%03[2]d (seconds since epoch), %[3]s]\n"+
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		start.Unix(), start.Nanosecond()/1e6, start.UTC().Format(time.RFC3339))
}

// Intervals appends the log lines of one second. In a closed loop the service time is
// the response time and the lateness is the wait, usually as the same histogram, which
// is then encoded only once. If no call waited, as in a closed loop, none was late, and the
// lateness is left out: a Merger knows.
func (e *Encoder) Intervals(dst []byte, s *measure.Second) ([]byte, error) {
	for _, iv := range s.Intervals {
		prompt := none(iv.Wait)
		var payload []byte
		var of *hdrhistogram.Histogram
		for _, part := range []struct {
			what string
			h    *hdrhistogram.Histogram
		}{{Response, iv.Response}, {Service, iv.Service}, {Wait, iv.Wait}, {Lateness, iv.Lateness}} {
			if part.h == nil || part.h.TotalCount() == 0 || prompt && part.what == Lateness {
				continue
			}
			dst = fmt.Appendf(dst, "Tag=%s,%d.000,%.3f,%.3f,", Tag(iv.Op.Track, iv.Op.Op, part.what),
				s.T, s.Length, float64(measure.At(part.h, 100)[0])/1e6)
			if part.h == of {
				dst = append(append(dst, payload...), '\n')
				continue
			}
			from := len(dst)
			var err error
			if dst, err = e.encode(dst, part.h); err != nil {
				return dst, fmt.Errorf("encode the histogram of %s.%s: %w", iv.Op.Track, iv.Op.Op, err)
			}
			payload, of = dst[from:len(dst):len(dst)], part.h
			dst = append(dst, '\n')
		}
	}
	return dst, nil
}

// none reports whether all values are 0.
func none(h *hdrhistogram.Histogram) bool { return h == nil || h.Max() == 0 }

// Interval is one line of a log; Payload is valid until the next one is read.
type Interval struct {
	Tag     string
	T       float64 // seconds since the start of the log
	Payload []byte
}

// Parse parses one line without its line end; it returns false for comments, the legend
// and anything else that is not an interval.
func Parse(line []byte) (Interval, bool) {
	rest, ok := bytes.CutPrefix(line, []byte("Tag="))
	if !ok {
		return Interval{}, false
	}
	f := bytes.SplitN(rest, []byte{','}, 5)
	if len(f) != 5 {
		return Interval{}, false
	}
	t, err := strconv.ParseFloat(string(f[1]), 64)
	if err != nil {
		return Interval{}, false
	}
	return Interval{string(f[0]), t, f[4]}, true
}

// Each calls f for the complete lines of a log, in order, holding only one in memory.
// It returns the first error of f or of reading.
func Each(r io.Reader, f func(Interval) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if iv, ok := Parse(bytes.TrimRight(line, "\r\n")); ok {
			if err := f(iv); err != nil {
				return err
			}
		}
		line = line[:0]
	}
}

// Merger adds up the histograms of a log by tag. Calls that did not wait, whose lateness the
// log leaves out, count as a lateness of 0. It may be used by one goroutine at a
// time.
type Merger struct {
	dec  decoder
	sums map[string]*hdrhistogram.Snapshot
}

// NewMerger returns an empty merger.
func NewMerger() *Merger { return &Merger{sums: map[string]*hdrhistogram.Snapshot{}} }

// Add adds the histogram of an interval to those of its tag.
func (m *Merger) Add(iv Interval) error {
	if err := m.dec.add(m.sum(iv.Tag), iv.Payload); err != nil {
		return fmt.Errorf("tag %s at second %g: %w", iv.Tag, iv.T, err)
	}
	return nil
}

// prompt adds the lateness of calls that did not wait, which the log leaves out. If there is none
// though calls waited, nobody measured it.
func (m *Merger) prompt() {
	for tag, waits := range maps.Clone(m.sums) {
		op, ok := strings.CutSuffix(tag, "."+Wait)
		if !ok {
			continue
		}
		n, late := total(waits), m.sums[op+"."+Lateness]
		switch {
		case late != nil:
			n -= total(late)
		case n > waits.Counts[0]:
			continue
		}
		if n > 0 {
			m.sum(op + "." + Lateness).Counts[0] += n
		}
	}
}

// total returns the number of values.
func total(s *hdrhistogram.Snapshot) (n int64) {
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// sum returns the sum of a tag.
func (m *Merger) sum(tag string) *hdrhistogram.Snapshot {
	s := m.sums[tag]
	if s == nil {
		s = measure.NewHistogram().Export()
		m.sums[tag] = s
	}
	return s
}

// Histograms returns the sums by tag.
func (m *Merger) Histograms() map[string]*hdrhistogram.Histogram {
	m.prompt()
	out := make(map[string]*hdrhistogram.Histogram, len(m.sums))
	for tag, s := range m.sums {
		h := hdrhistogram.Import(s)
		h.SetTag(tag)
		out[tag] = h
	}
	return out
}

// Merge reads a histogram log written by perfbench, up to its last complete line, and
// adds up its intervals by tag. Memory use does not grow with the length of the log.
func Merge(r io.Reader) (map[string]*hdrhistogram.Histogram, error) {
	m := NewMerger()
	if err := Each(r, m.Add); err != nil {
		return nil, err
	}
	return m.Histograms(), nil
}
