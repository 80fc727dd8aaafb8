package workload

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Bits is a Mergeable of rows of bits that are only ever set. They are set directly in the rows; it
// must not be copied.
type Bits struct {
	rows [][]atomic.Uint64
	told [][]uint64
}

// BitsOf is the Mergeable of these rows.
func BitsOf(rows ...[]atomic.Uint64) *Bits { return &Bits{rows: rows} }

// BitsDelta are the words of rows that have changed: At has the index of each of Words, in order,
// counted through all rows.
type BitsDelta struct {
	At    []int64
	Words []uint64
}

// Delta returns the words that have changed.
func (b *Bits) Delta() (news BitsDelta) {
	if b.told == nil {
		for _, row := range b.rows {
			b.told = append(b.told, make([]uint64, len(row)))
		}
	}
	first := int64(0)
	for k, row := range b.rows {
		told := b.told[k]
		for i := range row {
			if now := row[i].Load(); now != told[i] {
				told[i] = now
				news.At, news.Words = append(news.At, first+int64(i)), append(news.Words, now)
			}
		}
		first += int64(len(row))
	}
	return news
}

// Merge sets the bits that another process has set.
func (b *Bits) Merge(_ Process, news BitsDelta) bool {
	if len(news.At) != len(news.Words) {
		return false
	}
	k, first := 0, int64(0) // At is told in order
	for i, at := range news.At {
		for k < len(b.rows) && at >= first+int64(len(b.rows[k])) {
			first += int64(len(b.rows[k]))
			k++
		}
		if k == len(b.rows) || at < first {
			return false
		}
		b.rows[k][at-first].Or(news.Words[i])
	}
	return true
}

// Counters is a Mergeable of numbers that add up over processes.
type Counters struct {
	most    int64
	numbers []*atomic.Int64
	told    []int64
}

// CountersOf is the Mergeable of these numbers, of which each may change by most between two reports,
// up or down.
func CountersOf(most int64, numbers ...*atomic.Int64) *Counters {
	return &Counters{most, numbers, make([]int64, len(numbers))}
}

// CountersDelta is by how much numbers have changed: At has the index of each that has, in order.
type CountersDelta struct {
	At []int
	By []int64 `told:"signed"`
}

// Delta returns by how much they have changed.
func (c *Counters) Delta() (news CountersDelta) {
	for i, n := range c.numbers {
		if now := n.Load(); now != c.told[i] {
			news.At, news.By = append(news.At, i), append(news.By, now-c.told[i])
			c.told[i] = now
		}
	}
	return news
}

// Merge adds what another process has counted.
func (c *Counters) Merge(_ Process, news CountersDelta) bool {
	if len(news.By) != len(news.At) {
		return false
	}
	for i, n := range news.By {
		if news.At[i] >= len(c.numbers) || i > 0 && news.At[i] <= news.At[i-1] || max(n, -n) > c.most {
			return false
		}
	}
	for i, n := range news.By {
		c.numbers[news.At[i]].Add(n)
	}
	return true
}

// Flag is a Mergeable that is true once it is in any process.
type Flag struct{ *atomic.Bool }

// FlagDelta is whether it is.
type FlagDelta struct{ Set bool }

// Delta returns whether it is.
func (f Flag) Delta() FlagDelta { return FlagDelta{f.Load()} }

// Merge sets it if it is in another process.
func (f Flag) Merge(_ Process, news FlagDelta) bool {
	if news.Set {
		f.Store(true)
	}
	return true
}

// Payloads is a Mergeable of the sizes of payloads that were written: the union of those of all
// processes.
type Payloads struct{ SizeSet }

// SizeSet is a set of sizes.
type SizeSet interface {
	All() []int
	// Credit adds sizes, or none and returns false if that would be more than there can be.
	Credit(sizes []int) bool
}

// PayloadsDelta are all of them.
type PayloadsDelta struct {
	Sizes []int `told:"payload"`
}

// Delta returns all of them.
func (p Payloads) Delta() PayloadsDelta { return PayloadsDelta{p.All()} }

// Merge adds those of another process.
func (p Payloads) Merge(_ Process, news PayloadsDelta) bool { return p.Credit(news.Sizes) }

// Each is a Mergeable of which each process tells how it stands in its own case. Where the whole is,
// it holds the last word of each. It must not be copied.
type Each[T any] struct {
	own   func() T
	sound func(now *T) bool
	mu    sync.Mutex
	told  map[int]T
}

// EachOf is the Mergeable that own tells of. sound, unless nil, reports whether a process can have told
// that.
func EachOf[T any](own func() T, sound func(now *T) bool) *Each[T] {
	return &Each[T]{own: own, sound: sound, told: map[int]T{}}
}

// Delta returns how it stands here.
func (e *Each[T]) Delta() T { return e.own() }

// Merge keeps how it stands in another process.
func (e *Each[T]) Merge(from Process, now T) bool {
	if e.sound != nil && !e.sound(&now) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told[from.Number] = now
	return true
}

// Told is what each process told last, in the order of their numbers; nil: of a nil Each, and where the
// work is done in this process. Any goroutine may call it.
func (e *Each[T]) Told() (all []T) {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, i := range slices.Sorted(maps.Keys(e.told)) {
		all = append(all, e.told[i])
	}
	return all
}
