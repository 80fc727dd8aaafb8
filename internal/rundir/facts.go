package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// ErrDamaged is wrapped by errors about a run whose facts do not have the shape that
// its profile writes.
var ErrDamaged = errors.New("they are not what its profile writes")

// FactsOf returns the facts of a run in the given mode; nil if the run has another
// mode, or was killed before it wrote any.
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

// DecodeFacts decodes the profile's own facts into v. It returns false if there are
// none, as in a run that was killed before it wrote any. The error names the field and
// wraps ErrDamaged.
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

// Documents encodes a run in a format. If the format cannot handle damaged facts, the
// error wraps ErrDamaged. No file name contains a control character.
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
		if format.Names != nil && !matches(files[i].Name, format.Names) {
			return nil, fmt.Errorf("%s is not among the names that the format has: %s", files[i].Name, strings.Join(format.Names, ", "))
		}
	}
	return files, nil
}

// Describes reports whether the format has a document of a run: one of a profile may be that of
// another of its modes. What goes wrong is found out when it is written.
func (format Format) Describes(f *Folder) bool {
	files, err := format.Documents(f)
	return err != nil || len(files) > 0
}

// Belongs reports whether a file in the folder of a run may be perfbench's: written by the
// run itself, a search or a note, or a document in one of the formats. Files of that name
// go with the run; any other is somebody else's.
func Belongs(name string, formats []Format) bool {
	if hidden, ok := strings.CutPrefix(name, "."); ok {
		if name == reserveFile {
			return true
		}
		if name, ok = strings.CutSuffix(hidden, TmpSuffix); !ok {
			return false
		}
	}
	if matches(name, []string{RunFile, SeriesFile, SamplesFile, HlogFile, NoticeFile, FactsFile, NoteFile, TagsFile, "find.*"}) {
		return true
	}
	return slices.ContainsFunc(formats, func(f Format) bool { return matches(name, f.Names) })
}

// matches reports whether a name matches one of the patterns.
func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name) // the patterns are ours, and right
		return ok
	})
}

// safeName replaces characters that no file name should contain by _.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name)
}
