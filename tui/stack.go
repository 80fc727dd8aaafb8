package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/screen"
)

// stack are the screens that lie on each other, the first one at the bottom; the one on top has the keys. It belongs to
// the event loop.
type stack []screen.Screen

func (s stack) top() screen.Screen { return s[len(s)-1] }

// close takes the screen on top away, unless it is the first one.
func (s *stack) close() {
	if len(*s) > 1 {
		*s = (*s)[:len(*s)-1]
	}
}

// forward passes a message to the screen on top. The result of a command whose screen
// has been covered since is passed to the screens below as well.
func (s stack) forward(msg tea.Msg, e screen.Env) tea.Cmd {
	from := 0
	switch msg.(type) {
	case tea.KeyPressMsg, tea.MouseMsg, tea.PasteMsg:
		from = len(s) - 1
	}
	var cmds []tea.Cmd
	for i := from; i < len(s); i++ {
		next, cmd := s[i].Update(msg, e)
		s[i] = next
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// frame passes a frame to every screen, because a run continues below another one.
func (s stack) frame(msg screen.FrameMsg, e screen.Env) tea.Cmd {
	var cmds []tea.Cmd
	for i := range s {
		e.Covered = i < len(s)-1
		next, cmd := s[i].Update(msg, e)
		s[i] = next
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// running is the place of the screen with the run, sweep or plan in progress; -1 if there is none.
func (s stack) running() int {
	return slices.IndexFunc(s, func(s screen.Screen) bool {
		r, ok := s.(screen.Runner)
		return ok && r.Running() != nil
	})
}

// run returns the run or sweep in progress, or nil.
func (s stack) run() screen.Ending {
	if i := s.running(); i >= 0 {
		return s[i].(screen.Runner).Running()
	}
	return nil
}

// away is how many screens lie above the first one, or above the one with the run, sweep or plan in progress;
// none while a run is about to start, which esc cancels.
func (s stack) away() int {
	if d, is := s.top().(*dashboard.Screen); is && d.Connecting() {
		return 0
	}
	return len(s) - 1 - max(s.running(), 0)
}

// idle reports whether nothing happens on any screen.
func (s stack) idle() bool {
	return !slices.ContainsFunc(s, func(s screen.Screen) bool {
		r, ok := s.(screen.Idler)
		return !ok || !r.Idle()
	})
}

// typing reports whether the screen on top is accepting text.
func (s stack) typing() bool {
	t, ok := s.top().(screen.Typist)
	return ok && t.Typing()
}

// writes reports whether a key begins to type a value on the screen on top.
func (s stack) writes(msg tea.KeyPressMsg) bool {
	w, ok := s.top().(screen.Writer)
	return ok && w.Writes(msg)
}

// untouched reports whether the screen on top asks for a value into which nothing has been typed.
func (s stack) untouched() bool {
	f, ok := s.top().(screen.Former)
	return ok && f.Untouched()
}
