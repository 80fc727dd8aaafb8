package planfile

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/job"
	"github.com/perfbench/perfbench/internal/preset"
)

// Unfold returns a request with its preset, where that is a plan that somebody saved,
// replaced by what the plan says. What the request says itself wins. Errors are of input.
func Unfold(r job.Request, presets fs.FS, environ []string) (job.Request, error) {
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
		return r, fault.Input(fmt.Errorf("preset %s: is a plan of the profile %s, and this run is of %s", name, below.Profile, r.Profile), "")
	}
	if data, _ := plan(below.Preset, presets); data != nil {
		return r, fault.Input(fmt.Errorf("preset %s: its preset %s is a plan as well", name, below.Preset), "name one of those that are built in")
	}
	r.Preset = ""
	return r.Over(below), nil
}

// plan is the text of a preset that is a plan; nil of any other.
func plan(name string, presets fs.FS) ([]byte, error) {
	if name == "" || presets == nil {
		return nil, nil
	}
	all, err := preset.List(presets)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(i preset.Info) bool { return i.Name == name })
	if at < 0 || !Is(all[at].Data) {
		return nil, nil
	}
	return all[at].Data, nil
}
