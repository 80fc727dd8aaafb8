// Package foreign reads workloads that were written for other tools, unchanged, into the
// model: command lines of memtier_benchmark, the suites of redis-benchmarks-specification
// that wrap them, property files of YCSB, and user profiles of cassandra-stress. Of every
// key it says what became of it. It also makes presets of the figures that Twitter has published
// of its caches.
package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// kinds are what Read recognises, for advice.
const kinds = "mix reads YAML of its own, scripts with memtier_benchmark, suites of redis-benchmarks-specification, property files of YCSB, and user profiles of cassandra-stress"

// Read reads a file of another tool; nil if it is YAML of none of them, which may be ours.
// What the workload does not do as the file says is in the notes; if any of them is
// Refused, Refusal says so, and the workload is not to be run. The error is about a file
// that cannot be read at all.
func Read(f workload.File) (*model.Workload, []workload.FileKey, error) {
	switch {
	case len(bytes.TrimSpace(f.Data)) == 0:
		return nil, nil, fault.Input(fmt.Errorf("%s: there is nothing in it", f.Path), kinds)
	case bytes.IndexByte(f.Data, 0) >= 0:
		line := 1 + bytes.Count(f.Data[:bytes.IndexByte(f.Data, 0)], []byte("\n"))
		return nil, nil, fault.Input(fmt.Errorf("%s:%d: this is not text", f.Path, line), kinds)
	case values.IsYAML(f.Path):
		return readYAML(f)
	case bytes.Contains(f.Data, []byte("memtier_benchmark")) || bytes.HasPrefix(bytes.TrimSpace(f.Data), []byte("-")):
		return Memtier(f.Path, string(f.Data))
	case hasYCSB(f):
		return readYCSB(f)
	}
	return nil, nil, fault.Input(fmt.Errorf("%s:1: this is not the file of a tool that is known", f.Path), kinds)
}

// readYAML reads YAML by what its keys are.
func readYAML(f workload.File) (*model.Workload, []workload.FileKey, error) {
	n, err := yaml.Form{}.Parse(f.Path, f.Data)
	if err != nil {
		return nil, nil, err
	}
	for key := range n.Pairs() {
		switch {
		case slices.Contains([]string{"clientconfig", "clientconfigs", "dbconfig", "tested-commands"}, key.Text()):
			return readSuite(f.Path, n)
		case slices.Contains([]string{"table_definition", "columnspec", "keyspace", "keyspace_definition"}, key.Text()):
			return readStress(f.Path, n)
		}
	}
	return nil, nil, nil
}

// Refusal returns an error that names every key that was refused; nil if none was.
func Refusal(notes []workload.FileKey) error {
	var errs []error
	for _, n := range notes {
		if n.State == workload.KeyRefused {
			errs = append(errs, fault.Input(fmt.Errorf("%s: %s: %s", n.Where, n.Key, n.Text), ""))
		}
	}
	return errors.Join(errs...)
}

// notes collects what became of keys.
type notes []workload.FileKey

// mostUnknown is for how many unknown keys it is worked out what may have been meant.
const mostUnknown = 20

// done notes that a key is done as it says.
func (n *notes) done(where, key string) {
	*n = append(*n, workload.FileKey{Where: where, Key: key, State: workload.KeyDone})
}

// about notes how a key that has an effect differs, or why it has none.
func (n *notes) about(where, key, format string, args ...any) {
	*n = append(*n, workload.FileKey{Where: where, Key: key, State: workload.KeyApproximated, Text: fmt.Sprintf(format, args...)})
}

// refuse notes that a key is not done, and why.
func (n *notes) refuse(where, key, format string, args ...any) {
	*n = append(*n, workload.FileKey{Where: where, Key: key, State: workload.KeyRefused, Text: fmt.Sprintf(format, args...)})
}

// unknown refuses a key that the tool does not have either.
func (n *notes) unknown(where, key, tool string, names []string) {
	text := tool + " has nothing of this name"
	refused := 0
	for _, old := range *n {
		if old.State == workload.KeyRefused {
			refused++
		}
	}
	if refused < mostUnknown {
		// With a place to see all names, not all are listed.
		if near := strings.TrimSpace(fault.Suggest(key, names, "")); near != "" {
			text += "; " + near
		}
	}
	n.refuse(where, key, "%s", text)
}

// share returns a number between 0 and 1 that is neither.
func share(v float64) float64 { return min(max(v, 1e-9), 1-1e-9) }

// base is the name of a file without folder and extension, which names its workload.
func base(file string) string {
	name := path.Base(strings.ReplaceAll(file, "\\", "/"))
	return strings.TrimSuffix(name, path.Ext(name))
}
