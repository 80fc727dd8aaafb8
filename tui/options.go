package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Options control the appearance of the workbench and what it starts with. The zero
// value works on the process's terminal.
type Options struct {
	// Theme is auto, light, dark or mono; empty means auto.
	Theme string
	// NoColor disables colour, as NO_COLOR with any value does.
	NoColor bool
	// ASCII draws with ASCII characters only.
	ASCII bool
	// Plain draws nothing, and writes lines for a screen reader instead.
	Plain bool
	// NoMouse leaves the mouse to the terminal. NoAnimation replaces unnecessary
	// movement by words.
	NoMouse, NoAnimation bool
	// Request pre-fills the picker; with Start it is started at once.
	Request request.Request
	Start   bool
	// Suite are the runs of a plan file, to be shown first; nil: none.
	Suite *screen.Suite
	// Watch is a run that another process drives, to be shown first, with its knobs if they
	// can be turned from here. Without a Run there is none.
	Watch screen.Access
	// RunParams describe the parameters that every run has, in addition to those of its
	// profile, for help and choices in the picker.
	RunParams []workload.Param
	// Crashed keeps the stack of a panic, and returns the path of the file that has it then; empty:
	// none has. nil keeps nothing. Any goroutine may call it.
	Crashed func(what any, stack []byte) string
	// Kill, when closed, ends everything immediately.
	Kill <-chan struct{}
	// In and Out replace the terminal, Environ its variables; for tests.
	In      io.Reader
	Out     io.Writer
	Environ []string
}

// Final is what remains when the screen is closed.
type Final struct {
	// Outcomes are those of the runs of this session, in order; print the summary of
	// each to the normal screen.
	Outcomes []screen.Outcome
}

// Code returns the exit code of the session: that of its last run, or 0.
func (f Final) Code() int {
	if len(f.Outcomes) == 0 {
		return 0
	}
	return f.Outcomes[len(f.Outcomes)-1].Code
}

// stopMsg is an external request to stop gracefully, killMsg one to stop immediately.
type (
	stopMsg struct{}
	killMsg struct{}
)

// afterKill is how long a killed run may take to write its report.
const afterKill = 10 * time.Second

// Show shows the workbench until the user leaves. When ctx is cancelled or the terminal
// goes away, it stops the run in progress gracefully and then leaves; when Options.Kill
// is closed, it leaves immediately. The terminal is always restored. Show blocks; call
// it once.
func Show(ctx context.Context, o Options, b Bench) (Final, error) {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	app := NewApp(o, b, func() (context.Context, context.CancelFunc) { return context.WithCancel(base) })
	screens := &guard{app: app}
	over, gone := make(chan struct{}), make(chan struct{})
	var model tea.Model = screens
	if o.Plain {
		in, _ := o.In.(*os.File)
		out := o.Out
		if o.In == nil {
			in = os.Stdin
		}
		if out == nil {
			out = os.Stdout
		}
		defer raw(in)()
		model = newSpeaker(screens, out)
	}
	program := tea.NewProgram(model, o.program(sync.OnceFunc(func() { close(gone) }))...)
	defer fault.Guard(func(what any) {
		err := screens.bug(what)
		program.Send(brokenMsg{err})
		if !quits(over, afterKill) { // the screens wait for what has panicked
			program.Kill()
		}
	})()
	var wg sync.WaitGroup
	wg.Go(fault.Guarded(func() { // ends with the program
		select {
		case <-ctx.Done():
			program.Send(stopMsg{})
		case <-gone:
			program.Send(stopMsg{})
		case <-over:
		}
	}))
	wg.Go(fault.Guarded(func() {
		select {
		case <-o.Kill:
			program.Send(killMsg{})
		case <-over:
		}
	}))
	_, err := program.Run()
	close(over)
	cancel()
	wg.Wait()
	app.env.Starts.Wait()
	switch {
	case screens.broken != nil:
		err = screens.broken
	case err != nil:
		err = fmt.Errorf("screen: %w", err)
	}
	return app.finish(), err
}

// quits reports whether over is closed within a time.
func quits(over <-chan struct{}, within time.Duration) bool {
	select {
	case <-over:
		return true
	case <-time.After(within):
		return false
	}
}

// hangup is a terminal that reports when it has gone away, because then nobody could
// stop a run. A hangup signal would report that too, but not to a process that was
// started with the signal ignored.
type hangup struct {
	*os.File
	gone func()
}

func (h hangup) Read(p []byte) (int, error) {
	n, err := h.File.Read(p)
	if err != nil {
		h.gone()
	}
	return n, err
}

// program returns the options for Bubble Tea; gone is called when there is no more
// input.
func (o Options) program(gone func()) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithFPS(30), tea.WithoutSignalHandler(), tea.WithFilter(newCalm())}
	if o.Plain {
		opts = append(opts, tea.WithoutRenderer())
	}
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	colours := widget.Colours(environ)
	if o.NoColor {
		colours = colorprofile.ASCII
	}
	opts = append(opts, tea.WithColorProfile(colours))
	if o.In == nil && term.IsTerminal(int(os.Stdin.Fd())) {
		o.In = os.Stdin
	}
	if f, ok := o.In.(*os.File); ok {
		opts = append(opts, tea.WithInput(hangup{f, gone}))
	} else if o.In != nil {
		opts = append(opts, tea.WithInput(o.In))
	}
	if o.Out != nil {
		opts = append(opts, tea.WithOutput(o.Out))
	}
	if o.Environ != nil {
		opts = append(opts, tea.WithEnvironment(o.Environ))
	}
	return opts
}

// calm is the minimum interval between mouse motion or wheel messages.
const calm = 15 * time.Millisecond

// newCalm returns a filter that thins out floods of mouse messages. Clicks and
// releases, which also carry the position of the pointer, always pass.
func newCalm() func(tea.Model, tea.Msg) tea.Msg {
	return calmBy(time.Now)
}

func calmBy(now func() time.Time) func(tea.Model, tea.Msg) tea.Msg {
	var motion, wheel time.Time
	pass := func(last *time.Time) bool {
		t := now()
		if t.Sub(*last) < calm {
			return false
		}
		*last = t
		return true
	}
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch msg.(type) {
		case tea.MouseMotionMsg:
			if !pass(&motion) {
				return nil
			}
		case tea.MouseWheelMsg:
			if !pass(&wheel) {
				return nil
			}
		}
		return msg
	}
}
