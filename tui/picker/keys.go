package picker

import (
	"image"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

func (p *Picker) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	if cmd, typed := p.pressTyped(msg, e); typed {
		return cmd
	}
	k, entered := p.bindings(), p.entered
	p.entered = false
	switch none := p.noMatch(); {
	case none != "" && (widget.Presses(msg, k.Start) || widget.Presses(msg, k.Launch) || widget.Presses(msg, k.Search) || widget.Presses(msg, k.Sweep) || widget.Presses(msg, k.Targets) || widget.Presses(msg, k.Copy) ||
		widget.Presses(msg, k.Up) || widget.Presses(msg, k.Down) || widget.Presses(msg, k.Right)):
		p.toast.Say(e.Now, none, false)
	case p.pane == paneRuns && p.runs.shelf.Filter.Text() != "" && len(p.runs.items()) == 0 && p.Keys().Dims(msg):
		p.toast.Say(e.Now, p.runs.shelf.Filter.NoMatch("run"), false)
	case p.Writes(msg):
		cmd, says := p.form.write(msg, e)
		if says != "" {
			p.toast.Say(e.Now, says, false)
		}
		return cmd
	case entered && key.Matches(msg, k.Left):
		p.pane = paneProfiles
	case key.Matches(msg, k.Launch):
		return p.launch(e, oneRun)
	case widget.Presses(msg, k.Search):
		return p.launch(e, aSearch)
	case widget.Presses(msg, k.Sweep):
		return p.launch(e, aSweep)
	case widget.Presses(msg, k.Targets):
		return p.launch(e, onTargets)
	case key.Matches(msg, k.Ping):
		if widget.SizeOf(e.W, e.H) == widget.Small && p.form.goTo(func(r *row) bool { return r.kind == rowTarget }) {
			p.pane = paneForm // the answer is shown below the target
		}
		return p.ping.ask(p.drafts.request(), e)
	case key.Matches(msg, k.Copy):
		return screen.Copy("does this run", p.forecast.elsewhere(p.drafts.request()))
	case key.Matches(msg, k.Details):
		p.form.showAll()
	case key.Matches(msg, k.Plans):
		return screen.Open(screen.Plans{})
	case key.Matches(msg, k.History):
		return screen.Open(screen.Runs{})
	case key.Matches(msg, k.Compare):
		return screen.Open(screen.Runs{})
	case widget.Presses(msg, k.Compare):
		p.Tell("c (compare) does nothing here: it takes two runs", e)
	case key.Matches(msg, k.Next):
		p.focus(e, 1)
	case key.Matches(msg, k.Prev):
		p.focus(e, -1)
	case key.Matches(msg, k.Filter) && p.pane == paneForm:
		p.form.find = p.form.newFinder()
	case key.Matches(msg, k.Filter):
		p.pane = paneProfiles
		p.filterProfiles()
	case key.Matches(msg, k.Back):
		if p.pane == paneProfiles && p.list.filter.Text() != "" {
			p.list.filter.Clear()
			return p.refilter()
		}
		if p.pane == paneRuns && p.runs.shelf.Filter.Text() != "" {
			p.runs.shelf.Filter.Clear()
			return nil
		}
		if p.pane == paneRuns && p.runs.failed.dismiss() {
			return nil
		}
		if p.plan != nil {
			return p.back(e)
		}
		p.pane = paneProfiles
	case widget.Presses(msg, k.Launch), p.pane == paneProfiles && widget.Presses(msg, k.Start):
		return p.launch(e, oneRun)
	case p.pane == paneForm:
		return p.form.press(msg, k, e)
	case p.pane == panePlan:
		p.forecast.scroll += steps(msg, k, e.H)
	case p.pane == paneRuns && key.Matches(msg, k.Again):
		return p.runs.failed.again()
	case p.pane == paneRuns:
		return p.runs.press(msg, k)
	default:
		return p.pressProfiles(msg, k, e)
	}
	return nil
}

// pressTyped passes a key to the text being typed, if there is one.
func (p *Picker) pressTyped(msg tea.KeyPressMsg, e screen.Env) (cmd tea.Cmd, typed bool) {
	if p.list.filter.Typing() {
		p.list.filter.Press(msg)
		cmd = p.refilter()
		if none := p.noMatch(); none != "" && !p.list.filter.Typing() {
			p.toast.Say(e.Now, none, false)
		}
		return cmd, true
	}
	if p.form.edit != nil {
		return p.form.pressEdit(msg, e), true
	}
	if p.form.find != nil {
		p.form.pressFind(msg)
		return nil, true
	}
	if p.pane == paneRuns || p.runs.shelf.Typing() {
		return p.runs.pressShelf(msg)
	}
	return nil, false
}

// steps returns by how much a key moves the selection; 0 if it does not.
func steps(msg tea.KeyPressMsg, k widget.Bindings, height int) int {
	by, _ := k.Moves(msg, 1<<20, height)
	return by
}

func (p *Picker) pressProfiles(msg tea.KeyPressMsg, k widget.Bindings, e screen.Env) tea.Cmd {
	switch {
	case key.Matches(msg, k.Start):
		return p.launch(e, oneRun)
	case key.Matches(msg, k.Right):
		p.pane, p.entered = paneForm, true
	default:
		if by := steps(msg, k, e.H); by != 0 {
			return p.choose(p.list.at() + by)
		}
	}
	return nil
}

// focus moves to the next panel that is shown.
func (p *Picker) focus(e screen.Env, by int) {
	l := p.layout(e.W, e.H)
	for range panesOfPicker {
		p.pane = (p.pane + pane(by) + panesOfPicker) % panesOfPicker
		if widget.SizeOf(e.W, e.H) == widget.Small || !l.panes[p.pane].Empty() {
			return
		}
	}
}

// paneAt returns the panel at a point; -1 if there is none.
func (p *Picker) paneAt(m tea.Mouse, e screen.Env) (pane, image.Rectangle) {
	l := p.layout(e.W, e.H)
	for i, r := range l.panes {
		if image.Pt(m.X, m.Y).In(r) {
			return pane(i), r
		}
	}
	return -1, image.Rectangle{}
}

// click selects what is under the pointer. A click on the selected value changes it; a
// click on the selected run opens it.
func (p *Picker) click(m tea.Mouse, e screen.Env) tea.Cmd {
	listed := len(p.list.shown)
	p.list.keep()
	p.form.find = nil
	p.runs.shelf.Forget()
	if p.form.edit != nil {
		line := -1 - p.form.top // in none
		if at, r := p.paneAt(m, e); at == paneForm {
			line = m.Y - r.Min.Y - 1
		}
		return p.form.clickEdit(line, e)
	}
	if m.Y == 0 && widget.SizeOf(e.W, e.H) == widget.Small {
		for _, t := range paneSpots() {
			if m.X >= t.From && m.X < t.To {
				p.pane = pane(t.At)
			}
		}
		return nil
	}
	at, r := p.paneAt(m, e)
	if at < 0 {
		return nil
	}
	had := p.pane == at
	p.pane, p.entered = at, false
	line := m.Y - r.Min.Y - 1
	switch at {
	case paneProfiles:
		if line == 0 {
			p.filterProfiles()
			return nil
		}
		if i := line - 2; i >= 0 && i < listed {
			return p.choose(i)
		}
	case paneForm:
		if m.Y == r.Max.Y-1 { // the border names the key that starts
			return p.launch(e, oneRun)
		}
		return p.form.click(m.X-r.Min.X, line, had, e)
	case paneRuns:
		return p.runs.click(line, had)
	}
	return nil
}

// wheel scrolls what is under the pointer; a panel whose rows it moves along has the keys from then
// on, so that the row is seen.
func (p *Picker) wheel(msg tea.MouseWheelMsg, e screen.Env) tea.Cmd {
	by := widget.Wheel(msg.Mouse(), 1)
	if p.form.edit != nil {
		return nil
	}
	switch at, _ := p.paneAt(msg.Mouse(), e); at {
	case paneProfiles:
		return p.choose(p.list.at() + by)
	case paneForm:
		p.pane = at
		p.form.move(3 * by)
	case panePlan:
		p.forecast.scroll += 2 * by
	case paneRuns:
		p.pane = at
		p.runs.move(by)
	}
	return nil
}
