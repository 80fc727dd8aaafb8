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

	"github.com/perfbench/perfbench/internal/job"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// Options say how the workbench looks and what it begins with. The zero value
// works on the process's terminal.
type Options struct {
	// Theme is auto, light, dark or mono; empty is auto.
	Theme string
	// NoColor says that no colour may be written, as NO_COLOR with any value does.
	NoColor bool
	// ASCII draws without letters beyond ASCII.
	ASCII bool
	// NoMouse leaves the mouse to the terminal, NoAnimation turns what moves without
	// need into words.
	NoMouse, NoAnimation bool
	// Request fills the picker in; with Start it is started at once.
	Request job.Request
	Start   bool
	// Watch is a run that another process drives, which is shown first; nil: there is none.
	Watch screen.Run
	// RunParams describe what every run can be told, beside the parameters of its
	// profile: for help and choices in the picker.
	RunParams []workload.Param
	// Kill, when closed, ends everything at once.
	Kill <-chan struct{}
	// In and Out replace the terminal, Environ its variables; for tests.
	In      io.Reader
	Out     io.Writer
	Environ []string
}

// Final is what is left when the screen has gone.
type Final struct {
	// Outcomes are those of the runs of this session, in order; print the summary
	// of each to the normal screen.
	Outcomes []screen.Outcome
}

// Code returns the exit code of the session: that of its last run, else 0.
func (f Final) Code() int {
	if len(f.Outcomes) == 0 {
		return 0
	}
	return f.Outcomes[len(f.Outcomes)-1].Code
}

// stopMsg asks from outside to end in order, killMsg at once.
type (
	stopMsg struct{}
	killMsg struct{}
)

// afterKill is how long a run that was ended at once may take to write its report.
const afterKill = 10 * time.Second

// Show shows the workbench until the user leaves. Cancelling ctx stops a run that
// is under way in order and then leaves, as the end of the terminal does; closing
// Options.Kill leaves at once.
// The terminal is restored in any case. It blocks; call it once.
func Show(ctx context.Context, o Options, b Bench) (Final, error) {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	app := NewApp(o, b, func() (context.Context, context.CancelFunc) { return context.WithCancel(base) })
	screens := &guard{app: app}
	over, gone := make(chan struct{}), make(chan struct{})
	program := tea.NewProgram(screens, o.program(sync.OnceFunc(func() { close(gone) }))...)
	var wg sync.WaitGroup
	wg.Go(func() { // ends with the program
		select {
		case <-ctx.Done():
			program.Send(stopMsg{})
		case <-gone:
			program.Send(stopMsg{})
		case <-over:
		}
	})
	wg.Go(func() {
		select {
		case <-o.Kill:
			program.Send(killMsg{})
		case <-over:
		}
	})
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

// hangup is a terminal that says when it has gone: nobody could stop a run then. A hangup
// signal says so too, but not to a process that was started to ignore it.
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

// program are the options of Bubble Tea; gone is called when there is nothing more to read.
func (o Options) program(gone func()) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithFPS(30), tea.WithoutSignalHandler(), tea.WithFilter(newCalm())}
	if o.NoColor {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
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

// calm is how far apart messages of mouse motion and wheel are let through.
const calm = 15 * time.Millisecond

// newCalm returns a filter that thins out floods of mouse messages. Clicks and
// releases, which also tell where the pointer is, always pass.
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
