package workbench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/tui/screen"
)

// presets are those of the user.
type presets struct {
	at        *surroundings
	catalogue catalogue
}

// SavePreset writes a plan file that --preset NAME and the picker find again.
func (p presets) SavePreset(name string, r request.Request) (string, error) {
	if p.at.presets == "" {
		return "", fault.Hint(errors.New("there is no home directory for presets"), "set XDG_CONFIG_HOME to an absolute path")
	}
	for _, r := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r) {
			return "", fault.Input(fmt.Errorf("preset: %q may contain only letters, digits, - and _", name), "")
		}
	}
	if name == "" {
		return "", fault.Input(errors.New("a preset needs a name"), "")
	}
	path := filepath.Join(p.at.presets, r.Profile, name+".yaml")
	if _, err := os.Stat(path); err != nil {
		if slices.ContainsFunc(p.catalogue.Presets(r.Profile), func(s screen.Preset) bool { return s.Name == name }) {
			return "", fault.Input(fmt.Errorf("preset: %q is built in", name), "choose another name")
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("preset: %w", err)
	}
	data := request.Write(said(r)+", saved from the workbench on "+time.Now().Format("2 January 2006, 15:04")+".",
		&request.File{Runs: []request.Run{{Request: r}}})
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return "", fmt.Errorf("preset: %w", err)
	}
	return path, nil
}

// said names a run in a few words.
func said(r request.Request) string {
	from := r.Preset
	if len(r.Files) > 0 {
		from = filepath.Base(r.Files[0])
	}
	if t, err := store.ParseTarget(r.Target); err == nil {
		return from + " on " + t.Redacted()
	}
	return from
}
