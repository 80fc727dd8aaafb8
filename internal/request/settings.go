package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// keptValues is the name of the values among the settings last used.
const keptValues = "values"

// keptNewest marks the settings of the profile that was used last.
const keptNewest = "newest"

// Newest returns the profile that was used last in runs whose folders are in out; empty if none is known. Any
// goroutine may call it.
func Newest(path, out string) string {
	all, err := lastUsed(path)
	for profile, kept := range all[out] {
		if err == nil && kept[keptNewest] != nil {
			return profile
		}
	}
	return ""
}

// settings are what was set for a run, by the names of its fields.
type settings map[string]json.RawMessage

// Last returns what was last asked for of each profile in runs whose folders are in out, by
// profile name, without secrets. A folder in which nothing was done, and a missing file, have
// none; the error for an unreadable file names it. Any goroutine may call it.
func Last(path, out string) (map[string]Request, error) {
	all, err := lastUsed(path)
	last := map[string]Request{}
	for profile, kept := range all[out] {
		r := Run{Request: Request{Profile: profile, Values: workload.Values{}}}
		texts := map[string]string{}
		read := func(name string, into any) {
			if data, ok := kept[name]; ok && err == nil {
				err = json.Unmarshal(data, into)
			}
		}
		for _, f := range Fields() {
			switch {
			case f.kept == "":
			case f.text != nil:
				read(f.kept, f.text(&r))
			default:
				read(f.kept, f.list(&r))
			}
		}
		read(keptValues, &texts)
		for name, text := range texts {
			r.Request.Values[name] = workload.Value{Name: name, Text: text, Origin: workload.OriginFlag}
		}
		last[profile] = r.Request
	}
	if err != nil {
		return nil, fmt.Errorf("the last settings are left out: %s: %w", path, err)
	}
	return last, nil
}

// lastUsed returns the settings of each profile in each folder of runs.
func lastUsed(path string) (map[string]map[string]settings, error) {
	out := map[string]map[string]settings{}
	data, err := infile.Read(infile.State, path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	return out, err
}

// Keep stores what was asked for of a profile in a run whose folder is in out, an absolute
// path, without its secrets, and drops what it has of folders that are gone. If two processes
// write at once, one may lose its settings, but the file stays intact.
func Keep(path, out string, r Request) error {
	all, err := lastUsed(path)
	if err != nil || all == nil {
		all = map[string]map[string]settings{} // a damaged file is replaced
	}
	maps.DeleteFunc(all, func(dir string, _ map[string]settings) bool {
		_, err := os.Stat(dir)
		return dir != out && errors.Is(err, fs.ErrNotExist)
	})
	if t, err := store.ParseTarget(r.Target); r.Target != "" && err == nil {
		r.Target = open(t).Redacted()
	}
	kept := settings{}
	write := func(name string, what any) { kept[name], _ = json.Marshal(what) } // texts: it cannot fail
	run := Run{Request: r}
	for _, f := range Fields() {
		switch {
		case f.kept == "":
		case f.text != nil && *f.text(&run) != "":
			write(f.kept, *f.text(&run))
		case f.list != nil && len(*f.list(&run)) > 0:
			write(f.kept, *f.list(&run))
		}
	}
	values := map[string]string{}
	for name, v := range r.Values {
		if t, err := store.ParseTarget(v.Text); !secret(name) && (err != nil || t.Password == "" && len(open(t).Params) == len(t.Params)) {
			values[name] = v.Text
		}
	}
	if len(values) > 0 {
		write(keptValues, values)
	}
	if all[out] == nil {
		all[out] = map[string]settings{}
	}
	for _, other := range all[out] {
		delete(other, keptNewest)
	}
	write(keptNewest, true)
	all[out][r.Profile] = kept
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
