// Package model is what a workload of the profile mix is: data, and operations on them. It
// is plain data. Files of ours and of other tools are read into it; the design makes a plan
// of it, and the run carries that out through the adapters.
package model

import "time"

// Workload is what an application does with a store.
type Workload struct {
	// Name says which one it is, for reports: "ycsb/a"; empty: the user's own.
	Name string
	// Data are the sets of data, in order; operations name them.
	Data []Data
	// Operations are what a client does; each time it draws one by its weight.
	Operations []Operation
	// Session is what a client does between operations; the zero value: nothing.
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

// Session makes a client behave as a user: it carries out Length operations, then it
// pauses for Pause (ns) and begins another session, in which "same" keys are drawn anew.
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
