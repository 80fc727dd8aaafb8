package model

// Operation is what a client does at a time: steps, one after the other, that are timed
// together, and one by one if there are several.
type Operation struct {
	Name string
	// Weight is how often the operation is drawn, in proportion to the weights of all.
	Weight float64
	Steps  []Step
	// Atomic means that all steps take effect or none does: a transaction.
	Atomic bool
}

// Verb is what a step does.
type Verb string

// Verbs. Those that follow Statement are calls on lists, sets, sorted sets and streams.
const (
	// Get reads a record: its value, or Step.Fields of a hash.
	Get Verb = "get"
	// Put writes a whole record, whether it is there or not.
	Put Verb = "put"
	// Insert writes a record that has not been there, with the next number.
	Insert Verb = "insert"
	// Update writes Step.Fields of a hash that is there.
	Update Verb = "update"
	// Modify reads a whole record, and writes Step.Fields, or the value, of it.
	Modify Verb = "modify"
	// Add adds Step.By to a counter.
	Add Verb = "add"
	// Delete removes a record.
	Delete Verb = "delete"
	// Scan reads up to Step.Count records in the order of keys, from the drawn key on.
	Scan Verb = "scan"
	// Think pauses for Step.Pause.
	Think Verb = "think"
	// Statement is the store's own: Step.Text.
	Statement Verb = "statement"

	// Push adds an element at the end of a list, and Pop takes one from its beginning.
	Push Verb = "push"
	Pop  Verb = "pop"
	// Range reads up to Step.Count elements of a list from its end, of a sorted set with
	// the highest scores, or of a stream the newest.
	Range Verb = "range"
	// Include adds a member to a set, or to a sorted set with a random score; Exclude
	// removes one, Has asks whether there is one, Members reads all.
	Include Verb = "include"
	Exclude Verb = "exclude"
	Has     Verb = "has"
	Members Verb = "members"
	// Append adds an entry to a stream.
	Append Verb = "append"
)

// Verbs are all verbs.
var Verbs = []Verb{Get, Put, Insert, Update, Modify, Add, Delete, Scan, Think, Statement, Push, Pop, Range, Include, Exclude, Has, Members, Append}

// Step is one call to the store, or a pause.
type Step struct {
	Do Verb
	// Data names the data set; empty for Think, and for a Statement that uses none.
	Data string
	// Keys is how the record is chosen. A step of kind Same has the key of the step
	// before it on the same data.
	Keys Keys
	// Batch is how many records a get, put or delete is about, in one call; the zero
	// value: 1.
	Batch Number
	// Count is how many records a scan reads, or elements a range.
	Count Number
	// Fields is how many fields a get reads, or an update or modify writes, drawn at
	// random; 0: all. Names, unless empty, are the very fields.
	Fields int
	Names  []string
	// Size and TTL (ns) take the place of those of the data set, unless they are the zero
	// value.
	Size, TTL Number
	// By is what Add adds.
	By Number
	// Hit is the share of gets that ask for a record that is there; the others ask for one
	// that never was. Nil: all do.
	Hit *float64
	// Fill means that a get that finds nothing is followed by a put of the record.
	Fill bool
	// Pause is how long Think pauses, in ns.
	Pause Number
	// Text is a Statement; Args are what its placeholders get, in order.
	Text string
	Args []Arg
	// Expect, unless empty, is the answer that a Statement must have: how many rows there are
	// or were changed, a number, or a text.
	Expect string
	// Pipeline is how many of the step's calls are sent before the first answer is waited
	// for; 0: 1.
	Pipeline int
	// Where is the line of the file that the step was made from: "a.yaml:7"; empty
	// if there is none.
	Where string
}

// Arg is an argument of a statement: the key of a record, a value, a number or a text.
type Arg struct {
	Kind ArgKind
	// Data names the data set of a key or value; empty: that of the step.
	Data string
	// Keys chooses the record of a key. Of kind Same: the step's.
	Keys Keys
	// Number is for ArgNumber; the size of an ArgValue, unless it is the zero value.
	Number Number
	// Text is for ArgText.
	Text string
}

// ArgKind is what an argument of a statement is.
type ArgKind string

// Kinds of arguments: the key of a record as a text, the record's number, a value, a
// random number, and a fixed text.
const (
	ArgKey    ArgKind = "key"
	ArgRecord ArgKind = "record"
	ArgValue  ArgKind = "value"
	ArgNumber ArgKind = "number"
	ArgText   ArgKind = "text"
)
