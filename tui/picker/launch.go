package picker

import (
	"maps"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// The kinds of run that can be started with the current settings.
func oneRun(r request.Request) screen.Destination  { return screen.Start{Request: r} }
func aSearch(r request.Request) screen.Destination { return screen.AskSearch{Request: r} }
func aSweep(r request.Request) screen.Destination  { return screen.AskSweep{Request: r} }
func onTargets(r request.Request) screen.Destination {
	return screen.AskSweep{Request: r, Targets: true}
}

// launch goes to the destination of the current settings, or reports why not. It first
// waits for a preview in progress.
func (p *Picker) launch(e screen.Env, to func(request.Request) screen.Destination) tea.Cmd {
	p.forecast.wanted = nil
	pr := p.list.selected()
	switch {
	case pr == nil:
		return nil
	case !built(pr):
		p.toast.Say(e.Now, pr.Title+" is planned: it cannot be run yet", false)
	case !p.forecast.current():
		p.forecast.wanted = to
	case p.forecast.err != nil:
		p.toast.Say(e.Now, "not started: "+widget.Unflagged(firstLine(p.forecast.err)), true)
		if p.form.goTo(func(r *row) bool { return len(r.wrong) > 0 }) {
			p.pane = paneForm
		}
	default:
		asked := p.drafts.request()
		p.bench.Planner.Settle(asked.Target, asked.Password)
		asked.Form = nil
		r := asked
		if !r.OfPlan() { // what a plan gives is the plan's, such as its faults
			asked.Values = maps.Clone(asked.Values)
			r.Form = &asked
		}
		where := to(r)
		if ask, ok := where.(screen.AskSearch); ok {
			if p.forecast.replays() {
				p.toast.Say(e.Now, screen.NoSearch, false)
				return nil
			}
			if plan := p.forecast.preview.Plan; plan != nil {
				ask.Operations = plan.Operations()
			}
			where = ask
		}
		if ask, ok := where.(screen.AskSweep); ok {
			ask.Replays = p.forecast.replays()
			where = ask
		}
		return screen.Open(where)
	}
	return nil
}
