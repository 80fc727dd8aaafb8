// Package fit makes a workload of a capture: operations with the weights, sizes, times to live
// and key distributions that were recorded, so that it can be made larger than it was.
package fit

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/redis/traffic"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/own"
)

// Limits of what is told apart.
const (
	maxKeys = 1 << 20
	// maxSets is how many kinds of keys become data sets; the keys of rarer ones are one.
	maxSets = 30
	// maxFields is how many fields of a hash are counted.
	maxFields = 20
	// buckets is how many sizes a table has at most.
	buckets = 8
)

// Fitted is a workload that was made of a capture.
type Fitted struct {
	// Text is the YAML of perfbench run mix --file.
	Text string
	// Calls is how many calls it stands for, Left how many there are that it cannot say, by command.
	Calls int64
	Left  map[string]int64
}

// of counts the calls of one kind of keys.
type of struct {
	name  string
	kind  model.Type
	calls map[action]*counts
	keys  map[uint64]int32 // their numbers, in the order of their first calls
	// ages has the number of each key among those that were put there since the recording began; -1: it
	// may have been there before. added is how many were.
	ages  []int32
	added int32
	ttls  []int64 // a sample, in ms
	total int64
	// named is how often a key was named, and bytes how long it was then, in all.
	named, bytes int64
	// fields are the numbers of fields that were written and read.
	fields map[uint64]bool
	sizes  histogram
	found  histogram // of what was read, where nothing is known of what was written
}

// action is what a call does: a verb, on how many records.
type action struct {
	do    model.Verb
	batch bool
}

type counts struct {
	calls, records, elements, fields int64
	// low and high are the least and the most that was added.
	low, high int64
	// by is how often each key was named, by its number; added how many keys were put there, and
	// recent how often one was named before which so many others had been put there since.
	by     []int32
	added  int64
	recent [newest]int64
	// aged is how often a key was named when that could be told.
	aged int64
}

// meaning is what a command does in terms of a workload.
type meaning struct {
	do   model.Verb
	kind model.Type
	// value is which argument is a value, member or element that is written; 0: none.
	value int
	// fields is the first argument that is a field, each step apart.
	fields, step int
}

// commands are those that a workload can say.
var commands = map[string]meaning{
	"GET": {do: model.Get, kind: model.Value}, "GETEX": {do: model.Get, kind: model.Value}, "MGET": {do: model.Get, kind: model.Value}, "STRLEN": {do: model.Get, kind: model.Value},
	"GETRANGE": {do: model.Get, kind: model.Value}, "SET": {do: model.Put, kind: model.Value, value: 2}, "SETNX": {do: model.Put, kind: model.Value, value: 2}, "GETSET": {do: model.Put, kind: model.Value, value: 2},
	"SETEX": {do: model.Put, kind: model.Value, value: 3}, "PSETEX": {do: model.Put, kind: model.Value, value: 3}, "MSET": {do: model.Put, kind: model.Value, value: 2},
	"INCR": {do: model.Add, kind: model.Counter}, "DECR": {do: model.Add, kind: model.Counter}, "INCRBY": {do: model.Add, kind: model.Counter}, "DECRBY": {do: model.Add, kind: model.Counter},
	"DEL": {do: model.Delete}, "UNLINK": {do: model.Delete},
	"HGET": {do: model.Get, kind: model.Hash, fields: 2, step: 1}, "HMGET": {do: model.Get, kind: model.Hash, fields: 2, step: 1}, "HGETALL": {do: model.Get, kind: model.Hash},
	"HVALS": {do: model.Get, kind: model.Hash}, "HSET": {do: model.Update, kind: model.Hash, value: 3, fields: 2, step: 2}, "HMSET": {do: model.Update, kind: model.Hash, value: 3, fields: 2, step: 2},
	"RPUSH": {do: model.Push, kind: model.List, value: 2}, "LPUSH": {do: model.Push, kind: model.List, value: 2}, "LPOP": {do: model.Pop, kind: model.List}, "RPOP": {do: model.Pop, kind: model.List},
	"LRANGE": {do: model.Range, kind: model.List}, "LINDEX": {do: model.Range, kind: model.List},
	"SADD": {do: model.Include, kind: model.Set, value: 2}, "SREM": {do: model.Exclude, kind: model.Set}, "SISMEMBER": {do: model.Has, kind: model.Set}, "SMEMBERS": {do: model.Members, kind: model.Set},
	"ZADD": {do: model.Include, kind: model.Sorted, value: 3}, "ZREM": {do: model.Exclude, kind: model.Sorted}, "ZSCORE": {do: model.Has, kind: model.Sorted}, "ZRANK": {do: model.Has, kind: model.Sorted},
	"ZRANGE": {do: model.Range, kind: model.Sorted}, "ZREVRANGE": {do: model.Range, kind: model.Sorted}, "ZRANGEBYSCORE": {do: model.Range, kind: model.Sorted}, "ZREVRANGEBYSCORE": {do: model.Range, kind: model.Sorted},
	"XADD": {do: model.Append, kind: model.Stream, value: 4}, "XRANGE": {do: model.Range, kind: model.Stream}, "XREVRANGE": {do: model.Range, kind: model.Stream},
}

// fitter reads a capture. It belongs to one goroutine.
type fitter struct {
	seed maphash.Seed
	sets map[string]*of
	// kinds has the type of a kind of keys, for calls that do not say it.
	kinds map[string]model.Type
	left  map[string]int64
	calls int64
	first time.Duration
	last  time.Duration
	keys  int
	cut   bool // there are more keys than are told apart
}

// Of makes a workload of a capture, or of pg_stat_statements as a CSV file, in bounded memory. The
// name is for errors, which have the code of bad input, and for the first line.
func Of(name string, from io.Reader) (*Fitted, error) {
	in := bufio.NewReaderSize(from, 64<<10)
	if ahead, _ := in.Peek(in.Size()); isStatistics(ahead) {
		return ofStatistics(name, in)
	}
	r, err := capture.NewReader(name, in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Header.Store != "redis" {
		return ofCapture(name, r)
	}
	f := &fitter{seed: maphash.MakeSeed(), sets: map[string]*of{}, kinds: map[string]model.Type{}, left: map[string]int64{}, first: -1}
	mean := traffic.Mean(&r.Header)
	var c capture.Call
	for {
		if err := r.Next(&c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		f.add(&c, mean(&c))
	}
	return f.fitted(name, &r.Header)
}

// add counts a call.
func (f *fitter) add(c *capture.Call, m capture.Meaning) {
	if f.first < 0 {
		f.first = c.At
	}
	f.last = max(f.last, c.At)
	name := c.Command()
	what, ok := commands[name]
	if !ok || m.LeftOut != "" || len(c.Keys) == 0 {
		f.left[name]++
		return
	}
	pattern := patternOf(c.Args[c.Keys[0]].Text)
	if what.kind == "" {
		if what.kind, ok = f.kinds[pattern]; !ok {
			what.kind = model.Value
		}
	} else {
		f.kinds[pattern] = what.kind
	}
	if what.do == model.Get && what.kind == model.Value && f.kinds[pattern] == model.Counter {
		what.kind = model.Counter
	}
	s := f.set(pattern, what.kind)
	f.calls++
	s.total++
	records := int64(len(c.Keys))
	n := s.calls[action{what.do, records > 1}]
	if n == nil {
		n = &counts{}
		s.calls[action{what.do, records > 1}] = n
	}
	n.calls++
	n.records += records
	for _, k := range c.Keys {
		s.named, s.bytes = s.named+1, s.bytes+int64(c.Args[k].Size)
		f.key(s, n, what.do, c.Args[k].Text)
	}
	if c.Found.Hit && what.value == 0 && what.do == model.Get {
		s.found.add(int64(c.Found.Size))
	}
	if what.fields > 0 {
		for i := what.fields; i < len(c.Args); i += what.step {
			n.fields++
			if len(s.fields) < maxFields {
				s.fields[f.hash(&c.Args[i])] = true
			}
		}
	}
	if what.do == model.Range {
		n.elements += elements(c)
	}
	if what.do == model.Add {
		by := added(c)
		if n.calls == 1 {
			n.low, n.high = by, by
		}
		n.low, n.high = min(n.low, by), max(n.high, by)
	}
	if what.value > 0 {
		step := 2
		if what.do == model.Push || what.do == model.Include && what.kind == model.Set {
			step = 1
		}
		for i := what.value; i < len(c.Args); i += step {
			s.sizes.add(int64(c.Args[i].Size))
			if name == "SET" || name == "SETNX" || name == "GETSET" || what.value == 3 && what.kind == model.Value || what.kind == model.Stream {
				break // what follows are options
			}
		}
	}
	if m.TTL > 0 && len(s.ttls) < 10_000 {
		s.ttls = append(s.ttls, m.TTL.Milliseconds())
	}
}

// elements is how many elements a range asks for, as far as its numbers say.
func elements(c *capture.Call) int64 {
	from, to := int64(0), int64(9)
	if len(c.Args) > 3 {
		if _, err := fmt.Sscan(c.Args[2].Text+" "+c.Args[3].Text, &from, &to); err != nil {
			return 10
		}
	}
	if to < 0 || to < from {
		return 100
	}
	return min(to-from+1, 1000)
}

// added is how much a call adds to a counter.
func added(c *capture.Call) int64 {
	by := int64(1)
	if len(c.Args) > 2 {
		if _, err := fmt.Sscan(c.Args[2].Text, &by); err != nil {
			by = 1
		}
	}
	if strings.HasPrefix(c.Command(), "DECR") {
		return -by
	}
	return by
}

func (f *fitter) hash(a *capture.Arg) uint64 {
	if a.Kind == capture.Name {
		return a.ID
	}
	return maphash.String(f.seed, a.Text)
}

// set returns the counts of a kind of keys.
func (f *fitter) set(pattern string, kind model.Type) *of {
	at := pattern + "\x00" + string(kind)
	s := f.sets[at]
	if s == nil && len(f.sets) >= maxSets {
		pattern = "others"
		at = pattern + "\x00" + string(kind)
		s = f.sets[at]
	}
	if s == nil {
		s = &of{name: f.nameOf(pattern, kind), kind: kind, calls: map[action]*counts{}, keys: map[uint64]int32{}, fields: map[uint64]bool{}}
		f.sets[at] = s
	}
	return s
}

// key counts a key of a set, and how new it is.
func (f *fitter) key(s *of, n *counts, do model.Verb, key string) {
	h := maphash.String(f.seed, key)
	number, ok := s.keys[h]
	if !ok {
		if f.keys >= maxKeys {
			f.cut = true
			return
		}
		f.keys++
		number = int32(len(s.keys)) //nolint:gosec // at most maxKeys
		s.keys[h] = number
		if s.grows() && (do == model.Put || do == model.Update) {
			s.ages = append(s.ages, s.added)
			s.added++
			n.added++
		} else {
			s.ages = append(s.ages, -1)
		}
	}
	for len(n.by) <= int(number) {
		n.by = append(n.by, 0)
	}
	n.by[number]++
	if !ok || s.added < newest {
		return
	}
	n.aged++
	if age := s.ages[number]; age >= 0 && s.added-1-age < newest {
		n.recent[s.added-1-age]++
	}
}

// grows reports whether a workload can add records to the set.
func (s *of) grows() bool { return s.kind == model.Value || s.kind == model.Hash }

// patternOf is what keys of a kind have in common: their words, without what has a digit in it.
func patternOf(key string) string {
	var words []string
	for _, w := range strings.FieldsFunc(key, func(c rune) bool { return !isLetter(c) && !isDigit(c) }) {
		if strings.ContainsFunc(w, isDigit) {
			w = strings.TrimRight(strings.TrimFunc(w, isDigit), "0123456789")
			if strings.ContainsFunc(w, isDigit) {
				continue // an identifier
			}
		}
		if w != "" {
			words = append(words, strings.ToLower(w))
		}
	}
	return strings.Join(words[:min(len(words), 3)], "-")
}

func isLetter(c rune) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c rune) bool  { return c >= '0' && c <= '9' }

// nameOf is a name for a data set that no other has.
func (f *fitter) nameOf(pattern string, kind model.Type) string {
	base := pattern
	if base == "" {
		base = string(kind)
	}
	if len(base) > 30 {
		base = strings.TrimRight(base[:30], "-")
	}
	taken := func(name string) bool {
		for _, s := range f.sets {
			if model.ColumnName(s.name) == model.ColumnName(name) {
				return true
			}
		}
		return false
	}
	name := base
	if taken(name) {
		name = base + "-" + string(kind)
	}
	for i := 2; taken(name); i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	return name
}

// fitted puts the workload together.
func (f *fitter) fitted(path string, h *capture.Header) (*Fitted, error) {
	sets := make([]*of, 0, len(f.sets))
	for _, s := range f.sets {
		sets = append(sets, s)
	}
	if len(sets) == 0 {
		return nil, fault.Input(fmt.Errorf("%s: there is no call in it that a workload could have", path), "perfbench capture --show FILE shows what is in it")
	}
	slices.SortFunc(sets, func(a, b *of) int { return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name)) })
	w := &model.Workload{}
	var notes []string
	for _, s := range sets {
		note := s.put(w)
		notes = append(notes, note...)
	}
	for i := range w.Operations {
		w.Operations[i].Weight = share(w.Operations[i].Weight, f.calls)
	}
	if err := w.Complete(); err != nil {
		return nil, err
	}
	var top strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&top, "# "+format+"\n", args...) }
	line("Made of %s: %d of %s.", path, f.calls, units.Plural(f.calls+f.others(), "call"))
	if span := (f.last - f.first).Seconds(); span > 0.2 && h.Timing != capture.Unknown {
		line("They came at %s/s: --rate %.0f, with the arrivals of independent users.", units.Number(float64(f.calls)/span), math.Ceil(float64(f.calls)/span))
	}
	for _, n := range notes {
		line("%s", n)
	}
	if f.cut {
		line("There are more keys than were told apart: of the data sets, records says how many there are at least.")
	}
	for _, name := range f.byCalls() {
		line("Left out: %s of %s.", units.Plural(f.left[name], "call"), name)
	}
	return &Fitted{Text: top.String() + own.Write(w), Calls: f.calls, Left: f.left}, nil
}

// share is a weight in per cent, to four digits.
func share(n float64, of int64) float64 {
	x := 100 * n / float64(of)
	digits := math.Pow(10, 3-math.Floor(math.Log10(max(x, 1e-6))))
	return math.Round(x*digits) / digits
}

func (f *fitter) others() (n int64) {
	for _, k := range f.left {
		n += k
	}
	return n
}

// byCalls are the commands that are left out, the most frequent first.
func (f *fitter) byCalls() []string {
	var names []string
	for name := range f.left {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(f.left[b], f.left[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), 20)]
}

// put adds the data set and its operations to a workload, and says how well they fit.
func (s *of) put(w *model.Workload) []string {
	keys, note := s.distributions()
	d := model.Data{Name: s.name, Type: s.kind, Records: int64(max(len(s.keys), 1)), Size: s.sizes.number()}
	follows := false // calls follow the newest records, so that there must be new ones
	for _, k := range keys {
		follows = follows || k.Kind == model.Latest
	}
	if follows {
		d.Records = max(d.Records-int64(s.added), newest)
	}
	stored := int64(len("perfbench::") + len(s.name)) // what stands before each key in the store
	d.Key.Length = int(min(max(s.bytes/max(s.named, 1)-stored, int64(len(strconv.FormatInt(d.Records, 10)))), model.LongestKey))
	if !d.Size.Given() {
		d.Size = s.found.number()
	}
	if !d.Size.Given() && s.kind != model.Counter {
		note = append(note, s.name+": nothing was written, so its sizes are not known; taken as 1 KiB.")
	}
	switch s.kind {
	case model.Hash:
		for i := range max(len(s.fields), 1) {
			d.Fields = append(d.Fields, model.Field{Name: fmt.Sprintf("f%d", i)})
		}
	case model.List, model.Set, model.Sorted, model.Stream:
		d.Length = model.One(max(s.longest(), 10))
		if s.kind != model.Set {
			d.Most = 2 * d.Length.Max
		}
	}
	if s.kind == model.Counter {
		d.Size = model.Number{}
	}
	if len(s.ttls) > 0 {
		slices.Sort(s.ttls)
		d.TTL = model.One(s.ttls[len(s.ttls)/2] * int64(time.Millisecond))
		if s.ttls[0] != s.ttls[len(s.ttls)-1] {
			note = append(note, s.name+": times to live differ; the median is taken for all.")
		}
		d.Cached = true // it expires, and is no loss then
	}
	w.Data = append(w.Data, d)
	for _, a := range mostFirst(s.calls, func(a action) (calls int64, name string) { return s.calls[a].calls, string(a.do) }) {
		n := s.calls[a]
		st := model.Step{Do: a.do, Data: s.name, Keys: keys[a]}
		name, weight := s.name+"-"+string(a.do), float64(n.calls)
		if follows && n.added > 0 {
			part := weight * float64(n.added) / float64(n.records)
			w.Operations = append(w.Operations, model.Operation{Name: name + "-new", Weight: part, Steps: []model.Step{{Do: model.Insert, Data: s.name}}})
			weight -= part
		}
		if weight < 1 {
			continue
		}
		if a.batch {
			name += "-many"
			st.Batch = model.One(max(int64(math.Round(float64(n.records)/float64(n.calls))), 2))
		}
		if n.elements > 0 {
			st.Count = model.One(max(n.elements/n.calls, 1))
		}
		if fields := int(math.Round(float64(n.fields) / float64(n.calls))); fields > 0 && fields < len(d.Fields) {
			st.Fields = fields
		} else if a.do == model.Update && len(d.Fields) > 0 {
			st.Fields = len(d.Fields)
		}
		if a.do == model.Add {
			st.By = model.Between(n.low, n.high)
		}
		w.Operations = append(w.Operations, model.Operation{Name: name, Weight: weight, Steps: []model.Step{st}})
	}
	return note
}

// longest is about how many elements a range asks for.
func (s *of) longest() int64 {
	for a, n := range s.calls {
		if a.do == model.Range && n.calls > 0 {
			return n.elements / n.calls
		}
	}
	return 0
}

// histogram counts sizes by powers of the square root of two.
type histogram struct{ n map[int]stretch }

// stretch is how many sizes there are from the smallest of them to the largest.
type stretch struct{ n, min, max int64 }

// and is both together.
func (s stretch) and(t stretch) stretch {
	return stretch{s.n + t.n, min(s.min, t.min), max(s.max, t.max)}
}

func (h *histogram) add(size int64) {
	if h.n == nil {
		h.n = map[int]stretch{}
	}
	b, one := bucketOf(size), stretch{1, size, size}
	if s, ok := h.n[b]; ok {
		one = s.and(one)
	}
	h.n[b] = one
}

func bucketOf(size int64) int { return int(math.Floor(2 * math.Log2(float64(max(size, 1))))) }

// number is a table of sizes.
func (h *histogram) number() model.Number {
	if len(h.n) == 0 {
		return model.Number{}
	}
	at := make([]int, 0, len(h.n))
	for b := range h.n {
		at = append(at, b)
	}
	slices.Sort(at)
	// The rarest neighbours are joined until there are few enough.
	var all []stretch
	for _, b := range at {
		all = append(all, h.n[b])
	}
	for len(all) > buckets {
		best := 0
		for i := 1; i+1 < len(all); i++ {
			if all[i].n+all[i+1].n < all[best].n+all[best+1].n {
				best = i
			}
		}
		all[best] = all[best].and(all[best+1])
		all = slices.Delete(all, best+1, best+2)
	}
	out := model.Number{Kind: model.Weighted}
	for _, s := range all {
		out.Table = append(out.Table, model.Choice{Weight: float64(s.n), Min: max(s.min, 1), Max: max(s.max, 1)})
	}
	if len(out.Table) == 1 {
		return model.Between(out.Table[0].Min, out.Table[0].Max)
	}
	return out
}

// mostFirst returns the keys by their calls, the most first, and then by their names.
func mostFirst[K comparable, V any](m map[K]V, of func(K) (calls int64, name string)) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		x, one := of(a)
		y, other := of(b)
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(one, other))
	})
}
