package workload

// FileKey says what became of a key of another tool's file.
type FileKey struct {
	// Where is the file with its line: "workloada:12".
	Where string
	// Key is as it is written there.
	Key string
	// State is what became of it.
	State KeyState
	// Text says, of what was not simply done, in one sentence how it differs or why it was
	// refused, with the nearest name that would have been known.
	Text string
}

// Words returns it as a line: where it is, its name, and what became of it.
func (k *FileKey) Words() string {
	s := k.Where + ": " + k.Key + ": " + string(k.State)
	if k.Text != "" {
		s += ": " + k.Text
	}
	return s
}

// KeyState is what became of a key.
type KeyState string

// States of keys. A file with a KeyRefused is not run.
const (
	KeyDone         KeyState = "done"
	KeyApproximated KeyState = "approximated"
	KeyRefused      KeyState = "refused"
)
