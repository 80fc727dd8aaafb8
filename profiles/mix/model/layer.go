package model

import (
	"context"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
)

// Adapter is the data of a workload on one kind of store.
type Adapter struct {
	// Spaces are those that the data sets are kept in, in their order; none if nothing is
	// kept that could be anybody's.
	Spaces []ownership.Space
	// Tables makes what must be there before records are written; nil: nothing.
	Tables Tables
	// Lacks says why a step cannot be carried out on its data set (nil if it uses none), with
	// what can, as a hint; nil if it can.
	Lacks func(op *Operation, st *Step, d *Data) error
	// Open returns the access of one more client.
	Open func() (Client, error)
	// Key appends a record's key as the store has it, which is what a statement names; nil: it
	// is the same.
	Key func(dst []byte, set int, key []byte) []byte
	// Scattered means that a scan finds records in the order of the hash of their keys.
	Scattered bool
	// Lags says whether a call may read what acknowledged writes had replaced; busy means that
	// others may be writing meanwhile. nil: no call may. Why names what allows it.
	Lags func(c *Call, busy bool) bool
	Why  string
}

// Tables makes what must be there before records are written.
type Tables interface {
	// Check refuses what is there and does not fit.
	Check(ctx context.Context, c *ownership.Claim) error
	// Create makes what is missing.
	Create(ctx context.Context) error
}

// Client is one client's access to the data. It belongs to one goroutine.
type Client interface {
	// Do carries out a call. The answer lies in memory of the call, which keeps it until it is
	// used again.
	Do(ctx context.Context, c *Call) error
	// Close gives back what the client holds.
	Close()
}

// Transactor is a Client that can carry out several calls as one transaction. Begin
// begins it. Do may leave it to Commit to send the calls in between, and answers then come
// with that.
type Transactor interface {
	Client
	Begin(ctx context.Context) error
	// Commit ends the transaction; Abort takes it back after an error.
	Commit(ctx context.Context) error
	Abort(ctx context.Context)
}

// Call is one call to the store, with room for its answer.
type Call struct {
	Do Verb
	// Set is the index of the data set.
	Set int
	// Rows are the records that it is about: their keys, and for writes their values. A Scan
	// begins at the key of the only one.
	Rows []Row
	// Fields are the indexes of the fields that Row.Vals are of, of a hash; nil: all.
	Fields []int
	// Count is how many records a Scan reads, or elements a Range.
	Count int
	// By is what Add adds; of a sorted set, the score of what is included.
	By int64
	// TTL is after how many ns what is written expires; 0: never.
	TTL int64
	// Statement is the index of one, and Args are its arguments.
	Statement int
	Args      [][]byte

	// Buf is the memory of answers: adapters append to it what Rows and Got refer to.
	Buf []byte
	// Got are the records that a Scan, or the elements that a Range or Members, has found.
	Got []Row
	// N is a counter's new value, a number of elements, or a statement's answer.
	N int64
}

// Row is a record, or one element of a list, set, sorted set or stream.
type Row struct {
	Key []byte
	// Vals are its values, one for each field of the call.
	Vals [][]byte
	// Found says, after a read, that it is there.
	Found bool
}

// Reads reports whether a verb's answer has values.
func (v Verb) Reads() bool {
	switch v {
	case Get, Scan, Pop, Range, Members, Statement:
		return true
	}
	return false
}

// Unable says that a store cannot carry out a step on a data set, and what it can.
func Unable(store string, st *Step, d *Data, can []Verb) error {
	words := make([]string, len(can))
	for i, v := range can {
		words[i] = string(v)
	}
	if len(can) == 0 {
		return fault.Hint(fmt.Errorf("%s keeps no %s", store, d.Type.Plural()), "use redis:// or embedded:")
	}
	return fault.Hint(fmt.Errorf("%s has no %s on a %s", store, st.Do, d.Type), "on a "+string(d.Type)+" it has "+strings.Join(words, ", "))
}

// Plural is the word for several of a type.
func (t Type) Plural() string {
	switch t {
	case Hash:
		return "hashes"
	case Sorted:
		return "sorted sets"
	}
	return string(t) + "s"
}
