package archive

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// PlanFiles finds plan files. It is called from a tea.Cmd.
type PlanFiles interface {
	// PlanFiles lists the plan files whose runs were done lately, those of the working directory, and those
	// that were exported.
	PlanFiles() []screen.PlanFile
	// Foresee computes what one run of a plan would do. It has no side effects.
	Foresee(request.Request) (*request.Preview, error)
}

// Plans lists plan files, for opening one. It belongs to the event loop.
type Plans struct {
	bench   PlanFiles
	list    []screen.PlanFile
	loaded  bool
	at, top int    // the selected file, and the first visible one
	opens   string // is opened if it has no mistakes any more
	toast   widget.Note
	drawn   widget.Rows
	// foreseen is what the first run of a plan would do, nil while that is not known; by paths.
	foreseen map[string]*request.Preview
}

// aheadMsg delivers what the first run of a plan would do; nil if that cannot be told.
type aheadMsg struct {
	of      *Plans
	path    string
	preview *request.Preview
}

// plansMsg delivers the plan files.
type plansMsg struct {
	of   *Plans
	list []screen.PlanFile
}

// NewPlans lists plan files.
func NewPlans(b PlanFiles) *Plans { return &Plans{bench: b, foreseen: map[string]*request.Preview{}} }

// Start reads what is shown.
func (p *Plans) Start(screen.Env) tea.Cmd {
	return func() tea.Msg { return plansMsg{p, p.bench.PlanFiles()} }
}

// Tell shows a sentence for a while.
func (p *Plans) Tell(sentence string, e screen.Env) { p.toast.Tell(e.Now, sentence) }

// Update handles one message.
func (p *Plans) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		p.toast.Tick(e.Now)
	case plansMsg:
		if msg.of == p {
			clear(p.foreseen)
			return p, tea.Batch(p.read(msg.list, e), p.foresee())
		}
	case aheadMsg:
		if msg.of == p {
			p.foreseen[msg.path] = msg.preview
		}
	case tea.KeyPressMsg:
		return p, tea.Batch(p.press(msg, e), p.foresee())
	case tea.MouseClickMsg:
		switch i, is := p.drawn.Under(msg.Y); {
		case is && i == p.at:
			return p, p.open(e)
		case is:
			p.at = i
		}
		return p, p.foresee()
	case tea.MouseWheelMsg:
		p.move(widget.Wheel(msg.Mouse(), 1))
		return p, p.foresee()
	}
	return p, nil
}

// foresee works out what the first run of the selected plan would do, if it is a single one; nil if that was done.
func (p *Plans) foresee() tea.Cmd {
	if p.at >= len(p.list) || p.list[p.at].Err != nil {
		return nil
	}
	path, r := p.list[p.at].Path, &p.list[p.at].File.Runs[0]
	if _, asked := p.foreseen[path]; asked || kindOf(r) != nil {
		return nil
	}
	p.foreseen[path] = nil
	return func() tea.Msg {
		return aheadMsg{p, path, ahead(p.bench.Foresee, r.Request)}
	}
}

func (p *Plans) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	k := p.bindings()
	if by, ok := k.Moves(msg, len(p.list), e.H); ok {
		p.move(by)
		return nil
	}
	switch {
	case key.Matches(msg, k.Back):
		return screen.Back
	case key.Matches(msg, k.Choose):
		return p.open(e)
	case key.Matches(msg, k.History):
		return screen.Open(screen.Runs{})
	case key.Matches(msg, k.Plans):
		p.toast.Say(e.Now, "P makes a plan in the list of runs, of those that are marked there: h opens it", false)
	}
	return nil
}

// read takes what was read, with the same plan selected, and opens the one that is to be.
func (p *Plans) read(list []screen.PlanFile, e screen.Env) tea.Cmd {
	at, opens := "", p.opens
	if p.at < len(p.list) {
		at = p.list[p.at].Path
	}
	p.list, p.loaded, p.opens = list, true, ""
	p.at = max(slices.IndexFunc(list, func(f screen.PlanFile) bool { return f.Path == at }), 0)
	switch {
	case opens == "" || opens != at || len(list) == 0 || list[p.at].Path != at:
		return nil
	case list[p.at].Err != nil:
		p.toast.Say(e.Now, "not opened: mend what is wrong with it, and press enter again", true)
		return nil
	}
	return p.open(e)
}

func (p *Plans) move(by int) { p.at = max(min(p.at+by, len(p.list)-1), 0) }

// open opens the page of the selected plan, or the form with its one run.
func (p *Plans) open(e screen.Env) tea.Cmd {
	f := &p.list[p.at]
	if f.Err != nil { // it may have been mended since it was read
		p.opens = f.Path
		return p.Start(e)
	}
	if one := f.File.Plain(); one != nil {
		return func() tea.Msg { return screen.SetUpMsg{Request: *one, Said: "opened " + f.Path} }
	}
	return screen.Open(screen.Suite{Path: f.Path, File: f.File})
}

func (p *Plans) bindings() widget.Bindings {
	k := widget.AllKeys
	k.Choose.SetHelp("enter", "open")
	k.History.SetHelp("h", "choose runs: P there makes a plan of them")
	for _, b := range []*key.Binding{&k.Choose, &k.Up, &k.Down, &k.First, &k.Last, &k.PageUp, &k.PageDown} {
		b.SetEnabled(len(p.list) > 0)
	}
	return k
}

// Keys returns the keys that work now.
func (p *Plans) Keys() widget.KeyMap {
	k := p.bindings()
	move := widget.Bind("↑↓", "plan", "up", "down")
	move.SetEnabled(k.Up.Enabled())
	return widget.KeyMap{
		Short: []key.Binding{move, k.Choose, widget.Long(k.History, "make one of runs"), k.Help, k.Back, widget.Long(k.Home, "home"), k.Quit},
		Full:  [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.PageUp, k.PageDown}, {k.Choose, k.History, k.Back}},
	}
}

// rows returns how many rows of the table are shown: half of the page, or as many as there are plans.
func (p *Plans) rows(e screen.Env) int {
	if e.Styles.Spoken {
		return len(p.list)
	}
	return min(len(p.list), max((e.H-3)/2-3, 3))
}

// noPlans is shown where there is no plan file.
const (
	noPlans = "There is no plan file in this folder or in those of runs, and none was run lately. P in the list of runs (h) makes one of " +
		"the marked runs, and e in the results of a run one that does it again. A plan of two runs:"
	planExample = `profile: ingestion
target: redis://localhost:6379
duration: 10s
runs:
  - {name: few threads, threads: 4}
  - {name: many threads, threads: 16}`
	otherPlans = "A plan elsewhere is opened by its path, in the value file of the first screen."
)

// empty are the lines of a page without a plan.
func (p *Plans) empty(e screen.Env) []string {
	lines := append(widget.Wrap(noPlans, e.W-4), "")
	for line := range strings.SplitSeq(planExample, "\n") {
		lines = append(lines, e.Styles.Bold.On(line))
	}
	return append(append(lines, ""), widget.Wrap(otherPlans, e.W-4)...)
}

// View draws the page.
func (p *Plans) View(e screen.Env) string {
	st := e.Styles
	lines := []string{widget.Spread(" "+st.Bold.On("Plans"), st.Muted.On("run or exported lately, and those in this folder "), e.W)}
	switch {
	case !p.loaded:
		lines = append(lines, widget.Panel{Title: "Plan files", Focused: true}.Draw(st, e.W, e.H-3, widget.Indent([]string{st.Muted.On("Reading the plan files …")}))...)
	case len(p.list) == 0:
		lines = append(lines, widget.Panel{Title: "Plan files", Focused: true}.Draw(st, e.W, e.H-3, widget.Indent(p.empty(e)))...)
	default:
		lines = append(lines, p.table(e, len(lines), p.rows(e))...)
		lines = append(lines, p.details(e, e.H-2-len(lines))...)
	}
	return widget.Page(e.W, e.H, append(lines, p.toast.Line(st, e.W), widget.Footer(st, e.W, p.Keys().Short)))
}

// table draws so many of the plans, starting at line y of the page.
func (p *Plans) table(e screen.Env, y, shown int) []string {
	st := e.Styles
	p.top = max(min(p.top, p.at, len(p.list)-shown), p.at-shown+1, 0)
	p.drawn = widget.Rows{Line: y + 2, Top: p.top, N: min(shown, len(p.list)-p.top)}
	g := widget.Grid{Cols: []widget.Column{{Head: ""}, {Head: "plan"}, {Head: "does", Most: 40}, {Head: "profile", Most: 24, Spare: 2}, {Head: "target", Most: 30, Spare: 3}, {Head: "written", Spare: 4}}}
	var rows [][]string
	for i := range p.list {
		f, lead := &p.list[i], "  "
		if i == p.at {
			lead = "▸ "
		}
		row := []string{lead, "", "has mistakes", "", "", kept.Day(f.Changed, e.Now)}
		if f.Err == nil {
			row[2], row[3], row[4] = doesOf(f.File), common(f.File, profileOf), common(f.File, targetOf)
		}
		g.Add(row...)
		rows = append(rows, row)
	}
	room := max(e.W-4-g.Wide(), (e.W-4)/2) // paths have what the rest leaves
	for i, row := range rows {
		row[1] = widget.PathIn(p.list[i].Path, room)
	}
	g.Ink = func(row, _ int) widget.Ink {
		switch {
		case row == p.at:
			return st.Selected
		case p.list[row].Err != nil:
			return st.Bad
		}
		return st.Plain
	}
	head, lines := g.Lines(st, e.W-4)
	panel := widget.Panel{Title: "Plan files", Focused: true, Note: fmt.Sprintf("%d of %d", p.at+1, len(lines))}
	return panel.Draw(st, e.W, shown+3, widget.Indent(append([]string{head}, lines[p.top:min(p.top+shown, len(lines))]...)))
}

// doesOf says what a plan does in a few words.
func doesOf(f *request.File) string {
	if f.Suite {
		return widget.Plural(int64(len(f.Runs)), "run")
	}
	if what := kindOf(&f.Runs[0]); len(what) > 0 {
		return strings.Join(what, ", ")
	}
	return "1 run"
}

func profileOf(r *request.Run) string { return r.Request.Profile }

// common returns what all runs of a plan have, or how many different ones there are.
func common(f *request.File, of func(*request.Run) string) string {
	seen := map[string]bool{}
	for i := range f.Runs {
		seen[of(&f.Runs[i])] = true
	}
	if len(seen) > 1 {
		return fmt.Sprintf("%d different", len(seen))
	}
	return of(&f.Runs[0])
}

// details lists the runs of the selected plan, or says what is wrong with it, in h lines.
func (p *Plans) details(e screen.Env, h int) []string {
	if h < 3 {
		return widget.BlankLines(e.W, h)
	}
	st, f := e.Styles, &p.list[p.at]
	var out []string
	if f.Err != nil {
		for _, l := range widget.Sentences(st, f.Err, e.W-4) {
			out = append(out, widget.Unflagged(l))
		}
	} else {
		g := widget.Grid{Cols: []widget.Column{{Head: "run", Most: 36}, {Head: "settings", Most: 100}}}
		for i := range f.File.Runs {
			g.Add(f.File.Runs[i].Name, settingsOf(f.File.Runs, i))
		}
		head, lines := g.Lines(st, e.W-4)
		out = append([]string{head}, lines...)
		if v := p.foreseen[f.Path]; v != nil && h-2-len(out) >= leastDetails {
			what := "What it does"
			if len(f.File.Runs) > 1 {
				what = "What the first does"
			}
			out = append(out, "", st.Bold.On(what))
			out = append(out, fitting(Foreseen(st, v, f.File.Runs[0].Request.Thresholds, e.W-4), h-2-len(out))...)
		}
	}
	return widget.Panel{Title: f.Path}.Draw(st, e.W, h, widget.Indent(out))
}

// Idle reports that nothing changes by itself.
func (p *Plans) Idle() bool { return p.toast.Text == "" }

// Outside names the window.
func (p *Plans) Outside(screen.Env) (string, *tea.ProgressBar) { return "perfbench · plans", nil }
