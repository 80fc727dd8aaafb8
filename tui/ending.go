package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/picker"
	"github.com/perfbench/perfbench/tui/results"
	"github.com/perfbench/perfbench/tui/screen"
)

// ended stores the outcome of a run, and shows it unless the user is leaving.
func (a *App) ended(msg screen.EndedMsg) tea.Cmd {
	a.final.Outcomes = append(a.final.Outcomes, msg.Outcome)
	if p, is := a.stack[0].(*picker.Picker); is { // after a run, letters are commands
		p.List()
	}
	if a.leaving {
		return a.quit()
	}
	if msg.Stays {
		return a.stack.forward(screen.RunsChangedMsg{}, a.env)
	}
	if a.stack.typing() { // what is being typed is not meant for the next screen
		a.pending = &msg
		return a.stack.forward(screen.RunsChangedMsg{}, a.env)
	}
	return a.reveal(msg)
}

// reveal replaces the run by its results, with the screen to continue on above them.
func (a *App) reveal(msg screen.EndedMsg) tea.Cmd {
	a.pending = nil
	cmds := []tea.Cmd{nil}
	for i, s := range a.stack {
		if _, ok := s.(screen.Runner); ok {
			since := a.env.Now
			if d, ok := s.(*dashboard.Dashboard); ok && d.Stopped() {
				since = time.Time{}
			}
			ended := results.NewEnded(a.bench.Results, msg.Outcome, since)
			above := a.stack[i+1:]
			if len(above) > 0 {
				if _, ok := above[0].(screen.Runner); !ok { // the screen that follows the run stays
					above = nil
				}
			}
			a.stack = slices.Concat(a.stack[:i], []screen.Screen{ended}, above)
			cmds = append(cmds, ended.Start(a.env))
			break
		}
	}
	cmds[0] = a.stack.forward(screen.RunsChangedMsg{}, a.env)
	if msg.Then != nil {
		cmds = append(cmds, screen.Open(msg.Then))
	}
	return tea.Batch(cmds...)
}

// quit quits, as soon as what is being written is.
func (a *App) quit() tea.Cmd {
	if *a.env.Writes == 0 {
		return tea.Quit
	}
	a.overlay, a.leaving = finishing, true
	return nil
}

// written passes on what was written, and quits if somebody waits for that.
func (a *App) written(msg screen.WrittenMsg) tea.Cmd {
	*a.env.Writes--
	cmd := a.stack.forward(msg.Msg, a.env)
	if a.leaving && a.stack.run() == nil {
		return a.quit()
	}
	return cmd
}

// leave stops the run gracefully and quits once its report is written.
func (a *App) leave() tea.Cmd {
	a.overlay, a.leaving = none, true
	r := a.stack.run()
	if r == nil {
		return a.quit()
	}
	r.Stop()
	return nil
}

// kill ends the run immediately and quits.
func (a *App) kill() tea.Cmd {
	if r := a.stack.run(); r != nil {
		r.Kill()
		a.killed = r
	}
	return tea.Quit
}

// finish waits for a run that was killed, or that a panicking screen left behind, and
// returns what Show returns.
func (a *App) finish() Final {
	r := a.killed
	if r == nil {
		if r = a.stack.run(); r != nil {
			r.Kill()
		}
	}
	if r != nil {
		select {
		case <-r.Done():
			a.final.Outcomes = append(a.final.Outcomes, r.Outcome())
		case <-time.After(afterKill):
		}
	}
	return a.final
}
