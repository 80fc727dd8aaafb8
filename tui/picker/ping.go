package picker

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store"
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

// turn goes from the target of one request to that of another: what the one answered is not said of the
// other, which is pinged unless it is in this process.
func (g *pinger) turn(was, to request.Request, e screen.Env) {
	if was.Target == to.Target && was.Password == to.Password {
		return
	}
	g.forget()
	if !widget.Local(to.Target) {
		g.soon(e, settle)
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
	if g.due.IsZero() || e.Now.Before(g.due) || g.done && e.Covered {
		return nil
	}
	g.due = time.Time{}
	if g.done { // what it answered stands until it is known anew
		return g.again(r, e)
	}
	return g.ask(r, e)
}

func (g *pinger) ask(r request.Request, e screen.Env) tea.Cmd {
	g.forget()
	g.busy = true
	return g.again(r, e)
}

// again asks once more.
func (g *pinger) again(r request.Request, e screen.Env) tea.Cmd {
	g.number++
	ctx, cancel := e.Connecting()
	g.target, g.cancel = r.Target, cancel
	number, pinger := g.number, g.pinger
	return func() tea.Msg {
		defer cancel()
		pong, err := pinger.Ping(ctx, r.Target, r.Password)
		return pongMsg{number, pong, err}
	}
}

// How long an answer stands before a target is asked again while the form is shown: a store that does
// not answer may come back, and one that does may go.
const (
	renewBad  = 3 * time.Second
	renewGood = 10 * time.Second
)

// answered takes an answer that came at a time.
func (g *pinger) answered(msg pongMsg, now time.Time) {
	if msg.number != g.number {
		return
	}
	g.busy, g.done, g.pong, g.err, g.at, g.cancel = false, true, msg.pong, msg.err, now, nil
	switch {
	case widget.Local(g.target):
	case g.err == nil:
		g.due = now.Add(renewGood)
	case !refused(g.err):
		g.due = now.Add(renewBad)
	}
}

// refused reports whether a store answered and would not have us: asked again and again, it might lock
// the user out.
func refused(err error) bool {
	text := strings.ToLower(err.Error())
	return slices.ContainsFunc([]string{"password", "auth", "denied", "credential", "not permitted"}, func(word string) bool { return strings.Contains(text, word) })
}

// asOf says when the answer came, as it grows old.
func (g *pinger) asOf() string { return "at " + g.at.Format(time.TimeOnly) }

// answer is what the target said, in one line of so many cells if need be: without when that was, or without its
// topology; whole if that is still too long.
func (g *pinger) answer(room int) string {
	name, took := strings.TrimSpace(g.pong.Info.Name+" "+g.pong.Info.Version), units.Duration(g.pong.RoundTrip.Round(10*time.Microsecond))
	whole := name
	if g.pong.Info.Topology != "" {
		whole += " · " + g.pong.Info.Topology
	}
	forms := []string{whole + " · " + took + " " + g.asOf(), whole + " · " + took, name + " · " + took}
	for _, form := range forms {
		if ansi.StringWidth(form) <= room {
			return form
		}
	}
	return forms[0]
}

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
		for i, l := range widget.Wrap(widget.Unflagged(g.err.Error())+" ("+g.asOf()+")", room) {
			lead := "  "
			if i == 0 {
				lead = "✗ "
			}
			out = append(out, at+s.Bad.On(lead+l))
		}
		if h := fault.HintOf(g.err); h != "" {
			h = strings.Replace(h, store.PasswordHint, "fill in password below", 1)
			for _, l := range widget.Wrap(widget.Unflagged(h), room) {
				out = append(out, at+"  "+s.Muted.On(l))
			}
		}
		return out
	}
	var out []string
	for i, l := range widget.Wrap(g.answer(room), room) {
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
