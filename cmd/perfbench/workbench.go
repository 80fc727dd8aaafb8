package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/session/given"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui"
)

// startWorkbench opens the workbench and, when it has closed, prints what its
// runs came to.
func (a *app) startWorkbench(ctx context.Context, f *runFlags) error {
	if !a.StdoutTerminal || !a.StdinTerminal {
		return fault.Input(errNoTerminal, "use  perfbench run  where there is none")
	}
	if kind, _ := a.getenv("TERM"); kind == "dumb" {
		return fault.Input(errors.New("the workbench needs a terminal that can move its cursor, and TERM says dumb"), "use  perfbench run  there")
	}
	ascii := f.ascii || f.plain || !f.asciiChosen && a.poorLetters()
	b, closeLog := a.bench(ctx, f)
	defer closeLog()
	first := f.request
	first.From = nil // in the picker everything is set by hand
	o := tui.Options{
		Theme: f.theme, ASCII: ascii, NoMouse: f.noMouse, NoAnimation: f.noAnimation || f.plain,
		Kill: a.hard.Done(), Request: first, RunParams: given.RunParams(), In: a.Stdin, Out: unwrapped(a.Stdout), Environ: a.Environ,
	}
	if v, ok := a.getenv("NO_COLOR"); ok && v != "" {
		o.NoColor = true
	}
	if v, ok := a.getenv("SSH_TTY"); ok && v != "" {
		o.NoAnimation = true
	}
	final, err := tui.Show(ctx, o, b)
	for _, out := range final.Outcomes {
		fmt.Fprint(a.Stdout, plainText(out.Summary, ascii))
	}
	if err != nil {
		return err
	}
	if n := len(final.Outcomes); n > 0 {
		return final.Outcomes[n-1].Err
	}
	return nil
}

// poorLetters tells whether the terminal lacks the letters that charts are drawn
// with: its locale names another encoding than UTF-8, or it is a console whose
// fonts have no room for them. No locale at all tells nothing.
func (a *app) poorLetters() bool {
	if kind, _ := a.getenv("TERM"); kind == "linux" || strings.HasPrefix(kind, "vt") {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale, _ := a.getenv(name); locale != "" {
			flat := strings.ToLower(strings.ReplaceAll(locale, "-", ""))
			return !strings.Contains(flat, "utf8")
		}
	}
	return false
}

// unwrapped returns the writer below the one that notes errors: the screen needs
// the terminal itself, to ask it for its size.
func unwrapped(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.w
	}
	return w
}

// bench builds what the screens see. Nothing may write to the terminal while
// they own it, so the log goes to a file and a ring.
func (a *app) bench(ctx context.Context, f *runFlags) (b *bench, closeLog func()) {
	b = &bench{env: a.sessionEnv(), out: f.request.Out, logs: &logRing{}, soft: ctx, hard: a.hard}
	if b.out == "" {
		b.out = session.DefaultOut
	}
	file := io.Discard
	closeLog = func() {}
	if dir, err := a.stateDir(); err == nil {
		b.state = dir
		if err := os.MkdirAll(dir, 0o700); err == nil {
			if w, err := os.OpenFile(filepath.Join(dir, "workbench.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
				file = w
				closeLog = func() { _ = w.Close() } // a log: nothing to be done about its loss
			}
		}
	}
	b.presets = a.presetDir()
	b.env.Log = slog.New(slog.NewJSONHandler(io.MultiWriter(b.logs, file), nil))
	return b, closeLog
}

// presetDir is where the presets of the user are, a folder for each profile;
// empty when there is no home.
func (a *app) presetDir() string {
	if dir, _ := a.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "perfbench", "presets")
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home, _ := a.getenv(name); home != "" {
			return filepath.Join(home, ".config", "perfbench", "presets")
		}
	}
	return ""
}

// withOwnPresets shows the user's presets beside the built-in ones.
func withOwnPresets(profiles []workload.Profile, dir string) []workload.Profile {
	for i, p := range profiles {
		if dir != "" && p.Design != nil {
			profiles[i].Presets = preset.Overlay(p.Presets, os.DirFS(filepath.Join(dir, p.Name)))
		}
	}
	return profiles
}

// logRing keeps the last hundred log lines. Safe for use by several goroutines.
type logRing struct {
	mu   sync.Mutex
	last []string
}

const ringLines = 100

// Write takes one log line.
func (r *logRing) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = append(r.last, string(bytes.TrimRight(p, "\n")))
	if len(r.last) > ringLines {
		r.last = append(r.last[:0], r.last[len(r.last)-ringLines:]...)
	}
	return len(p), nil
}

func (r *logRing) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.last...)
}
