// Package replay makes the calls of a capture again, on Redis: those of each connection in
// their order, when they were made, under keys of the run's own.
package replay

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/store/statements"
)

// Limits of a replay.
const (
	// MaxThreads is how many threads it has at most.
	MaxThreads = 512
	// maxCommands is how many commands are told apart; those that are rarer are counted
	// together.
	maxCommands = 60
)

// Others is the name of the commands that are counted together.
const Others = "others"

// mostMarks is of how many calls the moment is kept at most, for Count.
const mostMarks = 1 << 20

// Recording is what a replay knows of a capture before it begins. It is never changed.
type Recording struct {
	Path string
	*capture.Summary
	// Ops are the commands that are made again, the most frequent first, with Others for the
	// rest. A transaction counts as an EXEC.
	Ops []string
	// Items is how many calls are made again; a transaction is one.
	Items int64
	// Left counts the calls that are not, by why.
	Left map[string]int64
	// Length is the time from the first of them to the last.
	Length time.Duration

	options Options
	// said is what its statements have in common; nil: they are none.
	said *said
	// talk is what its calls are.
	talk *language
	op   map[string]int
	// seconds has the number of calls of each second, where nothing else is known of their
	// moments.
	seconds map[int]int64
	// when are the moments of all of them.
	when index
	// perSecond makes mean gaps of seconds.
	perSecond float64
	value     int // a usual size
	file      identity
}

// Rate is how many calls were made a second, on average; 0: their moments are not known.
func (r *Recording) Rate() float64 {
	if r.Header.Timing == capture.Unknown || r.Length <= 0 {
		return 0
	}
	rate := float64(r.Items) / r.Length.Seconds()
	digits := math.Pow(10, 5-math.Floor(math.Log10(rate))) // six of them are shown
	return math.Round(rate*digits) / digits
}

// identity is which file it was.
type identity struct {
	size     int64
	modified time.Time
}

// opened keeps what was read last: the same file is asked for again and again while a run is
// prepared.
var opened struct {
	sync.Mutex
	last *Recording
}

// Open reads a capture to its end, in bounded memory. Errors have the code of bad input. Any
// goroutine may call it.
func Open(path string, o Options) (*Recording, error) {
	opened.Lock()
	defer opened.Unlock()
	file, err := identify(path)
	if err != nil {
		return nil, err
	}
	if l := opened.last; l != nil && l.Path == path && l.file == file && l.options == o {
		return l, nil
	}
	r := &Recording{Path: path, file: file, options: o, seconds: map[int]int64{}}
	if err := r.read(); err != nil {
		return nil, err
	}
	opened.last = r
	return r, nil
}

func identify(path string) (identity, error) {
	f, err := infile.Open(infile.Recorded, path)
	if err != nil {
		return identity{}, fault.Code(err, fault.CodeInput)
	}
	defer f.Close() //nolint:errcheck // it was only read
	st, err := f.Stat()
	if err != nil {
		return identity{}, fault.Code(err, fault.CodeInput)
	}
	return identity{st.Size(), st.ModTime()}, nil
}

// read goes through the file once.
func (r *Recording) read() error {
	counts := map[string]int64{}
	var times []float64
	err := r.each(nil, func(c *capture.Reader) error {
		if why := statements.NotAgain(c.Header.Store); why != "" {
			return fault.Input(fmt.Errorf("%s: %s", r.Path, why), "perfbench capture --as-mix FILE.yaml makes a workload of it")
		}
		if r.talk = languages[c.Header.Store]; r.talk == nil {
			return fault.Input(fmt.Errorf("%s: calls of %s cannot be made again yet, only those of %s", r.Path, c.Header.Store, known()), "perfbench capture --show FILE shows what is in it")
		}
		mean := r.talk.mean(&c.Header)
		s := r.talk.sieve(r, &c.Header, func(i *item, _ []capture.Arg) {
			counts[i.command]++
			if c.Header.Timing == capture.Seconds {
				r.seconds[int(i.at/time.Second)]++
			}
			r.Items++
		})
		var err error
		r.Summary, err = capture.Summarize(c, func(k *capture.Call) capture.Meaning {
			m := mean(k)
			s.add(k, m.LeftOut)
			return m
		})
		s.end()
		r.Left = s.leftOut()
		return err
	})
	if err != nil {
		return err
	}
	if r.Items == 0 {
		return fault.Input(fmt.Errorf("%s: there is no call in it that could be made again", r.Path), "perfbench capture --show FILE says why")
	}
	r.rank(counts)
	r.value = 100
	for _, c := range r.Commands {
		if c.Name == "SET" && c.Sizes.P50 > 0 {
			r.value = int(c.Sizes.P50)
		}
	}
	// Once more, now that it is known how many calls each second has.
	r.perSecond = 1
	first, last, n := math.Inf(1), 0.0, int64(0)
	every := everyOf(r.Items)
	err = r.items(nil, func(i *item, _ []capture.Arg) error {
		if n == 0 {
			first = i.moment
		}
		if n%every == 0 {
			times = append(times, i.moment)
		}
		last = i.moment
		n++
		return nil
	})
	if err != nil {
		return err
	}
	r.Length = time.Duration((last - first) * float64(time.Second))
	if r.Length > 0 {
		r.perSecond = float64(r.Items) / r.Length.Seconds()
	}
	for i := range times {
		times[i] = (times[i] - first) * r.perSecond
	}
	r.when = index{times, every, r.Items, float64(r.Items)}
	return nil
}

// rank gives the commands their numbers.
func (r *Recording) rank(counts map[string]int64) {
	for name := range counts {
		r.Ops = append(r.Ops, name)
	}
	slices.SortFunc(r.Ops, func(a, b string) int {
		if counts[a] != counts[b] {
			return int(min(max(counts[b]-counts[a], -1), 1))
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	r.op = map[string]int{}
	if len(r.Ops) > maxCommands {
		for _, name := range r.Ops[maxCommands-1:] {
			r.op[name] = maxCommands - 1
		}
		r.Ops = append(r.Ops[:maxCommands-1:maxCommands-1], Others)
	}
	for i, name := range r.Ops {
		r.op[name] = i
	}
}

// each calls f with a reader of the file, which must be the same as before; was may be nil.
func (r *Recording) each(was *identity, f func(*capture.Reader) error) error {
	in, err := infile.Open(infile.Recorded, r.Path)
	if err != nil {
		return fault.Code(err, fault.CodeInput)
	}
	defer in.Close() //nolint:errcheck // it was only read
	if st, err := in.Stat(); was != nil && (err != nil || (identity{st.Size(), st.ModTime()}) != *was) {
		return fault.Input(fmt.Errorf("%s has changed since the run was prepared", r.Path), "run again")
	}
	c, err := capture.NewReader(r.Path, in)
	if err != nil {
		return err
	}
	defer c.Close()
	return f(c)
}

// errEnded ends a reading early.
var errEnded = errors.New("no more is wanted")

// items calls f with each call that is made again, and with its moment. ended, once closed, ends
// it.
func (r *Recording) items(ended <-chan struct{}, f func(*item, []capture.Arg) error) error {
	err := r.each(&r.file, func(c *capture.Reader) error {
		mean := r.talk.mean(&c.Header)
		clock := newMoments(r)
		var failed error
		number := int64(0)
		s := r.talk.sieve(r, &c.Header, func(i *item, args []capture.Arg) {
			i.moment, i.number = clock.of(i.at), number
			number++
			if failed == nil {
				failed = f(i, args)
			}
		})
		var k capture.Call
		for {
			select {
			case <-ended:
				return errEnded
			default:
			}
			switch err := c.Next(&k); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
			if s.add(&k, mean(&k).LeftOut); failed != nil {
				return failed
			}
		}
	})
	if errors.Is(err, errEnded) {
		return nil
	}
	return err
}

// index says when calls were made: marks are the moments of one of every so many of the n, and they
// end at end. With every 1 it is exact.
type index struct {
	marks []float64
	every int64
	n     int64
	end   float64
}

// everyOf is of one of how many calls the moment is kept.
func everyOf(calls int64) int64 { return max((calls+mostMarks-1)/mostMarks, 1) }

// count is how many calls were made up to a moment, exactly at the end.
func (x *index) count(moment float64) int64 {
	if moment >= x.end {
		return x.n
	}
	at := sort.Search(len(x.marks), func(i int) bool { return x.marks[i] > moment }) // so many are past
	if at == 0 {
		return 0
	}
	from, to, calls := x.marks[at-1], x.end, x.n-int64(at-1)*x.every
	if at < len(x.marks) {
		to, calls = x.marks[at], x.every
	}
	return int64(at-1)*x.every + max(1, int64(between(from, to, moment)*float64(min(calls, x.every))))
}

// between is where x is between two numbers, from 0 to 1.
func between(from, to, x float64) float64 {
	if to <= from {
		return 1
	}
	return min(max((x-from)/(to-from), 0), 1)
}
