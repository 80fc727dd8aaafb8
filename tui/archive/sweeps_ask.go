package archive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

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
	form    widget.Form
	req     request.Request
	// after is the run that ends before the sweep begins; nil without one.
	after screen.Ending
	// busy means that a sweep is being prepared.
	busy bool
}

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
	return asker{targets: to.Targets, open: true, req: to.Request, after: to.After, form: widget.Form{Rows: rows}}
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

// server says which one the runs load; "" if the form goes over targets.
func (a *asker) server() string {
	for _, over := range a.asked().Over {
		if name, _, _ := strings.Cut(over, "="); strings.TrimSpace(name) == sweep.Target {
			return ""
		}
	}
	return "Each run loads " + widget.HideSecrets(cmp.Or(a.req.Target, widget.DefaultTarget)) + "."
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

// length describes how much there is to do; "" while that is unknown.
func (a *asker) length() string {
	asked := a.asked()
	axes, err := sweep.Parse(asked.Over)
	rounds, bad := strconv.Atoi(asked.Repeat)
	if err != nil || bad != nil {
		return ""
	}
	points, err := sweep.Points(axes, rounds)
	if err != nil {
		return ""
	}
	n := len(points) * rounds
	text := fmt.Sprintf("%s, %d at each of %d points", widget.Plural(int64(n), "run"), rounds, len(points))
	each, err := units.ParseDuration(a.form.Value("duration"))
	warm, err2 := units.ParseDuration(a.form.Value("warmup"))
	if err == nil && err2 == nil {
		text += ": " + units.Length(time.Duration(n)*(each+warm)) + " plus the time to start and verify"
	}
	return text + "."
}

func (s *Screen) pressAsked(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	a := &s.ask
	switch {
	case a.busy:
		return nil // preparing takes a moment
	case msg.String() == "esc":
		return screen.Back
	case msg.String() != "enter":
		a.form.Press(msg)
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
	return widget.Panel{Title: title, Focused: true, Foot: "enter sweeps · esc cancels"}
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
	lines := append([]string{""}, s.ask.form.Lines(st, w)...)
	notes := []string{s.ask.load(), s.ask.changes(), strings.TrimSpace(s.ask.length() + " " + s.ask.server())}
	if s.ask.after != nil {
		notes = append(notes, "The run under way stops first, and its report is written.")
	}
	if s.ask.busy {
		notes = []string{"Getting ready …"}
	}
	for _, n := range notes {
		if n != "" {
			lines = append(lines, "")
			lines = append(lines, widget.MutedLines(st, n, w)...)
		}
	}
	return widget.Indent(lines)
}

// asking draws the form as a page.
func (s *Screen) asking(e screen.Env) []string {
	lines := s.asks(e.Styles, e.W)
	if len(lines) > e.H-4 {
		lines = lines[1:]
	}
	return s.ask.frame().Draw(e.Styles, e.W, e.H-2, lines)
}
