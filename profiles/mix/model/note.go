package model

// Note says what became of a key of another tool's file.
type Note struct {
	// Where is the file with its line: "workloada:12".
	Where string
	// Key is as it is written there.
	Key string
	// State is what became of it.
	State State
	// Text says, of what was not simply done, in one sentence how it differs or why it was
	// refused, with the nearest name that would have been known.
	Text string
}

// State is what became of a key.
type State string

// States of keys. A file with a Refused key is not run.
const (
	Done         State = "done"
	Approximated State = "approximated"
	Refused      State = "refused"
)
