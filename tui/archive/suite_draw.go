package archive

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// View draws the page.
func (s *Suite) View(e screen.Env) string {
	st := e.Styles
	ink := st.Muted
	switch {
	case s.Running() != nil:
		ink = st.Accent
	case s.ended && s.now.All(screen.Done) == len(s.now.Turns):
		ink = st.OK
	case s.ended:
		ink = st.Warn
	}
	title := st.Bold.On("Plan · " + filepath.Base(s.plan.Path))
	profile, target := s.shared()
	all := strings.TrimSuffix(strings.TrimSpace("all "+profile)+" on "+target, " on ")
	if profile+target != "" && ansi.StringWidth(title+all+s.progress())+6 <= e.W { // the panel of a run has it, too
		title += st.Muted.On(" · " + all)
	}
	lines := []string{widget.Spread(" "+title, ink.On(s.progress())+" ", e.W)}
	if s.Running() != nil {
		lines = append(lines, s.underWay(e))
	}
	rows := s.rows(e)
	lines = append(lines, s.table(e, len(lines), rows)...)
	lines = append(lines, s.below(e, e.H-2-len(lines))...)
	return widget.Page(e.W, e.H, append(lines, s.bottom(e), widget.Footer(st, e.W, s.Keys().Short)))
}

// rows returns how many rows of the table are shown: half of the page, or as many as there are runs.
func (s *Suite) rows(e screen.Env) int {
	n := len(s.now.Turns)
	if e.Styles.Spoken {
		return n
	}
	return min(n, max((e.H-4)/2-3, 3))
}

// underWay describes the run in progress.
func (s *Suite) underWay(e screen.Env) string {
	st := e.Styles
	i := s.underWayAt()
	if i < 0 {
		return widget.Fit("", e.W)
	}
	text := " " + st.Accent.On("▶") + " " + st.Bold.On(s.plan.File.Runs[i].Name)
	if s.now.What != "" {
		text += st.Muted.On(" · " + s.now.What)
	}
	if r := s.now.Run; r != nil {
		text += st.Muted.On(" · " + state(r, e.W-ansi.StringWidth(text)-4))
	}
	return widget.Fit(text, e.W)
}

// table draws so many of the runs, starting at line y of the page.
func (s *Suite) table(e screen.Env, y, rows int) []string {
	st := e.Styles
	s.top = max(min(s.top, s.at, len(s.now.Turns)-rows), s.at-rows+1, 0)
	s.drawn = widget.Rows{Line: y + 2, Top: s.top, N: min(rows, len(s.now.Turns)-s.top)}
	begun := s.going != nil
	figures := slices.ContainsFunc(s.now.Turns, func(t screen.SuiteTurn) bool { return t.Figures != nil })
	g := widget.Grid{Cols: []widget.Column{
		{Head: ""}, {Head: "run", Most: 36}, {Head: "profile", Most: 20, Spare: 3}, {Head: "target", Most: 30, Spare: 4}, {Head: "settings", Most: 70, Spare: 2},
	}}
	if figures {
		g.Cols = append(g.Cols, widget.Column{Head: "throughput", Right: true}, widget.Column{Head: "p99", Right: true},
			widget.Column{Head: "errors", Right: true, Spare: 2})
	}
	if begun {
		g.Cols = append(g.Cols, widget.Column{Head: "verdict", Most: 30, Spare: 1})
	}
	profile, target := s.shared()
	if profile != "" {
		g.Cols[2].Head = ""
	}
	if target != "" {
		g.Cols[3].Head = ""
	}
	for i := range s.now.Turns {
		t, r := &s.now.Turns[i], &s.plan.File.Runs[i]
		lead := "  "
		if i == s.at {
			lead = "▸ "
		}
		cells := []string{lead + signOf(t.State), r.Name, r.Request.Profile, targetOf(r), settingsOf(s.plan.File.Runs, i)}
		if profile != "" { // the headline has it
			cells[2] = ""
		}
		if target != "" {
			cells[3] = ""
		}
		switch {
		case t.Figures != nil:
			cells = append(cells, t.Figures...)
			if t.Doubt != "" && e.W >= 120 {
				cells[len(cells)-1] = t.Doubt
			}
		case figures:
			cells = append(cells, "–", "–", "–", t.State.String())
		case begun:
			cells = append(cells, t.State.String())
		}
		g.Add(cells...)
	}
	g.Ink = func(row, col int) widget.Ink {
		if k, judged := worth(st, s.now.Turns[row].Figures); judged && col == len(g.Cols)-1 {
			return k
		}
		switch t := s.now.Turns[row].State; {
		case row == s.at:
			return st.Selected
		case t == screen.Failed && col != 1:
			return st.Bad
		case t == screen.Cut && col != 1:
			return st.Warn
		case t == screen.UnderWay && col == 0:
			return st.Accent
		case t == screen.NotBegun, t == screen.ToCome && begun:
			return st.Muted
		}
		return st.Plain
	}
	head, lines := g.Lines(st, e.W-4)
	p := widget.Panel{Title: "Runs", Focused: true, Note: fmt.Sprintf("%d of %d", s.at+1, len(lines))}
	if s.Running() == nil && !s.busy {
		p.Foot = "S starts all, one after the other"
	}
	return p.Draw(st, e.W, rows+3, widget.Indent(append([]string{head}, lines[s.top:min(s.top+rows, len(lines))]...)))
}

// worth is the ink of the verdict among the figures of a run, the same as elsewhere; false: there is none.
func worth(st *widget.Styles, figures []string) (widget.Ink, bool) {
	if len(figures) == 0 {
		return widget.Ink{}, false
	}
	state, _, _ := strings.Cut(figures[len(figures)-1], ",")
	_, k := widget.Worth(st, rundir.Verdict{State: state})
	return k, slices.Contains([]string{verdict.Valid, verdict.Degraded, verdict.Invalid}, state)
}

// shared returns the profile and the target that all runs have; empty where they differ, or there is only one.
func (s *Suite) shared() (profile, target string) {
	runs := s.plan.File.Runs
	same := func(of func(*request.Run) string) string {
		for i := range runs {
			if of(&runs[i]) != of(&runs[0]) || len(runs) < 2 {
				return ""
			}
		}
		return of(&runs[0])
	}
	return same(func(r *request.Run) string { return r.Request.Profile }), same(targetOf)
}

// signOf is the sign of what has become of a run.
func signOf(s screen.SuiteState) string { return [...]string{" ", "▶", "✓", "!", "✗", "–"}[s] }

// targetOf is the target of a run without its secrets.
func targetOf(r *request.Run) string {
	if r.Sweep != nil && slices.ContainsFunc(r.Sweep.Over, func(over string) bool {
		name, _, _ := strings.Cut(over, "=")
		return strings.TrimSpace(name) == sweep.Target
	}) {
		return "several"
	}
	return cmp.Or(widget.HideSecrets(r.Request.Target), widget.DefaultTarget)
}

// first are the values that are named before others.
var first = []string{"threads", "rate", "payload", "duration", "count"}

// settingsOf says in a few words what one of the runs of a plan is: first what not all of them are, which a
// narrow column may have no room for otherwise.
func settingsOf(runs []request.Run, i int) string {
	own, shared := wordsOf(&runs[i]), []string(nil)
	for k := range runs {
		others := wordsOf(&runs[k])
		if shared == nil {
			shared = slices.Clone(others)
		}
		shared = slices.DeleteFunc(shared, func(word string) bool { return !slices.Contains(others, word) })
	}
	slices.SortStableFunc(own, func(a, b string) int {
		return cmp.Compare(slices.Index(shared, a), slices.Index(shared, b)) // -1: not shared
	})
	return strings.Join(own, " · ")
}

// wordsOf says what a run is: what it searches or goes over, the values that were given, how often they
// change, and what must hold.
func wordsOf(r *request.Run) []string {
	out := append(kindOf(r), valuesOf(r)...)
	if n := len(r.Request.Timetable); n > 0 {
		out = append(out, widget.Plural(int64(n), "timed change"))
	}
	if len(r.Request.Thresholds) > 0 {
		out = append(out, "threshold "+strings.Join(r.Request.Thresholds, ", "))
	}
	return out
}

// kindOf says what a run is beside a plain one; nil: it is one.
func kindOf(r *request.Run) (out []string) {
	switch {
	case r.Find != nil:
		out = append(out, "search "+strings.Join(r.Find.Under, ", "))
	case r.Sweep != nil:
		for i, over := range r.Sweep.Over {
			out = append(out, [...]string{"sweep ", "and "}[min(i, 1)]+widget.MaskList(over))
		}
	}
	if b := r.Repeat; b.Any() && r.Sweep == nil {
		if b.Times != "" {
			out = append(out, b.Times+" times")
		}
		if b.Against != "" {
			out = append(out, "against "+widget.HideSecrets(b.Against))
		}
		if len(b.Sets) > 0 {
			out = append(out, "against "+strings.Join(b.Sets, ", "))
		}
	}
	return out
}

// valuesOf lists the values that were given, the main ones first.
func valuesOf(r *request.Run) (out []string) {
	names := r.Request.Values.Names()
	slices.SortStableFunc(names, func(a, b string) int {
		place := func(name string) int {
			if i := slices.Index(first, name); i >= 0 {
				return i
			}
			return len(first)
		}
		return place(a) - place(b)
	})
	if r.Request.Preset != "" {
		out = append(out, "preset "+r.Request.Preset)
	}
	for _, f := range r.Request.Files {
		out = append(out, "file "+filepath.Base(f))
	}
	for _, n := range names {
		out = append(out, n+" "+widget.HideSecrets(r.Request.Values[n].Text))
	}
	return out
}

// below draws, in h lines, the selected run, and the figures of all runs beside or below it where there is
// room for them.
func (s *Suite) below(e screen.Env, h int) []string {
	left := e
	if left.W = e.W * 9 / 20; e.W < widePicture {
		left.W = 0
	}
	w := e.W - left.W
	bars := widget.Indent(s.bars(e, w-4))
	panel := widget.Panel{Title: "Side by side"}
	switch need := len(bars) + 2; {
	case len(bars) == 0:
	case left.W > 0 && need <= h:
		return widget.Beside(s.details(left, h), append(panel.Draw(e.Styles, w, need, bars), s.does(e, w, h-need)...))
	case left.W == 0 && h-need >= leastDetails:
		return append(s.details(e, h-need), panel.Draw(e.Styles, w, need, bars)...)
	}
	return s.details(e, h)
}

// does says what the selected run does, in h lines of w cells; a blank page where that is not known.
func (s *Suite) does(e screen.Env, w, h int) []string {
	v, r := s.foreseen[s.at], &s.plan.File.Runs[s.at]
	if v == nil || h < leastDetails {
		return widget.BlankLines(w, h)
	}
	lines := fitting(Foreseen(e.Styles, v, r.Request.Thresholds, w-4), h-2)
	return widget.Panel{Title: "What it does"}.Draw(e.Styles, w, h, widget.Indent(lines))
}

// leastDetails is how many lines the description of a run needs.
const leastDetails = 8

// bars draws throughput and p99 of the runs that have any, and of the one under way its last second, in w
// cells; nil where there are fewer than two to compare. Throughputs in different units have no bars.
func (s *Suite) bars(e screen.Env, w int) []string {
	var rows []chart.Two
	var counted []string // the units
	for i, t := range s.now.Turns {
		rate, p99, of := t.Rate, t.P99, t.Unit
		if r := s.now.Run; t.State == screen.UnderWay && r != nil && r.Progress().Stage == screen.Measuring {
			rate, p99 = lastSecond(r)
			of = r.Info().Unit
		}
		if !(rate > 0) {
			continue
		}
		counted = append(counted, of)
		rows = append(rows, chart.Two{
			Name: s.plan.File.Runs[i].Name, Texts: [2]string{units.Number(rate), widget.Nanos(p99)}, Values: [2]float64{rate, float64(p99)},
		})
	}
	if len(rows) < 2 {
		return nil
	}
	head := counted[0] + "/s"
	if len(slices.Compact(slices.Clone(counted))) > 1 { // of which one is no longer than another
		head = "throughput"
		for i := range rows {
			rows[i].Texts[0] += " " + counted[i] + "/s"
			rows[i].Values[0] = 0
		}
	}
	return chart.Twos(e.Styles, [2]string{head, "p99"}, rows, w)
}

// details describes the selected run in h lines.
func (s *Suite) details(e screen.Env, h int) []string {
	if h < 3 {
		return widget.BlankLines(e.W, h)
	}
	st, w := e.Styles, e.W-4
	t, r := &s.now.Turns[s.at], &s.plan.File.Runs[s.at]
	var out []string
	add := func(label, text string, k widget.Ink) {
		if text != "" {
			out = append(out, widget.Labelled(st, 12, label, text, k, w)...)
		}
	}
	if t.Err != nil {
		for _, l := range widget.Sentences(st, t.Err, w) {
			out = append(out, st.Bad.On(widget.Unflagged(ansi.Strip(l))))
		}
	}
	if t.State == screen.Cut && len(t.Figures) > 0 {
		add("Came to", t.Figures[len(t.Figures)-1]+": its figures are of what there is", st.Warn)
	}
	if t.State != screen.Cut && len(t.Figures) > 0 && len(t.Why) > 0 {
		k, _ := worth(st, t.Figures)
		add("Verdict", t.Figures[len(t.Figures)-1], k)
	}
	for _, why := range t.Why {
		add("", units.Capital(why)+".", st.Muted)
	}
	add("Profile", r.Request.Profile, st.Plain)
	if v := s.foreseen[s.at]; v != nil && t.State == screen.ToCome {
		add("Set", strings.Join(valuesOf(r), " · "), st.Plain)
		out = append(out, fitting(Foreseen(st, v, r.Request.Thresholds, w), h-2-len(out))...)
	} else {
		add("On", targetOf(r), st.Plain)
		add("Does", strings.Join(kindOf(r), ", "), st.Plain)
		add("With", strings.Join(valuesOf(r), " · "), st.Plain)
		add("Changes", strings.Join(r.Request.Timetable, ", "), st.Plain)
		add("Thresholds", strings.Join(r.Request.Thresholds, ", "), st.Plain)
	}
	if s.err != nil && s.going == nil { // none has begun
		out = append(widget.Sentences(st, s.err, w), out...)
	}
	out = append(out, s.course(e, w, h-2-len(out))...)
	return widget.Panel{Title: r.Name}.Draw(st, e.W, h, widget.Indent(out))
}

// fitting is what has room in so many lines of what a run will do: the first part, and of the rest those that are whole.
func fitting(parts [][]string, most int) (out []string) {
	for i, part := range parts {
		if i == 0 || len(out)+len(part) <= most {
			out = append(out, part...)
		}
	}
	return out
}

// The least and the most lines of a chart of the selected run, and how many lines there are around two of them.
const (
	leastCourse  = 3
	mostCourse   = 12
	aroundCourse = 4
)

// course draws throughput and p99 of the selected run over its seconds, in at most h lines of w cells; nil where
// there is nothing to draw, or no room.
func (s *Suite) course(e screen.Env, w, h int) []string {
	t, st := &s.now.Turns[s.at], e.Styles
	first, rates, p99s, unit := 0, t.Rates, t.P99s, t.Unit
	if r := s.now.Run; t.State == screen.UnderWay && r != nil {
		first, rates, p99s = lately(r)
		warm := min(max(-first, 0), len(rates))
		first, rates, p99s, unit = first+warm, rates[warm:], p99s[warm:], r.Info().Unit
	}
	high := min((h-aroundCourse)/2, mostCourse)
	if len(rates) < 2 || high < leastCourse || st.Spoken {
		return nil
	}
	out := append([]string{"", st.Muted.On("Throughput  " + unit + "/s")}, chart.Seconds(st, rates, true, 0, w, high, units.Number)...)
	out = append(out, st.Muted.On("Latency  p99 of each second"))
	out = append(out, chart.Seconds(st, p99s, false, 1, w, high, func(v float64) string { return units.Duration(time.Duration(v)) })...)
	return append(out, chart.Clocks(st, first, len(rates), w))
}

// bottom returns the last message, else what the runs came to.
func (s *Suite) bottom(e screen.Env) string {
	switch {
	case s.toast.Text != "":
		return s.toast.Line(e.Styles, e.W)
	case s.err != nil:
		text, _, _ := strings.Cut(s.err.Error(), "\n")
		return widget.Fit(" "+e.Styles.Bad.On(text), e.W)
	case s.ended && s.now.All(screen.Cut) > 0:
		text := widget.Plural(int64(s.now.All(screen.Cut)), "run") + " ended by hand: the answer is about what there is; S does all again"
		return widget.Fit(" "+e.Styles.Warn.On(text), e.W)
	}
	return widget.Fit("", e.W)
}
