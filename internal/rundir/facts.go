package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ErrDamaged is wrapped by errors about a run whose facts are not of the shape that
// its profile writes.
var ErrDamaged = errors.New("they are not what its profile writes")

// FactsOf returns the facts of a run in that mode; nil when it is of another mode, or
// was killed before it wrote any.
func FactsOf[T any](r *Run, mode string) (*T, error) {
	if r.Mode != mode {
		return nil, nil
	}
	f := new(T)
	if ok, err := r.DecodeFacts(f); !ok {
		return nil, err
	}
	return f, nil
}

// DecodeFacts reads the profile's own facts into v; false when there are none, as of
// a run that was killed before it wrote any. The error names the field and wraps
// ErrDamaged.
func (r *Run) DecodeFacts(v any) (bool, error) {
	data := bytes.TrimSpace(r.Facts)
	if len(data) == 0 || string(data) == "null" {
		return false, nil
	}
	err := json.Unmarshal(data, v)
	if err == nil {
		return true, nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := "facts"
		if wrong.Field != "" {
			field += "." + wrong.Field
		}
		return false, fmt.Errorf("facts of run %s: %s is a %s, and a %s belongs there: %w", r.ID, field, wrong.Value, wrong.Type, ErrDamaged)
	}
	return false, fmt.Errorf("facts of run %s: %w: %w", r.ID, err, ErrDamaged)
}

// Documents encodes a run in a format. What a format does not cope with in damaged
// facts is an error that wraps ErrDamaged, and no name of a file has a control
// character.
func (format Format) Documents(f *Folder) (files []File, err error) {
	defer func() {
		if v := recover(); v != nil {
			files, err = nil, fmt.Errorf("facts of run %s: %w: %v", f.Run.ID, ErrDamaged, v)
		}
	}()
	if files, err = format.Encode(f); err != nil {
		return nil, err
	}
	for i := range files {
		files[i].Name = safeName(files[i].Name)
	}
	return files, nil
}

// safeName replaces what no file should have in its name by _.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name)
}
