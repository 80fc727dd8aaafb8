// Package fault attaches to an error what the user can do about it, such as the name that
// was probably meant, and how the process should end, without changing the message. Every
// package of ours may use it; it imports none of them.
package fault

import "errors"

// Exit codes of the command. They are part of its interface: never renumbered,
// never reused.
const (
	// CodeOK means that the run reached its end; individual operations may have failed.
	CodeOK = 0
	// CodeOther is for anything without a code of its own, including a full disk.
	CodeOther = 1
	// CodeInput is for bad input, or a space that is not ours: nothing was started.
	CodeInput = 2
	// CodeStore is for a store that is unreachable, refuses us, or lacks what is
	// needed.
	CodeStore = 3
	// CodeVerification means that the stored data are not what was acknowledged.
	CodeVerification = 4
	// CodeThreshold means that a threshold was missed or a comparison came out worse.
	CodeThreshold = 5
	// CodeInterrupted means that SIGINT or SIGTERM ended the run; the report is
	// written.
	CodeInterrupted = 130
)

type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

type sentence struct {
	text  string
	cause error
}

func (s sentence) Error() string { return s.text }
func (s sentence) Unwrap() error { return s.cause }

// Sentence returns an error with only text as its message. It keeps its cause for
// errors.Is and errors.As, without repeating it.
func Sentence(text string, cause error) error { return sentence{text, cause} }

// Hint adds advice for the user, shown under the message and never in it. A nil
// err stays nil.
func Hint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return hinted{err, hint}
}

// HintOf returns the outermost hint of err, or "".
func HintOf(err error) string {
	if h, ok := errors.AsType[hinted](err); ok {
		return h.hint
	}
	return ""
}

// Code sets the exit code, unless err has one already. A nil err stays nil.
func Code(err error, code int) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[coded](err); ok {
		return err
	}
	return coded{err, code}
}

// CodeOf returns the exit code that err carries: CodeOK for nil, CodeOther if it
// carries none.
func CodeOf(err error) int {
	if err == nil {
		return CodeOK
	}
	if c, ok := errors.AsType[coded](err); ok {
		return c.code
	}
	return CodeOther
}

// Worst returns the exit code for several errors: interrupted, otherwise the smallest
// of those that failed, or CodeOK if none did. A run that could not be started is worse
// than one whose data were wrong, which is worse than one that missed a threshold.
func Worst(errs []error) int {
	out := CodeOK
	for _, err := range errs {
		code := CodeOf(err)
		switch {
		case code == CodeOK:
		case code == CodeInterrupted:
			return code
		case out == CodeOK || code < out:
			out = code
		}
	}
	return out
}

// Input returns an error of bad input with a hint.
func Input(err error, hint string) error { return Hint(Code(err, CodeInput), hint) }

// Store returns an error of an unreachable or unsuitable store with a hint.
func Store(err error, hint string) error { return Hint(Code(err, CodeStore), hint) }
