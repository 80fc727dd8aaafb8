package picker

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/tui/screen"
)

// pinger asks a target what it is, a moment after it was chosen. Its zero value is
// ready for use.
type pinger struct {
	number int
	due    time.Time
	target string
	busy   bool
	done   bool
	pong   screen.Pong
	err    error
	cancel func()
}

type pongMsg struct {
	number int
	pong   screen.Pong
	err    error
}

// settle is how long a target must be unchanged before it is pinged.
const settle = 400 * time.Millisecond

// soon discards the last answer and pings after d.
func (g *pinger) soon(e screen.Env, d time.Duration) {
	g.forget()
	g.due = e.Now.Add(d)
	if e.Now.IsZero() {
		g.due = time.Unix(0, 0)
	}
}

// forget discards the answer, and a ping in progress.
func (g *pinger) forget() {
	if g.cancel != nil {
		g.cancel()
	}
	*g = pinger{number: g.number + 1}
}

func (g *pinger) frame(b Planner, r request.Request, e screen.Env) tea.Cmd {
	if g.due.IsZero() || e.Now.Before(g.due) {
		return nil
	}
	g.due = time.Time{}
	return g.ask(b, r, e)
}

func (g *pinger) ask(b Planner, r request.Request, e screen.Env) tea.Cmd {
	g.forget()
	ctx, cancel := e.Connecting()
	g.busy, g.target, g.cancel = true, r.Target, cancel
	number := g.number
	return func() tea.Msg {
		defer cancel()
		pong, err := b.Ping(ctx, r.Target, r.Password)
		return pongMsg{number, pong, err}
	}
}

func (g *pinger) answered(msg pongMsg) {
	if msg.number == g.number {
		g.busy, g.done, g.pong, g.err = false, true, msg.pong, msg.err
	}
}

// Resting reports that there is no target to ping and no message to remove.
func (p *Picker) Resting() bool { return p.ping.due.IsZero() && !p.ping.busy && p.toast.Text == "" }
