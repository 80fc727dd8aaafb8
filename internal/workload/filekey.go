package workload

// FileKey says what became of a key of a file of --file.
type FileKey struct {
	// Where is the file with its line: "workloada:12".
	Where string
	// Key and Value are as written there. Value may be left out, and is if it is no line of
	// text.
	Key, Value string
	// State is what became of it.
	State KeyState
	// Text says, of what was not simply done, how it differs or why it was refused or ignored,
	// with the nearest name that would have been known; of what was corrected, the value in
	// effect.
	Text string
}

// Words returns it as a line: where it is, its name, and what became of it.
func (k *FileKey) Words() string {
	s := k.Where + ": " + k.Key
	if k.Value != "" {
		s += " = " + k.Value
	}
	s += ": " + string(k.State)
	if k.Text != "" {
		s += ": " + k.Text
	}
	return s
}

// KeyState is what became of a key.
type KeyState string

// States of keys. A file with a KeyRefused is not run. Of a key that its reader calls read, the
// plan may show that it was corrected, replaced by the default, or ignored.
const (
	KeyDone         KeyState = "done"
	KeyApproximated KeyState = "approximated"
	KeyRefused      KeyState = "refused"
	KeyRead         KeyState = "read"
	KeyCorrected    KeyState = "corrected"
	KeyDefaulted    KeyState = "defaulted"
	KeyIgnored      KeyState = "ignored"
)
