package picker

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// pinger asks a target what it is, a moment after it was chosen.
type pinger struct {
	pinger Pinger
	number int
	due    time.Time
	target string
	busy   bool
	done   bool
	at     time.Time // of the answer
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
	*g = pinger{pinger: g.pinger, number: g.number + 1}
}

func (g *pinger) frame(r request.Request, e screen.Env) tea.Cmd {
	if g.due.IsZero() || e.Now.Before(g.due) {
		return nil
	}
	g.due = time.Time{}
	return g.ask(r, e)
}

func (g *pinger) ask(r request.Request, e screen.Env) tea.Cmd {
	g.forget()
	ctx, cancel := e.Connecting()
	g.busy, g.target, g.cancel = true, r.Target, cancel
	number, pinger := g.number, g.pinger
	return func() tea.Msg {
		defer cancel()
		pong, err := pinger.Ping(ctx, r.Target, r.Password)
		return pongMsg{number, pong, err}
	}
}

// answered takes an answer that came at a time.
func (g *pinger) answered(msg pongMsg, now time.Time) {
	if msg.number == g.number {
		g.busy, g.done, g.pong, g.err, g.at = false, true, msg.pong, msg.err, now
	}
}

// asOf says when the answer came, as it grows old.
func (g *pinger) asOf() string { return "at " + g.at.Format(time.TimeOnly) }

// lines show what the target answered.
func (g *pinger) lines(s *widget.Styles, at string, w int) []string {
	room := max(w-len(at)-2, 12)
	switch {
	case g.busy:
		return []string{at + s.Muted.On("asking …")}
	case !g.done:
		return nil
	case g.err != nil:
		var out []string
		for i, l := range widget.Wrap(g.err.Error()+" ("+g.asOf()+")", room) {
			lead := "  "
			if i == 0 {
				lead = "✗ "
			}
			out = append(out, at+s.Bad.On(lead+l))
		}
		if h := fault.HintOf(g.err); h != "" {
			for _, l := range widget.Wrap(h, room) {
				out = append(out, at+"  "+s.Muted.On(l))
			}
		}
		return out
	}
	words := []string{strings.TrimSpace(g.pong.Info.Name + " " + g.pong.Info.Version)}
	if g.pong.Info.Topology != "" {
		words = append(words, g.pong.Info.Topology)
	}
	words = append(words, units.Duration(g.pong.RoundTrip.Round(10*time.Microsecond))+" "+g.asOf())
	var out []string
	for i, l := range widget.Wrap(strings.Join(words, " · "), room) {
		lead := "  "
		if i == 0 {
			lead = s.OK.On("● ")
		}
		out = append(out, at+lead+l)
	}
	for _, t := range append([]string{g.pong.Info.NoFigure}, g.pong.Info.Warnings...) {
		if t == "" {
			continue
		}
		for i, l := range widget.Wrap(t, room) {
			lead := "  "
			if i == 0 {
				lead = "! "
			}
			out = append(out, at+s.Warn.On(lead+l))
		}
	}
	return out
}
