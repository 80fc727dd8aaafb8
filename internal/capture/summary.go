package capture

import (
	"cmp"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
)

// Limits of what a summary tells apart: beyond these, commands are counted together, keys
// that were not seen before are not counted as keys of their own, and neither are connections.
const (
	maxCommands = 500
	maxKeys     = 1 << 20
	maxForms    = 10_000
	// mostForms is how many of the forms a summary has.
	mostForms = 20
)

// others is the name of the commands that are counted together.
const others = "(others)"

// Meaning is what a call means to its store.
type Meaning struct {
	// TTL is the time to live that it sets; 0: none.
	TTL time.Duration
	// LeftOut says why a replay leaves the call out; empty: it does not.
	LeftOut string
	// Form is what it has in common with calls that differ only in their values, where that is
	// more than the command; empty: it is not.
	Form string
}

// OfForm is how many calls of a form are in a capture.
type OfForm struct {
	Form  string  `json:"form"`
	Calls int64   `json:"calls"`
	Share float64 `json:"share"`
	// Left is how many of the calls a replay leaves out.
	Left int64 `json:"left,omitempty"`
}

// Spread is how numbers are spread; percentiles are exact to 1 %, of times to 0.1 %.
type Spread struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50"`
	P99   int64 `json:"p99"`
	Max   int64 `json:"max"`
}

// OfCommand is what is in a capture of one command.
type OfCommand struct {
	Name  string  `json:"name"`
	Calls int64   `json:"calls"`
	Share float64 `json:"share"`
	// Sizes are bytes of arguments, without those of the command's name and of keys.
	Sizes Spread `json:"bytes"`
	// Left is how many of the calls a replay leaves out, and LeftOut why, most of them.
	Left    int64  `json:"left,omitempty"`
	LeftOut string `json:"left_out,omitempty"`
}

// Summary is what is in a capture.
type Summary struct {
	Header Header `json:"header"`
	Tally  Tally  `json:"tally"`
	// Cut is the last whole line of a file that was cut short.
	Cut int `json:"cut_short_after_line,omitempty"`

	Calls       int64 `json:"calls"`
	Connections int64 `json:"connections"`
	// First and Last are when the first and the last call were made.
	First time.Duration `json:"first_ns"`
	Last  time.Duration `json:"last_ns"`
	// Peak is how many calls there were in the busiest second, by the clock of the recording.
	Peak     int64       `json:"peak_per_second"`
	Commands []OfCommand `json:"commands"`
	// Keys is how many different keys there are; at least, if there are as many as a summary
	// tells apart. Touched is how often any was named.
	Keys    int64 `json:"keys"`
	AtLeast bool  `json:"keys_at_least,omitempty"`
	Touched int64 `json:"touched"`
	// Hottest10 and Hottest1Percent are the shares of the hottest keys.
	Hottest10       float64 `json:"hottest_10_share"`
	Hottest1Percent float64 `json:"hottest_1_percent_share"`
	KeySizes        Spread  `json:"key_bytes"`
	TTLs            Spread  `json:"ttl_ms"`
	// Reads is of how many reads it is known what they found, and Hits how many of them
	// found something, of the sizes FoundSizes.
	Reads      int64  `json:"reads_answered"`
	Hits       int64  `json:"hits"`
	FoundSizes Spread `json:"found_bytes"`
	// Known is of how many calls it is known how they ended, and Failed how many of them failed.
	Known  int64 `json:"outcomes_known"`
	Failed int64 `json:"failed"`
	// Forms are the most frequent forms of calls.
	Forms []OfForm `json:"forms,omitempty"`
	// LeftOut is how many calls a replay leaves out, by why.
	LeftOut map[string]int64 `json:"left_out,omitempty"`
}

// Summarize reads a capture to its end.
func Summarize(r *Reader, mean func(*Call) Meaning) (*Summary, error) {
	s := &Summary{LeftOut: map[string]int64{}}
	type count struct {
		calls int64
		sizes *hdrhistogram.Histogram
		out   map[string]int64 // how many are left out, by why
	}
	var (
		c        Call
		commands = map[string]*count{}
		seed     = maphash.MakeSeed()
		keys     = map[uint64]int64{}
		forms    = map[string]formCount{}
		conns    = map[int64]struct{}{}
		keySizes = newHist()
		found    = newHist()
		ttls     = hdrhistogram.New(1, most, 3)
		second   int64
		inSecond int64
	)
	for {
		err := r.Next(&c)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if s.Calls++; s.Calls == 1 {
			s.First = c.At
		}
		s.Last = max(s.Last, c.At)
		if now := int64(c.At / time.Second); now != second {
			second, inSecond = now, 0
		}
		inSecond++
		s.Peak = max(s.Peak, inSecond)
		if len(conns) < maxKeys {
			conns[c.Conn] = struct{}{}
		}
		m, name := mean(&c), c.Command()
		of := commands[name]
		if of == nil && len(commands) >= maxCommands {
			name = others
			of = commands[name]
		}
		if of == nil {
			of = &count{sizes: newHist(), out: map[string]int64{}}
			commands[name] = of
		}
		of.calls++
		if m.LeftOut != "" {
			s.LeftOut[m.LeftOut]++
			of.out[m.LeftOut]++
		}
		if m.TTL > 0 {
			record(ttls, m.TTL.Milliseconds())
		}
		if c.Outcome != Unsaid {
			s.Known++
		}
		if c.Outcome == Failed {
			s.Failed++
		}
		if m.Form != "" {
			if _, ok := forms[m.Form]; !ok && len(forms) >= maxForms {
				m.Form = others
			}
			f := forms[m.Form]
			if f.calls++; m.LeftOut != "" {
				f.left++
			}
			forms[m.Form] = f
		}
		if c.Found.Known {
			s.Reads++
		}
		if c.Found.Hit {
			s.Hits++
			record(found, int64(c.Found.Size))
		}
		bytes := 0
		for _, a := range c.Args[1:] {
			bytes += a.Size
		}
		for _, k := range c.Keys {
			a := &c.Args[k]
			bytes -= a.Size
			record(keySizes, int64(a.Size))
			s.Touched++
			h := maphash.String(seed, a.Text) ^ uint64(c.DB)
			if n, ok := keys[h]; ok || len(keys) < maxKeys {
				keys[h] = n + 1
			}
		}
		record(of.sizes, int64(bytes))
	}
	s.Header, s.Tally, s.Cut = r.Header, r.Tally, r.Cut()
	s.Connections, s.Keys, s.AtLeast = int64(len(conns)), int64(len(keys)), len(keys) >= maxKeys
	if s.Header.Timing == Unknown {
		s.Peak = 0
	}
	for name, of := range commands {
		c := OfCommand{Name: name, Calls: of.calls, Share: float64(of.calls) / float64(s.Calls), Sizes: spread(of.sizes)}
		for why, n := range of.out {
			if c.Left += n; c.LeftOut == "" || n > of.out[c.LeftOut] || n == of.out[c.LeftOut] && why < c.LeftOut {
				c.LeftOut = why
			}
		}
		s.Commands = append(s.Commands, c)
	}
	slices.SortFunc(s.Commands, func(a, b OfCommand) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	s.KeySizes, s.TTLs, s.FoundSizes = spread(keySizes), spread(ttls), spread(found)
	s.hottest(keys)
	s.forms(forms)
	return s, nil
}

// hottest works out which share the hottest keys have.
func (s *Summary) hottest(keys map[uint64]int64) {
	counts := make([]int64, 0, len(keys))
	for _, n := range keys {
		counts = append(counts, n)
	}
	slices.SortFunc(counts, func(a, b int64) int { return cmp.Compare(b, a) })
	share := func(n int) float64 {
		sum := int64(0)
		for _, c := range counts[:min(n, len(counts))] {
			sum += c
		}
		return float64(sum) / float64(max(s.Touched, 1))
	}
	s.Hottest10, s.Hottest1Percent = share(10), share((len(counts)+99)/100)
}

// formCount is how many calls of a form there are, and how many of them are left out.
type formCount struct{ calls, left int64 }

// forms lists the most frequent forms.
func (s *Summary) forms(all map[string]formCount) {
	for form, n := range all {
		s.Forms = append(s.Forms, OfForm{Form: form, Calls: n.calls, Share: float64(n.calls) / float64(s.Calls), Left: n.left})
	}
	slices.SortFunc(s.Forms, func(a, b OfForm) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Form, b.Form)) })
	s.Forms = s.Forms[:min(len(s.Forms), mostForms)]
}

// most is the largest number that is told apart from larger ones: bytes, or a time to live
// of 30 years.
const most = 1 << 40

func newHist() *hdrhistogram.Histogram { return hdrhistogram.New(1, most, 2) }

func record(h *hdrhistogram.Histogram, v int64) { _ = h.RecordValue(min(max(v, 0), most)) } // within its range

func spread(h *hdrhistogram.Histogram) Spread {
	if h.TotalCount() == 0 {
		return Spread{}
	}
	return Spread{Count: h.TotalCount(), P50: measure.Percentile(h, 50), P99: measure.Percentile(h, 99), Max: h.Max()}
}
