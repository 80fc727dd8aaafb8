// Package model is what a workload of the profile mix is: data, and operations on them. It
// is plain data. Files of ours and of other tools are read into it; the design makes a plan
// of it, and the run carries that out through the adapters.
package model

import (
	"slices"
	"time"
)

// Workload is what an application does with a store.
type Workload struct {
	// Name says which one it is, for reports: "ycsb/a"; empty: the user's own.
	Name string
	// Data are the sets of data, in order; operations name them.
	Data []Data
	// Operations are what a client does; each time it draws one by its weight.
	Operations []Operation
	// Session is how the operations belong together as those of users; the zero value: they do not.
	Session Session
	// Run is how the file wants it run. Flags take precedence.
	Run Run
}

// Run is how a workload is run, as far as its file says; zero values say nothing.
type Run struct {
	Threads  int
	Rate     float64
	Count    int64
	Duration time.Duration
}

// Session says that a user makes Length operations, in which "same" keys are those of the
// operations before. In closed loop the next user comes Pause (ns) later.
type Session struct {
	Length, Pause Number
}

// Type is how the records of a data set are kept.
type Type string

// Types of data.
const (
	// Value is a value under a key.
	Value Type = "value"
	// Hash is named fields under a key: a row of a table, a hash of Redis.
	Hash Type = "hash"
	// Counter is a whole number under a key.
	Counter Type = "counter"
	// List is a list of values under a key, of which the ends can be reached.
	List Type = "list"
	// Set is a set of members under a key.
	Set Type = "set"
	// Sorted is a set of members with scores under a key.
	Sorted Type = "sorted"
	// Stream is an append-only log under a key.
	Stream Type = "stream"
)

// Types are all types of data.
var Types = []Type{Value, Hash, Counter, List, Set, Sorted, Stream}

// Data is a set of records of one type.
type Data struct {
	// Name is what operations call it, and in the store the space, after the namespace.
	Name string
	Type Type
	// Records is how many there are before the run begins, numbered from 0; they are
	// loaded unless they are there. Inserts add records with the numbers that follow.
	Records int64
	// Size is how many bytes a value has: of a hash each field, of lists, sets, sorted
	// sets and streams each element.
	Size Number
	// Fields names the fields of a hash.
	Fields []Field
	// Length is how many elements a list, set, sorted set or stream has when it is
	// loaded.
	Length Number
	// Most is how many elements a list, a sorted set or a stream keeps at most; what is
	// older is cut off when elements are added. 0: all.
	Most int64
	// Start is what counters hold when they are loaded.
	Start int64
	// Compressible is the share of a value's bytes that a compressor can do without, 0 to 1.
	Compressible float64
	// TTL is after how many ns a record expires, counted from when it was written; the zero
	// value: never.
	TTL Number
	// Key is how keys are written.
	Key KeyForm
	// Cached means that a record that is not there is no loss, as the store may give records
	// up; operations with Fill put it back. It is not loaded unless Warm is set.
	Cached, Warm bool
}

// Field is a field of a hash. Size, unless it is the zero value, takes the place of that
// of the data set.
type Field struct {
	Name string
	Size Number
}

// KeyForm is how the number of a record becomes its key: Prefix, then the number with
// zeros in front up to a length of Length bytes over all. The number of a Hashed key is
// scattered, so that the order of keys is not that in which records were inserted.
type KeyForm struct {
	Prefix string
	Length int
	Hashed bool
}

// Append appends the key of a record.
func (f *KeyForm) Append(dst []byte, record int64) []byte {
	n := uint64(record)
	if f.Hashed {
		n = n*0x9e3779b97f4a7c15 + 1 // one to one
		n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
		n ^= n >> 31
	}
	dst = append(dst, f.Prefix...)
	var room [LongestKey]byte
	at := len(room)
	for n >= 100 {
		at -= 2
		two := n % 100 * 2
		n /= 100
		room[at], room[at+1] = pairs[two], pairs[two+1]
	}
	for n > 0 || at == len(room) {
		at--
		room[at] = byte('0' + n%10)
		n /= 10
	}
	for len(room)-at < f.Length-len(f.Prefix) && at > 0 {
		at--
		room[at] = '0'
	}
	return append(dst, room[at:]...)
}

// pairs are the digits of the numbers below 100.
const pairs = "00010203040506070809" + "10111213141516171819" + "20212223242526272829" + "30313233343536373839" + "40414243444546474849" +
	"50515253545556575859" + "60616263646566676869" + "70717273747576777879" + "80818283848586878889" + "90919293949596979899"

// Columns returns how many values a record of the data set has.
func (d *Data) Columns() int { return max(len(d.Fields), 1) }

// Statements returns the steps that are statements of the store's own, in order: a Call
// names one by its index.
func (w *Workload) Statements() []*Step {
	var out []*Step
	for i := range w.Operations {
		for j := range w.Operations[i].Steps {
			if s := &w.Operations[i].Steps[j]; s.Do == Statement {
				out = append(out, s)
			}
		}
	}
	return out
}

// Index returns the position of a data set, or -1.
func (w *Workload) Index(data string) int {
	return slices.IndexFunc(w.Data, func(d Data) bool { return d.Name == data })
}

// Writes reports whether a verb writes values of a record.
func (v Verb) Writes() bool {
	return slices.Contains([]Verb{Put, Insert, Update, Modify, Push, Include, Append}, v)
}
