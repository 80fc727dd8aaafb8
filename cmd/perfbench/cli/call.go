package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/telemetry"
)

// Env is everything that the command takes from its surroundings, so that a test
// runs the real command.
type Env struct {
	// Args are the arguments without the program's name, Environ is NAME=value.
	Args, Environ  []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// These say whether a person sits there.
	StdinTerminal, StdoutTerminal, StderrTerminal bool
	// StdoutWidth is the width of the terminal that stdout is, or 0.
	StdoutWidth int
	// Calibrate says that runs may measure the ceiling of perfbench itself beforehand,
	// and keep it in the cache of the user.
	Calibrate bool
	// ReadSecret asks on the terminal without echo, until ctx ends; nil when there is none.
	ReadSecret func(ctx context.Context, prompt string) (string, error)
	// Signals delivers interrupts; may be nil.
	Signals <-chan os.Signal
}

// Call is one call of the command. Its commands run one at a time.
type Call struct {
	Env
	// Hard ends at the second interrupt; the context of a command at the first.
	Hard context.Context
	Log  *slog.Logger
	// AllowExec lets faults of timetables run commands.
	AllowExec bool
	// Outlet is where figures leave while runs go; nil: nowhere.
	Outlet *telemetry.Outlet
	// typed are the passwords that were typed, by target.
	typed map[string]string
	// Told is the folder of a run whose summary stands on stdout.
	Told string
	// begun is what Begin says.
	begun atomic.Bool
}

// Begin says that the command is about to do what it ends itself when it is interrupted: to
// ask somebody, to call a store, to start a run. Before that it only reads and computes, and
// an interrupt ends it at once, whatever it is waiting for.
func (a *Call) Begin() { a.begun.Store(true) }

// Begun reports whether Begin was called.
func (a *Call) Begun() bool { return a.begun.Load() }

// Getenv looks a variable up.
func (a *Call) Getenv(name string) (string, bool) {
	for _, e := range slices.Backward(a.Environ) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// Home is the folder of the user; empty when there is none.
func (a *Call) Home() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home, _ := a.Getenv(name); home != "" {
			return home
		}
	}
	return ""
}

// StateDir is where perfbench keeps what outlives a command.
func (a *Call) StateDir() (string, error) {
	if dir, _ := a.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "perfbench"), nil
	}
	if home := a.Home(); home != "" {
		return filepath.Join(home, ".local", "state", "perfbench"), nil
	}
	return "", fault.Hint(errors.New("there is no home directory for the state of perfbench"), "set XDG_STATE_HOME to an absolute path")
}

// Crashed appends the stack of a panic to a file in StateDir, and returns the path of the file;
// empty where that cannot be written. Any goroutine may call it.
func (a *Call) Crashed(file string, what any, stack []byte) string {
	dir, err := a.StateDir()
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	path := filepath.Join(dir, file)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return ""
	}
	_, err = fmt.Fprintf(f, "%s perfbench %s crashed: %v\n%s\n", time.Now().Format(time.RFC3339), Of().Version, what, stack)
	if errors.Join(err, f.Close()) != nil {
		return ""
	}
	return path
}

// cacheDir is where perfbench keeps what it can find out again; empty when there is
// none, or nothing is to be kept.
func (a *Call) cacheDir() string {
	if !a.Calibrate {
		return ""
	}
	if dir, _ := a.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "perfbench")
	}
	if dir, _ := a.Getenv("LocalAppData"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "perfbench", "cache")
	}
	if home, _ := a.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "perfbench")
	}
	return ""
}

// PresetDir is where the presets of the user are, a folder for each profile;
// empty when there is no home.
func (a *Call) PresetDir() string {
	if dir, _ := a.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "perfbench", "presets")
	}
	if home := a.Home(); home != "" {
		return filepath.Join(home, ".config", "perfbench", "presets")
	}
	return ""
}

// LabDir is where the lab keeps its servers.
func (a *Call) LabDir() (string, error) {
	dir, err := a.StateDir()
	return filepath.Join(dir, "lab"), err
}

// PoorLetters tells whether the terminal lacks the letters that charts are drawn
// with: its locale names another encoding than UTF-8, or it is a console whose
// fonts have no room for them. No locale at all tells nothing.
func (a *Call) PoorLetters() bool {
	if kind, _ := a.Getenv("TERM"); kind == "linux" || strings.HasPrefix(kind, "vt") {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale, _ := a.Getenv(name); locale != "" {
			flat := strings.ToLower(strings.ReplaceAll(locale, "-", ""))
			return !strings.Contains(flat, "utf8")
		}
	}
	return false
}

// WantsColour tells whether stdout is a terminal that shows colours, of a user who has not
// refused them by NO_COLOR.
func (a *Call) WantsColour() bool {
	kind, _ := a.Getenv("TERM")
	refused, _ := a.Getenv("NO_COLOR")
	return a.StdoutTerminal && kind != "dumb" && refused == ""
}
