package archive

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// asker asks for a sweep.
type asker struct {
	open bool
	// targets means that targets are asked for.
	targets bool
	// replays means that the runs replay a recording.
	replays bool
	form    widget.Form
	req     request.Request
	// after is the run that ends before the sweep begins; nil without one.
	after screen.Ending
	// busy means that a sweep is being prepared.
	busy bool
	// long asks whether a sweep that takes long is to begin; nil: nothing is asked.
	long *widget.Question
	// refused is why what is asked makes no sweep, as far as it is known; checking means that it is found out, and changed
	// that something else is asked since that began.
	refused           error
	checking, changed bool
	// foreseen is the sweep over what was checked last, before any run; nil if it makes none.
	foreseen *sweep.Result
	over     []string
	// foot is how many lines what enter starts had when it was drawn last.
	foot int
}

// longSweep is from how long on a sweep is begun only by a second key.
const longSweep = 10 * time.Minute

// The initial values of the form.
const (
	usualOver     = "threads=1,2,4,…,64"
	usualSpeeds   = "speed=1,2,4"
	usualDuration = "10s"
	usualWarmup   = "2s"
)

func newAsker(to screen.AskSweep) asker {
	over, help := usualOver, "a knob, a parameter or target, and its values; dots continue the series"
	switch {
	case to.Replays && !to.Targets:
		over = usualSpeeds
	case to.Targets:
		over = sweep.Target + "=" + cmp.Or(to.Request.Target, widget.DefaultTarget) + ","
		help = "the targets, with commas between them; a password goes in as redis://user:password@host, and is never shown, kept or logged"
	}
	rate := widget.NewRow("rate", "rate", "", "of each run; empty: as fast as it can, which shows a knee over threads")
	if over != usualOver {
		rate = widget.NewRow("rate", "rate", rateOf(to.Request.Values), rate.Help)
	}
	what := widget.NewRow("over", "over", over, help)
	if to.Targets {
		what = what.Begun()
	}
	rows := []widget.FormRow{
		what.Masked(widget.MaskList),
		widget.NewRow("and", "and over", "", "a second one, for every pair of values: payload=1KiB,16KiB"),
		widget.NewRow("fault", "a fault", "", "at the middle of each run, for a tenth of it: power-cut, power-cut:torn, kill, delay:5ms"),
		rate,
		widget.NewRow("repeat", "runs a point", sweep.UsualRepeat, "in rounds, each in an order of its own"),
		widget.NewRow("duration", "each run", usualDuration, "how long a run measures"),
		widget.NewRow("warmup", "warm-up", usualWarmup, "before each run; auto: until it has settled"),
	}
	if to.Again != nil {
		has := map[string]string{"repeat": to.Again.Repeat, "fault": to.Again.Fault, "rate": rateOf(to.Request.Values)}
		for i, name := range []string{"over", "and"} {
			has[name] = strings.Join(to.Again.Over[min(i, len(to.Again.Over)):min(i+1, len(to.Again.Over))], "")
		}
		for _, name := range []string{"duration", "warmup"} {
			has[name] = to.Request.Values[name].Text
		}
		for i, r := range rows {
			if text, ok := has[r.Name]; ok {
				rows[i] = r.Holding(text)
			}
		}
	}
	if len(to.Request.Timetable) > 0 {
		rows = append(rows, widget.NewRow("at", "timetable", timetable(to.Request), "what changes during each run; empty: nothing"))
	}
	return asker{targets: to.Targets, replays: to.Replays, open: true, req: to.Request, after: to.After, form: widget.Form{Rows: rows}}
}

// rowsOfSweeps are those of the form, which texts name.
func rowsOfSweeps() []widget.FormRow { return newAsker(screen.AskSweep{}).form.Rows }

// timetable is that of a request on one line.
func timetable(r request.Request) string { return strings.Join(r.Timetable, "; ") }

// asked returns the contents of the form.
func (a *asker) asked() sweep.Asked {
	out := sweep.Asked{Repeat: strings.TrimSpace(a.form.Value("repeat")), Fault: strings.TrimSpace(a.form.Value("fault"))}
	for _, name := range []string{"over", "and"} {
		if text := strings.TrimSpace(a.form.Value(name)); text != "" {
			out.Over = append(out.Over, text)
		}
	}
	return out
}

// rateOf returns the rate of a request; empty without one.
func rateOf(vs workload.Values) string {
	if text := strings.TrimSpace(vs[find.OverRate].Text); text != "0" {
		return text
	}
	return ""
}

// server is the one that the runs load; "" if the form goes over targets.
func (a *asker) server() string {
	for _, over := range a.asked().Over {
		if name, _, _ := strings.Cut(over, "="); strings.TrimSpace(name) == sweep.Target {
			return ""
		}
	}
	return widget.HideSecrets(cmp.Or(a.req.Target, widget.DefaultTarget))
}

// changes says what changes in each run, where something does.
func (a *asker) changes() string {
	if list := a.request().Timetable; len(list) > 0 {
		return "In each run the timetable changes " + strings.Join(list, ", ") + "."
	}
	return ""
}

// load says whether the runs hold a rate, where they are over threads.
func (a *asker) load() string {
	threads := slices.ContainsFunc(a.asked().Over, func(over string) bool {
		name, _, _ := strings.Cut(over, "=")
		return sweep.Axis{Name: strings.TrimSpace(name)}.Concurrency()
	})
	switch asked, before := strings.TrimSpace(a.form.Value("rate")), rateOf(a.req.Values); {
	case !threads:
		return ""
	case asked != "" && asked != "0":
		return "Each run holds " + asked + "/s, so throughput does not show how the store scales: there is no knee, and response times are compared."
	case before != "":
		return "Each run goes as fast as it can, without the rate of " + before + "/s that the form before had."
	}
	return ""
}

// request returns what the runs have in common: what is swept over has no fixed value.
func (a *asker) request() request.Request {
	r := a.req
	if text := a.form.Value("at"); text != timetable(r) {
		r.Timetable = nil
		for entry := range strings.SplitSeq(text, ";") {
			if entry = strings.TrimSpace(entry); entry != "" {
				r.Timetable = append(r.Timetable, entry)
			}
		}
	}
	values := workload.Values{}
	maps.Copy(values, r.Values)
	delete(values, "count")
	for _, name := range []string{"duration", "warmup"} {
		delete(values, name)
		if text := strings.TrimSpace(a.form.Value(name)); text != "" {
			values[name] = workload.Value{Name: name, Text: text, Origin: workload.OriginFlag}
		}
	}
	if rate := strings.TrimSpace(a.form.Value("rate")); rate != rateOf(values) || rate == "" {
		maps.DeleteFunc(values, func(have string, _ workload.Value) bool {
			return have == find.OverRate || strings.HasSuffix(have, "."+find.OverRate)
		})
		if rate != "" {
			values[find.OverRate] = workload.Value{Name: find.OverRate, Text: rate, Origin: workload.OriginFlag}
		}
	}
	for _, over := range a.asked().Over {
		name, _, _ := strings.Cut(over, "=")
		name = strings.TrimSpace(name)
		if name == sweep.Target {
			r.Target, r.Password = "", ""
		}
		maps.DeleteFunc(values, func(have string, _ workload.Value) bool { return have == name || strings.HasSuffix(have, "."+name) })
	}
	r.Values = values
	return r
}

// size is what a form asks for: so many runs, each of so many points as often as there are rounds, and how long they
// measure and warm up at least; settles means that each warms up until it has settled, which takes longer.
type size struct {
	runs, points, rounds int
	series               string // the values of the points
	takes                time.Duration
	settles              bool
	without              []string // the values that are left out, and why
}

// plan returns what the form asks for. The error is what is wrong with it as far as nothing has to be prepared to tell.
func (a *asker) plan() (p size, err error) {
	var problems workload.Problems
	asked := a.asked()
	for _, name := range []string{"over", "and"} {
		text := strings.TrimSpace(a.form.Value(name))
		if text == "" && name == "and" {
			continue
		}
		_, err := sweep.Parse([]string{text})
		problems.Add(fault.Within(name, err))
	}
	p.rounds, err = sweep.Rounds(asked.Repeat)
	problems.Add(err)
	each := time.Duration(0)
	for _, name := range []string{"duration", "warmup"} {
		v := workload.Value{Name: name, Text: strings.TrimSpace(a.form.Value(name)), Origin: workload.OriginFlag}
		switch {
		case v.Text == "", v.Text == workload.Forever:
		case v.Text == condition.Auto && name == "warmup":
			p.settles = true
		default:
			d, err := v.Duration()
			problems.Add(err)
			each += d
		}
	}
	if problems.Err() != nil {
		return p, problems.Err()
	}
	axes, err := sweep.Parse(asked.Over)
	if err != nil {
		return p, err
	}
	if a.foreseen != nil && slices.Equal(a.over, asked.Over) {
		axes, p.without = a.foreseen.Axes, a.foreseen.LeftOut
	}
	points, err := sweep.Points(axes, p.rounds)
	p.points, p.series = len(points), sweep.Series(axes)
	p.runs = p.points * p.rounds
	p.takes = time.Duration(p.runs) * each
	return p, err
}

// question asks whether a sweep that takes long is to begin.
func (p size) question(server string) string {
	return "Start " + p.begins(server) + ", for " + units.Length(p.takes) + " and more?"
}

// begins is what enter starts, on which server unless on several.
func (p size) begins(server string) string {
	text := widget.Plural(int64(p.runs), "run")
	if server != "" {
		text += " on " + server
	}
	return text
}

// starts says what enter starts, on which server unless on several, and how long that takes.
func (p size) starts(server string) string {
	text := "Enter starts " + p.begins(server) + fmt.Sprintf(", %d at each of %s", p.rounds, widget.Plural(int64(p.points), "point")) + p.series
	if p.takes > 0 {
		more := "the time to start and verify"
		if p.settles {
			more = "warm-ups and " + more
		}
		text += ": " + units.Length(p.takes) + " plus " + more
	}
	return text + "."
}

// checkedMsg delivers the sweep over what is asked in a form, or why it makes none.
type checkedMsg struct {
	of       *Screen
	foreseen *sweep.Result
	over     []string
	err      error
}

// check finds out in the background, one after the other, whether what is asked makes a sweep. Targets are not asked for
// their passwords as they are typed, and a recording is not read again with each key.
func (s *Screen) check() tea.Cmd {
	a := &s.ask
	_, err := a.plan()
	switch {
	case !a.open, a.replays, a.server() == "", err != nil:
		a.refused = nil
		return nil
	case a.checking:
		a.changed = true
		return nil
	}
	a.checking, a.changed = true, false
	bench, req, asked := s.bench, a.request(), a.asked()
	return func() tea.Msg {
		foreseen, err := bench.CheckSweep(req, asked)
		return checkedMsg{s, foreseen, asked.Over, err}
	}
}

// checked shows what is wrong with what is asked, or what is left out of it.
func (s *Screen) checked(msg checkedMsg) tea.Cmd {
	a, err := &s.ask, msg.err
	a.checking = false
	a.foreseen, a.over = msg.foreseen, msg.over
	if a.changed {
		return s.check()
	}
	if _, wrong := a.plan(); wrong == nil && a.open {
		a.refused = a.placed(err)
		a.form.Check(a.refused)
	}
	return nil
}

// blame shows why there is no sweep.
func (a *asker) blame(err error) { a.form.Blame(a.placed(err)) }

// placed names the row of what is wrong with what is swept over.
func (a *asker) placed(err error) error {
	parts := fault.Parts(err)
	for i, part := range parts {
		for _, row := range []string{"over", "and"} {
			name, _, _ := strings.Cut(a.form.Value(row), "=")
			if name = strings.TrimSpace(name); name != "" && fault.FieldOf(part) == name && a.form.Value(name) == "" {
				parts[i] = fault.Within(row, part)
			}
		}
	}
	return errors.Join(parts...)
}

// press handles a key or a paste in the form, which says what is wrong as it is typed.
func (a *asker) press(msg tea.Msg) {
	a.form.Press(msg)
	_, err := a.plan()
	a.form.Check(cmp.Or(err, a.refused)) // until it is checked anew
}

// keys returns those of the form, or of what it asks.
func (a *asker) keys() widget.KeyMap {
	if a.long != nil {
		list := a.long.Keys()
		return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
	}
	return a.form.Keys("sweep")
}

func (s *Screen) pressAsked(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	a := &s.ask
	p, err := a.plan()
	switch {
	case a.busy:
		return nil // preparing takes a moment
	case a.long != nil:
		yes, given := a.long.Answer(msg)
		if given {
			a.long = nil
		}
		if !yes {
			return nil
		}
	case msg.String() == "esc":
		return screen.Back
	case msg.String() != "enter":
		a.press(msg)
		return s.check()
	case err != nil:
		a.form.Blame(err)
		return nil
	case p.takes > longSweep:
		a.long = &widget.Question{Text: p.question(a.server()), Yes: "start them", No: "back to the form"}
		return nil
	}
	a.busy = true
	a.form.Blame(nil)
	bench, req, asked, after := s.bench, a.request(), a.asked(), a.after
	ctx, cancel := e.Connecting()
	e.Starts.Add(1)
	return func() tea.Msg {
		defer e.Starts.Done()
		defer cancel()
		if err := bench.CanSweep(req, asked); err != nil {
			return begunMsg{of: s, err: err}
		}
		if after != nil {
			after.Stop()
			<-after.Done()
		}
		if ctx.Err() != nil { // the user has left
			return begunMsg{of: s, err: ctx.Err()}
		}
		begun, err := bench.Sweep(req, asked)
		if err == nil && ctx.Err() != nil {
			begun.Kill()
			<-begun.Done()
		}
		return begunMsg{s, begun, err}
	}
}

// frame is that of the form.
func (a *asker) frame() widget.Panel {
	title := "A run at each of several values"
	if a.targets {
		title = "The same run on several targets, side by side"
	}
	p := widget.Panel{Title: title, Focused: true, Foot: "enter sweeps · esc cancels"}
	if a.long != nil { // which has keys of its own
		p.Foot = ""
	}
	return p
}

// Box draws the form alone; nil once there is a sweep.
func (s *Screen) Box(e screen.Env) []string {
	if !s.ask.open {
		return nil
	}
	w := screen.BoxWidth(e.W)
	lines := s.asks(e.Styles, w)
	return s.ask.frame().Draw(e.Styles, w, len(lines)+2, lines)
}

// asks is the form in a frame of w cells, with what the sweep will do.
func (s *Screen) asks(st *widget.Styles, w int) []string {
	w -= 4
	a := &s.ask
	lines, foot := append([]string{""}, a.form.Lines(st, w)...), []string{}
	p, err := a.plan()
	switch {
	case a.busy:
		foot = []string{"", st.Muted.On("Getting ready …")}
	case a.long != nil:
		foot = append([]string{""}, widget.Wrap(a.long.String(), w)...)
		for i, l := range foot {
			foot[i] = st.Warn.On(l)
		}
	case err != nil || a.form.Wrong(): // nothing starts then, and the box stays where it is
		foot = make([]string, a.foot)
	default:
		notes := []string{a.load(), a.changes(), p.starts(a.server())}
		for _, l := range p.without {
			notes = append(notes, units.Capital(l)+".")
		}
		if a.after != nil {
			notes = append(notes, "The run under way stops first, and its report is written.")
		}
		for _, n := range notes {
			if n != "" {
				foot = append(append(foot, ""), widget.MutedLines(st, n, w)...)
			}
		}
		a.foot = len(foot)
	}
	return widget.Indent(append(lines, foot...))
}

// asking draws the form as a page.
func (s *Screen) asking(e screen.Env) []string {
	lines := s.asks(e.Styles, e.W)
	if len(lines) > e.H-4 {
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
	}
	return s.ask.frame().Draw(e.Styles, e.W, e.H-2, lines)
}
