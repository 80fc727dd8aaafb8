package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/store"
)

// Settings are the values last set for a profile, without secrets.
type Settings struct {
	Preset     string            `json:"preset,omitempty"`
	Files      []string          `json:"files,omitempty"`
	Target     string            `json:"target,omitempty"`
	Values     map[string]string `json:"values,omitempty"`
	Timetable  []string          `json:"timetable,omitempty"`
	Thresholds []string          `json:"thresholds,omitempty"`
	Formats    []string          `json:"formats,omitempty"`
	Tags       []string          `json:"tags,omitempty"`
	Out        string            `json:"out,omitempty"`
}

// Last returns the settings of each profile that has been used, by profile name. A
// missing file has none; the error for an unreadable file names it. Any goroutine may
// call it.
func Last(path string) (map[string]Settings, error) {
	data, err := infile.Read(infile.State, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing was kept, which is no fault
	}
	out := map[string]Settings{}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("the last settings are left out: %s: %w", path, err)
	}
	return out, nil
}

// Keep stores what was set for a profile, without its secrets. If two processes write
// at once, one may lose its settings, but the file stays intact.
func Keep(path, profile string, s Settings) error {
	all, err := Last(path)
	if all == nil || err != nil {
		all = map[string]Settings{} // a damaged file is replaced
	}
	if t, err := store.ParseTarget(s.Target); s.Target != "" && err == nil {
		s.Target = open(t).Redacted()
	}
	values := map[string]string{}
	for name, text := range s.Values {
		if t, err := store.ParseTarget(text); !secret(name) && (err != nil || t.Password == "" && len(open(t).Params) == len(t.Params)) {
			values[name] = text
		}
	}
	s.Values = values
	all[profile] = s
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = replaceFile(path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the settings: %w", err)
	}
	return nil
}

// open returns a target without its secrets.
func open(t store.Target) store.Target {
	t.Password = ""
	params := t.Params
	t.Params = map[string][]string{}
	for k, v := range params {
		if !secret(k) {
			t.Params[k] = v
		}
	}
	return t
}

// secret reports whether the value with that name may be secret.
func secret(name string) bool {
	p := strings.ToLower(name)
	return p == "key" || strings.Contains(p, "pass") || strings.Contains(p, "secret") || strings.Contains(p, "token")
}
