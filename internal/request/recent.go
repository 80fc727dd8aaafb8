package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/store"
)

// MaxRecent is how many targets are remembered.
const MaxRecent = 20

const recentFile = "targets.json"

// Recent returns recently used targets, the newest first, without passwords. A missing
// or unreadable file gives none. Any goroutine may call it.
func Recent(stateDir string) []string { return listIn(stateDir, recentFile) }

const exportedFile = "export.json"

// Exported is what was chosen for an export in the workbench: the ids of its formats, and its folder, ""
// for that of the run.
type Exported struct {
	Formats []string `json:"formats"`
	Dir     string   `json:"dir,omitempty"`
}

// LastExported returns what was last exported in the workbench. A missing or unreadable file gives
// nothing. Any goroutine may call it.
func LastExported(stateDir string) (out Exported) {
	data, err := infile.Read(infile.State, filepath.Join(stateDir, exportedFile))
	if err != nil || json.Unmarshal(data, &out) != nil {
		return Exported{}
	}
	return out
}

// KeepExported keeps what is exported. If two processes write at once, one of them counts.
func KeepExported(stateDir string, e Exported) error {
	data, err := json.Marshal(e)
	if err == nil {
		err = replaceFile(filepath.Join(stateDir, exportedFile), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep what was exported: %w", err)
	}
	return nil
}

// listIn reads one of these files.
func listIn(stateDir, file string) []string {
	data, err := infile.Read(infile.State, filepath.Join(stateDir, file))
	if err != nil {
		return nil
	}
	var out []string
	if json.Unmarshal(data, &out) != nil {
		return nil
	}
	return out[:min(len(out), MaxRecent)]
}

// Remember puts a target first among the recent ones, without its secrets. If two
// processes write at once, one target may be lost, but the file stays intact.
func Remember(stateDir string, t store.Target) error {
	if err := putFirst(stateDir, recentFile, open(t).Redacted()); err != nil {
		return fmt.Errorf("remember target: %w", err)
	}
	return nil
}

const plansFile = "plans.json"

// RecentPlans returns the absolute paths of plan files whose runs were done lately, the newest first, as
// Recent returns targets.
func RecentPlans(stateDir string) []string { return listIn(stateDir, plansFile) }

// RememberPlan puts the path of a plan file first among the recent ones, as Remember does a target.
func RememberPlan(stateDir, path string) error {
	path, err := filepath.Abs(path)
	if err == nil && stateDir != "" {
		err = putFirst(stateDir, plansFile, path)
	}
	if err != nil {
		return fmt.Errorf("remember plan: %w", err)
	}
	return nil
}

// putFirst puts a text first in one of these files.
func putFirst(stateDir, file, text string) error {
	list := slices.DeleteFunc(listIn(stateDir, file), func(s string) bool { return s == text })
	list = append([]string{text}, list...)
	data, err := json.MarshalIndent(list[:min(len(list), MaxRecent)], "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(stateDir, file), append(data, '\n'))
}

// replace writes a file, readable only by the user, entirely or not at all.
func replaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
