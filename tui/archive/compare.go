package archive

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Finished are the runs that can be compared. It reads files.
type Finished interface {
	// History lists finished runs, newest first.
	History() ([]rundir.Run, error)
	// Load reads one finished run by its id.
	Load(id string) (*rundir.Folder, error)
	// KeepNoise keeps what runs of one side show of how much runs differ here, for later
	// comparisons.
	KeepNoise(s compare.Set) error
}

// Comparison shows two sides next to each other, each of one run or several. It belongs
// to the event loop.
type Comparison struct {
	runs Finished
	a, b []string
	made *comparedRuns
	err  error
	// op is what is compared: 0 for all calls, from 1 on an operation that both have.
	op     int
	scroll int
	long   bool // what was drawn last is longer than the screen
	// second means that the next run to be set up is one of B.
	second bool
	toast  widget.Note
}

// comparedRuns is the comparison of two sides, with what the page draws of it; never
// modified once made.
type comparedRuns struct {
	*compare.Comparison
	a, b  *rundir.Run // the first run of each side
	parts []comparedPart
	// load is latency over load of both sides, and lead what they hold, if both are searches.
	load plot.Chart
	lead []string
}

// comparedPart is one operation, or all calls.
type comparedPart struct {
	compare.Pair
	name   string
	da, db chart.Distribution
}

type comparedMsg struct {
	of   *Comparison
	made *comparedRuns
	err  error
}

// NewComparison compares two sides of runs by their ids.
func NewComparison(runs Finished, a, b []string) *Comparison {
	return &Comparison{runs: runs, a: a, b: b}
}

// Start reads the runs of both sides and compares them.
func (c *Comparison) Start(screen.Env) tea.Cmd {
	runs, a, b := c.runs, c.a, c.b
	return func() tea.Msg {
		made, err := compareRuns(runs, a, b)
		return comparedMsg{c, made, err}
	}
}

// side reads the runs of one side; first is the one whose name stands for it.
func side(runs Finished, ids []string) (set compare.Set, first *rundir.Run, err error) {
	for _, id := range ids {
		f, err := runs.Load(id)
		if err != nil {
			return set, nil, err
		}
		r, err := compare.Of(f)
		if err != nil {
			return set, nil, err
		}
		if first == nil {
			first = &f.Run
		}
		set.Runs = append(set.Runs, r)
	}
	if first == nil {
		return set, nil, fault.Input(errors.New("a side of a comparison has no run"), "choose at least one")
	}
	if set.Name = first.ID; len(ids) > 1 {
		set.Name = widget.Plural(int64(len(ids)), "run") + " from " + first.ID + " on"
	}
	return set, first, nil
}

func compareRuns(runs Finished, a, b []string) (*comparedRuns, error) {
	setA, ra, err := side(runs, a)
	if err != nil {
		return nil, err
	}
	setB, rb, err := side(runs, b)
	if err != nil {
		return nil, err
	}
	m := &comparedRuns{Comparison: compare.Sets(setA, setB, compare.Options{Earlier: earlier(runs, setA, setB)}), a: ra, b: rb}
	found, err := report.SearchesOf(m.Comparison)
	if err != nil {
		return nil, err
	}
	m.load, m.lead = found.Curve(), found.Lead()
	for _, p := range m.Parts {
		part := comparedPart{
			Pair: p, name: m.Covered(),
			da: calls(p.A), db: calls(p.B),
		}
		if p.BySearch() {
			part.name = "what they hold"
		}
		if op := p.Operation; op != nil {
			part.name = widget.OpName(ra, rundir.Operation{Track: op.Track, Op: op.Op})
		}
		m.parts = append(m.parts, part)
	}
	return m, nil
}

// earlier reads the kept runs that repeat the only one of side A, or of B; none if a side has
// several. What cannot be read shows nothing.
func earlier(kept Finished, a, b compare.Set) (runs []*compare.Run) {
	if len(a.Runs) != 1 || len(b.Runs) != 1 {
		return nil
	}
	list, _ := kept.History()                                        // without it, nothing is known of other runs
	left := [2]int{compare.MostEarlier + 2, compare.MostEarlier + 2} // the two sides are among them
	for i := range list {
		of := 0
		switch c := compare.ConditionsOf(&list[i]); {
		case c.Repeats(&a.Runs[0].Conditions):
		case c.Repeats(&b.Runs[0].Conditions):
			of = 1
		default:
			continue
		}
		if left[of]--; left[of] < 0 {
			continue
		}
		f, err := kept.Load(list[i].ID)
		if err != nil {
			continue
		}
		if r, err := compare.Of(f); err == nil {
			runs = append(runs, r)
		}
	}
	slices.Reverse(runs)
	return runs
}

// calls returns the distribution over all runs of a side.
func calls(runs []compare.Measured) chart.Distribution {
	var all []chart.Distribution
	for _, m := range runs {
		all = append(all, chart.NewDistribution(m.Response))
	}
	return chart.Merged(all)
}

// Tell shows a sentence for a while.
func (c *Comparison) Tell(sentence string, e screen.Env) { c.toast.Tell(e.Now, sentence) }

// Update handles one message.
func (c *Comparison) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		c.toast.Tick(e.Now)
	case comparedMsg:
		if msg.of == c {
			c.made, c.err = msg.made, msg.err
		}
	case tea.KeyPressMsg:
		return c, c.press(msg, e)
	case tea.MouseClickMsg:
		if c.made != nil && msg.Button == tea.MouseLeft && msg.Y == 1 {
			c.op = (c.op + 1) % len(c.made.parts)
		}
	case tea.MouseWheelMsg:
		c.scroll += widget.Wheel(msg.Mouse(), 3)
	}
	return c, nil
}

// allLines are more than any page has.
const allLines = 1 << 20

func (c *Comparison) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	k := c.bindings()
	if by, ok := k.Moves(msg, allLines, e.H); ok {
		c.scroll += by
		return nil
	}
	switch {
	case key.Matches(msg, k.Back):
		return screen.Back
	case key.Matches(msg, k.History):
		return screen.Open(screen.Runs{})
	case key.Matches(msg, k.Next), key.Matches(msg, k.Right):
		c.op = (c.op + 1) % len(c.made.parts)
	case key.Matches(msg, k.Prev), key.Matches(msg, k.Left):
		c.op = (c.op + len(c.made.parts) - 1) % len(c.made.parts)
	case key.Matches(msg, k.Swap):
		return screen.Replace(screen.Compare{A: c.b, B: c.a})
	case key.Matches(msg, k.Again):
		side, run := "A", c.made.a
		if c.second {
			side, run = "B", c.made.b
		}
		c.second = !c.second
		up := screen.SetUpMsg{Request: report.Asked(run), Said: "one more run of side " + side, From: c}
		return func() tea.Msg { return up }
	case key.Matches(msg, k.Copy):
		c.toast.Say(e.Now, "the comparison was "+screen.SentToClipboard, false)
		return tea.SetClipboard(c.made.text())
	}
	return nil
}

func (c *Comparison) bindings() widget.Bindings {
	k := widget.AllKeys
	k.Next.SetHelp("tab", "operation")
	k.Prev.SetHelp("shift+tab", "operation before")
	k.Right.SetHelp("→", "operation")
	k.Left.SetHelp("←", "operation before")
	k.Up.SetHelp("↑", "scroll up")
	k.Down.SetHelp("↓", "scroll down")
	k.Copy.SetHelp("y", "copy table")
	many := c.made != nil && len(c.made.parts) > 2
	for _, b := range []*key.Binding{&k.Next, &k.Prev, &k.Right, &k.Left} {
		b.SetEnabled(many)
	}
	k.Copy.SetEnabled(c.made != nil)
	k.Swap.SetEnabled(c.made != nil)
	k.Again.SetHelp("R", "one more of A")
	if c.second {
		k.Again.SetHelp("R", "one more of B")
	}
	k.Again.SetEnabled(c.repeatable())
	return k
}

// repeatable reports whether the form can have a run of each side: it has none that searches.
func (c *Comparison) repeatable() bool { return c.made != nil && c.made.load.Empty() }

// Keys returns the keys that work now.
func (c *Comparison) Keys() widget.KeyMap {
	k := c.bindings()
	move := widget.Bind("↑↓", "scroll", "up", "down")
	for _, b := range []*key.Binding{&move, &k.Up, &k.Down, &k.First, &k.Last, &k.PageUp, &k.PageDown} {
		b.SetEnabled(c.long)
	}
	return widget.KeyMap{
		Short: []key.Binding{k.Next, k.Swap, k.Copy, k.Help, k.Back, k.Again, move, widget.Long(k.Home, "home"), k.Quit},
		Full:  [][]key.Binding{{k.Next, k.Prev, k.Right, k.Left}, {k.Up, k.Down, k.First, k.Last, k.PageUp, k.PageDown}, {k.Swap, k.Again, k.Copy, k.History, k.Back}},
	}
}

// leastPicture is how wide a picture beside the table is at least.
const leastPicture = 60

// View draws the page.
func (c *Comparison) View(e screen.Env) string {
	s := e.Styles
	if c.made == nil {
		body := []string{"", " " + s.Muted.On("Reading the runs …")}
		if c.err != nil {
			body = append([]string{"", " " + s.Bad.On("The runs cannot be compared"), ""}, widget.Indent(widget.Sentences(s, c.err, e.W-4))...)
		}
		lines := []string{widget.Fit(" "+s.Bold.On("Compare"), e.W)}
		lines = append(lines, widget.Panel{Title: "Compare", Focused: true}.Draw(s, e.W, e.H-3, body)...)
		return widget.Page(e.W, e.H, append(lines, c.toast.Line(s, e.W), widget.Footer(e.Styles, e.W, c.Keys().Short)))
	}
	c.op = min(c.op, len(c.made.parts)-1)
	lines := []string{c.headline(e), c.what(e)}
	room := e.H - len(lines) - 2
	foot := []string{c.bottom(e), widget.Footer(e.Styles, e.W, c.Keys().Short)}
	g, _ := c.grid(e, e.W-4)
	if w := max(e.W*11/20, g.Wide()+4); e.W >= wideFrom && e.W-w >= leastPicture { // the picture beside the table
		if table := widget.Indent(append(c.figures(e, w-4), c.notes(e, w-4)...)); len(table)+2 <= room {
			c.long = false
			left := widget.Panel{Title: "Compare", Focused: true}.Draw(s, w, room, table)
			right := widget.Panel{Title: c.pictured()}.Draw(s, e.W-w, room, widget.Indent(c.picture(s, e.W-w-4, room-2)))
			return widget.Page(e.W, e.H, slices.Concat(lines, widget.Beside(left, right), foot))
		}
	}
	table, notes := widget.Indent(c.figures(e, e.W-4)), widget.Indent(c.notes(e, e.W-4))
	bars := max(room-len(table)-len(notes)-2, 0)
	if bars < 8 {
		// Not enough room for all: one panel that scrolls.
		all := slices.Concat(table, []string{""}, widget.Indent(c.picture(s, e.W-4, 12)), notes)
		p := widget.Panel{Title: "Compare", Focused: true}
		shown := widget.Windowed(all, &c.scroll, room-2)
		if c.long = len(all) > room-2; c.long {
			p.Note = fmt.Sprintf("%d–%d of %d", c.scroll+1, c.scroll+len(shown), len(all))
		}
		lines = append(lines, p.Draw(s, e.W, room, shown)...)
	} else {
		c.long = false
		lines = append(lines, widget.Panel{Title: "Compare", Focused: true}.Draw(s, e.W, len(table)+2, table)...)
		lines = append(lines, widget.Panel{Title: c.pictured()}.Draw(s, e.W, bars, widget.Indent(c.picture(s, e.W-4, bars-2)))...)
		for _, l := range notes {
			lines = append(lines, widget.Fit(l, e.W))
		}
	}
	return widget.Page(e.W, e.H, append(lines, foot...))
}

func (c *Comparison) headline(e screen.Env) string {
	s := e.Styles
	a, b := widget.NameOf(c.made.a), widget.NameOf(c.made.b)
	title := "Compare · " + a
	if a != b {
		title += " with " + b
	}
	return widget.Spread(" "+s.Bold.On(title), "", e.W)
}

// what names the operation being compared.
func (c *Comparison) what(e screen.Env) string {
	s := e.Styles
	text := " " + s.Chosen(" "+c.made.parts[c.op].name+" ")
	if n := len(c.made.parts); n > 2 {
		text += s.Muted.On(fmt.Sprintf("  %d of %d", c.op+1, n))
	}
	return widget.Fit(text, e.W)
}

// bottom returns the last message, else the rule.
func (c *Comparison) bottom(e screen.Env) string {
	s := e.Styles
	switch {
	case c.toast.Text != "":
		return c.toast.Line(s, e.W)
	case len(c.a) == 1 && len(c.b) == 1 && c.made.Earlier() > 0:
		return widget.Fit(" "+s.Muted.On(fmt.Sprintf("One run a side: how much runs vary is known from %d earlier ones of this plan.", c.made.Earlier())), e.W)
	case len(c.a) == 1 && len(c.b) == 1 && c.made.Short():
		return widget.Fit(" "+s.Muted.On("One run a side, too short to show what is chance."), e.W)
	case len(c.a) == 1 && len(c.b) == 1:
		return widget.Fit(" "+s.Muted.On(compare.Single), e.W)
	}
	return widget.Fit(" "+s.Muted.On(fmt.Sprintf("%s against %d: how much runs vary is in the figures.", widget.Plural(int64(len(c.a)), "run"), len(c.b))), e.W)
}

// figures draws the answer and the differences, in w cells, with the uncertainty of each figure if there is room, and what
// the runs are to be read with.
func (c *Comparison) figures(e screen.Env, w int) []string {
	s, m := e.Styles, c.made
	g, verdicts := c.grid(e, w)
	g.Ink = func(row, col int) widget.Ink {
		if col < 3 {
			return s.Plain
		}
		return verdictInk(s, verdicts[row])
	}
	head, rows := g.Lines(s, w)
	if n := len(m.parts[c.op].Findings); n < len(rows) {
		rows = slices.Insert(rows, n, s.Muted.On("what differs"))
	}
	var out []string
	for _, l := range widget.Wrap(widget.Unflagged(m.Answer(m.parts[c.op].Pair)), w) {
		ink := s.Bold
		if len(m.Refusals) > 0 {
			ink = s.Warn
		}
		out = append(out, ink.On(l))
	}
	if len(out) > 0 {
		out = append(out, "")
	}
	out = append(append(out, head), rows...)
	if slices.ContainsFunc(rows, func(l string) bool { return slices.Contains(strings.Fields(l), "?") }) {
		out = append(out, s.Muted.On("? a range too wide to say anything"))
	}
	if doubts := m.doubts(); doubts != "" {
		out = append(out, "")
		for _, l := range widget.Wrap("! "+doubts, w) {
			out = append(out, s.Warn.On(l))
		}
	}
	return out
}

// notes are, in w cells, what the runs could have shown and what would tell more, after an empty line; without what the
// line at the foot of the page says.
func (c *Comparison) notes(e screen.Env, w int) (out []string) {
	m := c.made
	all := []string{m.Statistics()}
	for _, text := range m.powers(c.op) {
		all = append(all, widget.Unflagged(text))
	}
	if c.repeatable() && m.parts[c.op].Open() {
		all = append(all, "R: one more run of A, then of B; in the list of runs a and b put several on a side.")
	}
	for _, n := range m.Notes {
		if n != m.Statistics() && !m.TooFew(n) {
			all = append(all, n)
		}
	}
	for _, n := range all {
		if n != "" {
			out = append(out, widget.MutedLines(e.Styles, n, w)...)
		}
	}
	if len(out) > 0 {
		out = append([]string{""}, out...)
	}
	return out
}

// detail selects how much uncertainty is shown: that of each figure, and that of the
// changes; terse omits the changes themselves. With short, heads leave out a word that both begin with, and
// bare are the letters of the sides alone.
type detail struct{ errors, ranges, short, bare, terse bool }

// details are the choices, the one with the most figures first: each has the figures of those below it, so
// that none vanishes where there is more room.
var details = []detail{
	{errors: true, ranges: true}, {errors: true, ranges: true, short: true}, {ranges: true}, {ranges: true, short: true},
	{}, {short: true}, {bare: true}, {bare: true, terse: true},
}

// grid makes the table that has the most of what fits into w cells.
func (c *Comparison) grid(e screen.Env, w int) (g *widget.Grid, verdicts []compare.Verdict) {
	for _, d := range details {
		if g, verdicts = c.gridOf(e, w, d); g.Wide() <= w {
			break
		}
	}
	return g, verdicts
}

// gridOf makes the table with so much of it.
func (c *Comparison) gridOf(e screen.Env, w int, d detail) (*widget.Grid, []compare.Verdict) {
	m := c.made
	textA, textB := c.sideTexts(e)
	if d.short {
		if word, rest, ok := strings.Cut(textA, " "); ok && strings.HasPrefix(textB, word+" ") {
			textA, textB = rest, strings.TrimPrefix(textB, word+" ")
		}
	}
	headA, headB := "A  "+textA, "B  "+textB
	if d.bare {
		headA, headB = "A", "B"
	}
	g := &widget.Grid{Airy: true, Cols: []widget.Column{
		{Most: max(w/4, 16)},
		{Head: headA, Right: true, Most: max(w/4, 12), Least: 7},
		{Head: headB, Right: true, Most: max(w/4, 12), Least: 7},
		{Head: "change", Right: true},
		{Head: "between", Right: true},
		{Head: "verdict"},
	}}
	from, to := 4, 5 // the columns that are left out
	switch {
	case d.ranges:
		to = from
	case d.terse:
		from = 3
	}
	g.Cols = slices.Delete(g.Cols, from, to)
	add := func(cells ...string) { g.Add(slices.Delete(cells, from, to)...) }
	var verdicts []compare.Verdict
	for _, f := range m.parts[c.op].Findings {
		add(f.Label(m.Unit(m.parts[c.op].Operation)), f.Text(f.A, !d.errors), f.Text(f.B, !d.errors), f.ChangeText(), f.RangeText(), f.Words())
		if f.NotJudged() != "" {
			f.Verdict = compare.Noted
		}
		verdicts = append(verdicts, f.Verdict)
	}
	for _, diff := range m.Differences {
		add(diff.Name, diff.A, diff.B, "≠", "", "")
		verdicts = append(verdicts, compare.Noted)
	}
	return g, verdicts
}

// sideTexts describes the sides briefly: the names of their runs in a plan, the one setting that tells them
// apart, when the runs took place, or how many there are.
func (c *Comparison) sideTexts(e screen.Env) (a, b string) {
	m := c.made
	if m.a.Name != "" && m.b.Name != "" && m.a.Name != m.b.Name {
		return m.a.Name, m.b.Name
	}
	if len(c.a) == 1 && len(c.b) == 1 {
		both := kept.MomentsOf([]kept.Item{{Run: m.a}, {Run: m.b}})
		return both.Of(&kept.Item{Run: m.a}, e.Now), both.Of(&kept.Item{Run: m.b}, e.Now)
	}
	if name, x, y := m.apart(); name != "" {
		return name + " " + x, name + " " + y
	}
	return widget.Plural(int64(len(c.a)), "run"), widget.Plural(int64(len(c.b)), "run")
}

// apart returns the setting that tells both sides apart, if it is a single one, or that of each track and
// known for all of them; "" otherwise.
func (m *comparedRuns) apart() (name, a, b string) {
	for _, d := range m.Differences {
		of := d.Name[strings.LastIndex(d.Name, ".")+1:]
		if name != "" && name != of {
			return "", "", ""
		}
		name, a, b = of, d.A, d.B
	}
	if len(m.Differences) > 1 {
		x, y := m.a.Settings[name], m.b.Settings[name]
		if x == y {
			return "", "", ""
		}
		a, b = rundir.ShortText(name, x), rundir.ShortText(name, y)
	}
	return name, a, b
}

func verdictInk(s *widget.Styles, j compare.Verdict) widget.Ink {
	switch j {
	case compare.Better:
		return s.OK
	case compare.Worse:
		return s.Bad
	case compare.Unsure:
		return s.Warn
	}
	return s.Muted
}

// searches reports whether two searches are compared, of which all calls tell nothing.
func (c *Comparison) searches() bool { return c.op == 0 && !c.made.load.Empty() }

// pictured names what picture draws.
func (c *Comparison) pictured() string {
	if c.searches() {
		return "Latency over load"
	}
	return "Latency of one call"
}

// picture draws, in w cells and at most h lines, latency over load of two searches with their
// bands, or how long calls took.
func (c *Comparison) picture(s *widget.Styles, w, h int) []string {
	if !c.searches() {
		return c.distributions(s, w, h)
	}
	var out []string
	for _, text := range c.made.lead {
		for _, l := range widget.Wrap(text, w) {
			out = append(out, s.Muted.On(l))
		}
	}
	out = append(out, chart.LoadLegend(s, &c.made.load))
	return append(out, chart.Load(s, &c.made.load).Draw(s, w, max(h-len(out), 8))...)
}

// distributions draws both runs in w cells and at most h lines, bar next to bar.
func (c *Comparison) distributions(s *widget.Styles, w, h int) []string {
	part := c.made.parts[c.op]
	lists := chart.Bars(h-1, part.da, part.db)
	if len(lists[0]) == 0 {
		return []string{s.Muted.On("No call was timed.")}
	}
	top := 0.0
	for _, l := range lists {
		for _, b := range l {
			top = max(top, b.Share)
		}
	}
	const label, share = 9, 8
	each := (w - label - 4) / 2
	room := max(each-share-3, 4)
	head := widget.FitRight("up to", label) + "  " + s.Series[0].On(widget.Fit("A", each)) + "  " + s.Series[1].On("B")
	out := []string{s.Muted.On(widget.FitRight("up to", label)) + strings.TrimPrefix(head, widget.FitRight("up to", label))}
	for i, a := range lists[0] {
		b := lists[1][i]
		bar := func(k widget.Ink, name, full string, b chart.DistBar) string {
			text := strings.ReplaceAll(chart.Bar(b.Share, top, room), "█", full)
			return s.Muted.On(name) + k.On(text) + s.Muted.On(widget.FitRight(chart.ShareText(b.Share), share)) + strings.Repeat(" ", max(each-2-room-share, 0))
		}
		out = append(out, s.Muted.On(widget.FitRight(chart.EdgeText(a.Upper), label))+"  "+bar(s.Series[0], "A ", "█", a)+"  "+bar(s.Series[1], "B ", "▒", b))
	}
	return out
}
