// Package results is the screen of a finished run.
package results

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/report/runpage"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Results shows a finished run: the one that has just ended, or any earlier one. It
// belongs to the event loop.
type Results struct {
	bench Bench
	id    string
	// outcome is the outcome of a run of this session; nil for an earlier run.
	outcome *screen.Outcome
	// since is when the screen appeared by itself, zero if the user opened it.
	since  time.Time
	loaded *loadedRun
	err    error

	tab    resultsTab
	scroll [resultsTabs]int
	op     int // whose distribution is shown; -1 for all together
	export *exporter
	toast  widget.Note
	cache  bodyCache
	long   bool // what was drawn last is longer than the screen
}

// NewEnded shows the run that has just ended; since is the time at which it appeared by
// itself, zero if the user asked for it.
func NewEnded(b Bench, o screen.Outcome, since time.Time) *Results {
	return &Results{bench: b, id: o.ID, outcome: &o, op: -1, since: since}
}

// unasked is how long esc does not leave results that appeared by themselves, because
// it was meant for the screen before.
const unasked = 2 * time.Second

// New shows an earlier run.
func New(b Bench, id string) *Results { return &Results{bench: b, id: id, op: -1} }

// Typing reports whether text is being typed.
func (r *Results) Typing() bool { return r.export != nil && r.export.typing }

// Update handles one message.
func (r *Results) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		r.toast.Tick(e.Now)
	case loadedMsg:
		if msg.id == r.id && r.loaded == nil {
			r.loaded, r.err = msg.run, msg.err
			r.cache = bodyCache{}
			if r.loaded != nil && r.loaded.found != nil && r.tab == tabSummary {
				r.tab = tabSearch // the search is what the run was for
			}
		}
	case exportedMsg:
		if r.export != nil && msg.id == r.id {
			r.export.finished(msg)
		}
	case tea.PasteMsg:
		if r.Typing() {
			r.export.dir, _ = r.export.dir.Update(msg)
		}
	case tea.KeyPressMsg:
		return r, r.press(msg, e)
	case tea.MouseClickMsg:
		return r, r.click(msg.Mouse(), e)
	case tea.MouseWheelMsg:
		r.wheel(msg)
	}
	return r, nil
}

func (r *Results) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	if r.export != nil {
		cmd, closed := r.export.press(msg, e)
		if closed {
			r.export = nil
		}
		return cmd
	}
	k := r.bindings()
	switch {
	case key.Matches(msg, k.Back):
		if !r.since.IsZero() && e.Now.Sub(r.since) < unasked {
			r.toast.Say(e.Now, "the run has just ended: these are its results; esc once more goes back", false)
			r.since = time.Time{}
			return nil
		}
		return screen.Back
	case key.Matches(msg, k.Next), key.Matches(msg, k.Right):
		r.turn(1)
	case key.Matches(msg, k.Prev), key.Matches(msg, k.Left):
		r.turn(-1)
	case key.Matches(msg, k.Up):
		r.move(-1)
	case key.Matches(msg, k.Down):
		r.move(1)
	case key.Matches(msg, k.PageUp):
		r.scroll[r.tab] -= e.H / 2
	case key.Matches(msg, k.PageDown):
		r.scroll[r.tab] += e.H / 2
	case key.Matches(msg, k.First):
		r.scroll[r.tab] = 0
	case key.Matches(msg, k.Last):
		r.scroll[r.tab] = 1 << 30
	case key.Matches(msg, k.Export):
		r.openExport()
	case key.Matches(msg, k.Again):
		return screen.Replace(screen.Start{Request: runpage.Asked(&r.loaded.folder.Run)})
	case key.Matches(msg, k.Search):
		return screen.Replace(screen.Start{Request: screen.Searchable(runpage.Asked(&r.loaded.folder.Run)), AskSearch: true})
	case key.Matches(msg, k.Sweep):
		return screen.Open(screen.AskSweep{Request: runpage.Asked(&r.loaded.folder.Run)})
	case key.Matches(msg, k.Targets):
		return screen.Open(screen.AskSweep{Request: runpage.Asked(&r.loaded.folder.Run), Targets: true})
	case key.Matches(msg, k.Copy):
		r.toast.Say(e.Now, "copied: the command that does this run again", false)
		return tea.SetClipboard(runpage.Command(&r.loaded.folder.Run))
	case key.Matches(msg, k.CopySummary):
		r.toast.Say(e.Now, "summary copied", false)
		return tea.SetClipboard(r.text())
	case key.Matches(msg, k.Compare):
		return screen.Open(screen.Runs{Chosen: r.id})
	case key.Matches(msg, k.History):
		return screen.Open(screen.Runs{})
	case widget.Presses(msg, k.Export), widget.Presses(msg, k.Copy), widget.Presses(msg, k.CopySummary), widget.Presses(msg, k.Compare), widget.Presses(msg, k.Again),
		widget.Presses(msg, k.Search), widget.Presses(msg, k.Sweep), widget.Presses(msg, k.Targets):
		r.toast.Say(e.Now, r.whyNot(), true)
	}
	return nil
}

// whyNot explains why there is nothing to export, copy, compare or repeat.
func (r *Results) whyNot() string {
	switch {
	case r.outcome != nil && r.outcome.Watched:
		return "the report of this run is on the machine that drove it"
	case r.id == "":
		return "this run wrote no report"
	case r.err != nil:
		return "the report cannot be read"
	}
	return "the report is being read"
}

// turn shows the next tab that has content.
func (r *Results) turn(by int) {
	tabs := r.tabs()
	for i, t := range tabs {
		if t == r.tab {
			r.tab = tabs[(i+by+len(tabs))%len(tabs)]
			return
		}
	}
	r.tab = tabSummary
}

// move scrolls; on the distributions it selects the operation.
func (r *Results) move(by int) {
	if r.tab == tabDistribution && r.loaded != nil {
		r.op = min(max(r.op+by, -1), len(r.loaded.ops)-1)
		r.cache = bodyCache{}
		return
	}
	r.scroll[r.tab] += by
}

// text returns what is copied: the summary of the report, else of the outcome.
func (r *Results) text() string {
	if r.loaded != nil {
		return r.loaded.summary
	}
	if r.outcome != nil {
		return r.outcome.Summary
	}
	return ""
}

func (r *Results) openExport() {
	r.export = newExporter(r.bench, r.id, r.loaded.folder)
}

func (r *Results) bindings() widget.Bindings {
	k := widget.AllKeys
	k.Next.SetHelp("tab", "page")
	k.Prev.SetHelp("shift+tab", "previous page")
	k.Right.SetHelp("→", "next page")
	k.Left.SetHelp("←", "previous page")
	k.Up.SetHelp("↑", "scroll up")
	k.Down.SetHelp("↓", "scroll down")
	if r.tab == tabDistribution {
		k.Up.SetHelp("↑", "operation up")
		k.Down.SetHelp("↓", "operation down")
	}
	for _, b := range []*key.Binding{&k.Export, &k.Compare, &k.Copy, &k.Again, &k.Search, &k.Sweep, &k.Targets} {
		b.SetEnabled(r.loaded != nil)
	}
	k.CopySummary.SetEnabled(r.text() != "")
	return k
}

// offered returns the bindings without those that would not turn or scroll anything.
func (r *Results) offered() widget.Bindings {
	k := r.bindings()
	ops := r.tab == tabDistribution && r.loaded != nil
	for b, does := range map[*key.Binding]bool{
		&k.Next: len(r.tabs()) > 1, &k.Prev: len(r.tabs()) > 1, &k.Right: len(r.tabs()) > 1, &k.Left: len(r.tabs()) > 1,
		&k.Up: r.long || ops, &k.Down: r.long || ops, &k.PageUp: r.long, &k.PageDown: r.long, &k.First: r.long, &k.Last: r.long,
	} {
		b.SetEnabled(does)
	}
	return k
}

// Keys returns the keys that work now.
func (r *Results) Keys() widget.KeyMap {
	if r.export != nil {
		return r.export.keys()
	}
	k := r.offered()
	move := widget.Bind("↑↓", strings.TrimSuffix(k.Down.Help().Desc, " down"), "up", "down")
	move.SetEnabled(k.Down.Enabled())
	return widget.KeyMap{
		Short: []key.Binding{k.Next, move, k.Export, k.Again, k.Help, k.Back, k.Copy, k.Compare, k.History, k.Search, k.Sweep, k.Quit},
		Full: [][]key.Binding{
			{k.Next, k.Prev, k.Right, k.Left},
			{k.Up, k.Down, k.PageUp, k.PageDown, k.First, k.Last},
			{k.Again, widget.Long(k.Search, "search in a run like this one"), widget.Long(k.Sweep, "runs like it at several values"), k.Targets, k.Export, k.Copy, k.CopySummary, k.Compare, k.History, k.Back},
		},
	}
}

// View draws the page.
func (r *Results) View(e screen.Env) string {
	body := e.H - 4
	lines := make([]string, 0, e.H)
	lines = append(lines, r.headline(e), r.tabLine(e))
	lines = append(lines, r.draw(e, body)...)
	lines = append(lines, r.bottom(e), widget.Footer(e.Styles, e.W, r.Keys().Short))
	if r.export != nil {
		return r.export.over(e, widget.Page(e.W, e.H, lines))
	}
	return widget.Page(e.W, e.H, lines)
}

// headline names the run and shows in a word whether it can be trusted.
func (r *Results) headline(e screen.Env) string {
	s := e.Styles
	title, at, right := "Results", "", ""
	if r.loaded != nil {
		run := &r.loaded.folder.Run
		title, at = "Results · "+widget.NameOf(run), " · "+widget.DayText(run.Started, e.Now)
		word, k := widget.Trust(s, run)
		right = k.On(word) + " "
	} else if r.outcome != nil && r.outcome.Err != nil {
		right = s.Bad.On("✗ failed") + " "
	}
	return widget.Spread(" "+s.Bold.On(title)+s.Muted.On(at), right, e.W)
}

// bottom is the line above the keys: the last message, else the run's directory.
func (r *Results) bottom(e screen.Env) string {
	if r.toast.Text != "" {
		return r.toast.Line(e.Styles, e.W)
	}
	if r.loaded != nil {
		const lead = " written to "
		return widget.Fit(e.Styles.Muted.On(lead+widget.PathIn(r.loaded.folder.Dir, e.W-len(lead)-1)), e.W)
	}
	return widget.Fit("", e.W)
}

func (r *Results) click(m tea.Mouse, e screen.Env) tea.Cmd {
	if r.export != nil {
		cmd, closed := r.export.click(m, e)
		if closed {
			r.export = nil
		}
		return cmd
	}
	if m.Y == 1 {
		for _, t := range r.tabSpots(e) {
			if m.X >= t.From && m.X < t.To {
				r.tab = resultsTab(t.At)
			}
		}
		return nil
	}
	if op, ok := r.opAt(m, e); ok {
		r.op = op
		r.cache = bodyCache{}
	}
	return nil
}

func (r *Results) wheel(msg tea.MouseWheelMsg) {
	by := 3
	if msg.Button == tea.MouseWheelUp {
		by = -3
	}
	if r.export != nil {
		r.export.move(by / 3)
		return
	}
	r.scroll[r.tab] += by
}

// Outside names the window after the run, which no longer has any progress.
func (r *Results) Outside(screen.Env) (title string, bar *tea.ProgressBar) { //nolint:unparam // the dashboard has a bar
	return "perfbench · results " + r.id, nil
}

// Bench is what the screen of a finished run needs.
type Bench interface {
	// Load reads one finished run by its id.
	Load(id string) (*rundir.Folder, error)
	// Formats lists the formats in which a run of the profile can be written.
	Formats(profile string) []rundir.Format
	// Export writes a finished run in the given formats and returns the paths of what
	// it wrote, even with an error. An empty dir is the run's own directory.
	Export(id string, formats []string, dir string) ([]string, error)
}
