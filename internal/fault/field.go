package fault

import (
	"errors"
	"strings"
)

type fielded struct {
	error
	field string
}

func (f fielded) Unwrap() error { return f.error }

// Field records which input err is about, by the name that users type: "threads",
// "target". It does not change the message. An error that already names an input keeps
// it, and a nil err stays nil.
func Field(name string, err error) error {
	if err == nil || name == "" || FieldOf(err) != "" {
		return err
	}
	return fielded{err, name}
}

// Within records that err, and each of several joined into one, is about one input, whatever inputs
// of something else it names: a file that was named has mistakes of its own. A nil err stays nil.
func Within(name string, err error) error {
	list := Parts(err)
	for i, part := range list {
		list[i] = fielded{part, name}
	}
	if len(list) == 1 {
		return list[0]
	}
	return errors.Join(list...)
}

// FieldOf returns the input that err is about, or "". It returns "" for several errors
// joined into one: take them apart with Parts.
func FieldOf(err error) string {
	for err != nil {
		if f, ok := err.(fielded); ok { //nolint:errorlint // the chain is walked here
			return f.field
		}
		if joined(err) != nil {
			return ""
		}
		err = errors.Unwrap(err)
	}
	return ""
}

// Parts takes apart errors that were joined into one. A part without an input of its
// own gets that of the whole.
func Parts(err error) []error {
	if err == nil {
		return nil
	}
	field := FieldOf(err)
	for inner := err; inner != nil; inner = below(inner) {
		list := joined(inner)
		if list == nil {
			continue
		}
		var out []error
		for _, e := range list {
			for _, p := range Parts(e) {
				out = append(out, Field(field, p))
			}
		}
		return out
	}
	return []error{err}
}

// below returns what an error of this package wraps. It does not unwrap other errors,
// since those may say more than what they wrap.
func below(err error) error {
	switch e := err.(type) { //nolint:errorlint // one layer at a time
	case fielded:
		return e.error
	case hinted:
		return e.error
	case coded:
		return e.error
	}
	return nil
}

// joined returns the errors that err merely lists, one per line; nil if it is not such
// a list.
func joined(err error) []error {
	j, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // of this error alone
	if !ok {
		return nil
	}
	list := j.Unwrap()
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = e.Error()
	}
	if err.Error() != strings.Join(lines, "\n") {
		return nil
	}
	return list
}
