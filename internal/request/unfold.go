package request

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
)

// Unfold returns a request whose preset, if it is a plan saved by a user, is replaced
// by the content of the plan. What the request itself says takes precedence. Errors
// have the code of bad input.
func Unfold(r Request, presets fs.FS, environ []string) (Request, error) {
	data, err := plan(r.Preset, presets)
	if data == nil || err != nil {
		return r, err
	}
	f, err := Read(r.Preset, data, environ)
	if err != nil {
		return r, err
	}
	name, below := r.Preset, f.Runs[0].Request
	switch {
	case f.Suite:
		return r, fault.Input(fmt.Errorf("preset %s: is a plan of several runs", name), "perfbench run FILE carries it out")
	case f.Runs[0].Find != nil || f.Runs[0].Sweep != nil:
		return r, fault.Input(fmt.Errorf("preset %s: is the plan of a search or a sweep", name), "perfbench run FILE carries it out")
	case below.Profile != r.Profile:
		return r, fault.Input(fmt.Errorf("preset %s: is a plan for the profile %s, and this run uses %s", name, below.Profile, r.Profile), "")
	}
	if data, _ := plan(below.Preset, presets); data != nil {
		return r, fault.Input(fmt.Errorf("preset %s: its preset %s is a plan as well", name, below.Preset), "name one of those that are built in")
	}
	r.Preset = ""
	return r.Over(below), nil
}

// plan returns the text of a preset that is a plan; nil for any other.
func plan(name string, presets fs.FS) ([]byte, error) {
	if name == "" || presets == nil {
		return nil, nil
	}
	all, err := Presets(presets)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(i Preset) bool { return i.Name == name })
	if at < 0 || !Is(all[at].Data) {
		return nil, nil
	}
	return all[at].Data, nil
}
