// Package results is the screen of a finished run.
package results

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Results shows a finished run: the one that has just ended, or any earlier one. It
// belongs to the event loop.
type Results struct {
	bench Bench
	// since is when the screen appeared by itself, zero if the user opened it.
	since time.Time
	// asks whether to make live changes again or to break a store; nil: nothing is asked.
	asks   *widget.Question
	run    *subject
	moment *moment
	pages  *pages
	export *exporter       // nil unless documents are being exported
	shelf  archive.RunList // writes the note and the tags
	toast  widget.Note
	// early are the keys that were pressed before the run was read, for then.
	early  []tea.KeyPressMsg
	reread screen.Reread // of a run that is still going
}

// NewEnded shows the run that has just ended; since is the time at which it appeared by
// itself, zero if the user asked for it.
func NewEnded(b Bench, o screen.Outcome, since time.Time) *Results {
	r := New(b, o.ID)
	r.run.outcome, r.since = &o, since
	return r
}

// unasked is how long esc does not leave results that appeared by themselves, because
// it was meant for the screen before.
const unasked = 2 * time.Second

// New shows an earlier run.
func New(b Bench, id string) *Results {
	run := &subject{id: id}
	m := &moment{of: run}
	return &Results{bench: b, run: run, moment: m, pages: &pages{of: run, moment: m, op: -1}, shelf: archive.NewRunList(b)}
}

// Start reads the run.
func (r *Results) Start(screen.Env) tea.Cmd { return r.run.read(r.bench) }

// Tell shows a sentence for a while.
func (r *Results) Tell(sentence string, e screen.Env) { r.toast.Tell(e.Now, sentence) }

// Typing reports whether text is being typed, or a question answered.
func (r *Results) Typing() bool {
	return r.shelf.Typing() || r.asks != nil || r.export != nil && r.export.typing
}

// Update handles one message.
func (r *Results) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		r.toast.Tick(e.Now)
		if r.run.going() && !e.Covered && r.export == nil && r.reread.Due(e.Now, []rundir.Run{r.run.loaded.folder.Run}) {
			return r, r.run.read(r.bench)
		}
	case loadedMsg:
		was := r.run.loaded
		switch arrived := r.run.arrived(msg); {
		case arrived && was == nil:
			r.pages.begin()
		case arrived:
			r.pages.cache = bodyCache{}
		}
		if !r.run.reading() {
			return r, r.late(e)
		}
	case archive.DoneMsg:
		archive.Told(msg, &r.toast, e)
		r.run.changed = true
		return r, r.run.read(r.bench)
	case exportedMsg:
		if r.export != nil && msg.id == r.run.id {
			r.export.finished(msg)
		}
	case tea.PasteMsg:
		if r.shelf.Typing() {
			r.shelf.Paste(msg)
		} else if r.Typing() {
			r.export.dir, _ = r.export.dir.Update(msg)
		}
	case tea.KeyPressMsg:
		return r, r.press(msg, e)
	case tea.MouseClickMsg:
		return r, r.click(msg.Mouse(), e)
	case tea.MouseMotionMsg:
		if m := msg.Mouse(); m.Button == tea.MouseLeft && r.moment.cross.On && r.export == nil {
			r.moment.point(r.pages.inside(m))
		}
	case tea.MouseWheelMsg:
		r.wheel(msg)
	}
	return r, nil
}

// repeats asks whether to do again what the same run does beside what it was asked for; nil if it is nothing that has to be
// confirmed.
func (s *subject) repeats() *widget.Question {
	n, faults := s.tuned(), breaks(s.asked().Timetable)
	text := ""
	switch does := strings.Join(faults, ", "); {
	case n > 0 && len(faults) > 0:
		text = fmt.Sprintf("Run again with its %s, and break the store by %s?", widget.Plural(int64(n), "live change"), does)
	case n > 0:
		text = fmt.Sprintf("Run again with its %s, at the same times?", widget.Plural(int64(n), "live change"))
	case len(faults) > 0:
		text = "Run again, and break the store by " + does + "?"
	default:
		return nil
	}
	return &widget.Question{Text: text, Yes: "run again", No: "leave it", Key: widget.AllKeys.Again.Keys()[0]}
}

// answer handles a key while it is asked whether to run again; S runs without the live changes.
func (r *Results) answer(msg tea.KeyPressMsg, k *widget.Bindings) tea.Cmd {
	yes, given := r.asks.Answer(msg)
	without := key.Matches(msg, k.Launch)
	if given || without {
		r.asks = nil
	}
	switch {
	case yes:
		return screen.Replace(screen.Start{Request: r.run.asked()})
	case without:
		return screen.Replace(screen.Start{Request: r.run.untuned()})
	}
	return nil
}

// justEnded answers a key that was meant for the run.
const justEnded = "the run has just ended: these are its results"

// breaks returns the steps of a timetable that break something.
func breaks(timetable []string) (out []string) {
	for _, step := range timetable {
		if strings.Contains(step, "fault=") {
			out = append(out, step)
		}
	}
	return out
}

// late does what keys ask for that were pressed before the run was read, up to one that leads elsewhere.
func (r *Results) late(e screen.Env) tea.Cmd {
	keys := r.early
	r.early = nil
	for _, msg := range keys {
		if cmd := r.press(msg, e); cmd != nil {
			return cmd
		}
	}
	return nil
}

func (r *Results) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	if r.export != nil {
		busy := r.export.busy
		cmd, closed := r.export.press(msg, e)
		switch {
		case closed:
			r.export = nil
		case busy:
			r.toast.Say(e.Now, "the export is being written: "+whileWriting, false)
		}
		return cmd
	}
	r.page(e) // what the keys do depends on what the page shows
	k, read := r.bindings(), r.moment.cross.On
	if r.asks != nil {
		return r.answer(msg, &k)
	}
	if !r.since.IsZero() && e.Now.Sub(r.since) < unasked && (widget.Presses(msg, k.Search) || widget.Presses(msg, k.Again) || key.Matches(msg, k.Launch) || widget.Presses(msg, k.Sweep) || widget.Presses(msg, k.Targets)) {
		r.toast.Say(e.Now, justEnded, false)
		r.since = time.Time{}
		return nil
	}
	if r.run.reading() && !key.Matches(msg, k.Back) && !key.Matches(msg, k.History) && !key.Matches(msg, k.CopySummary) {
		r.early = append(r.early, msg)
		return nil
	}
	switch {
	case r.shelf.Typing(), key.Matches(msg, k.Annotate), key.Matches(msg, k.Retag):
		cmd, _ := r.shelf.Press(msg, &kept.Item{Run: &r.run.loaded.folder.Run}, nil)
		return cmd
	case r.moment.press(msg, &k):
		if !read {
			r.pages.reveal(e.H - 5 - max(r.moment.rows(e), 1))
		}
	case key.Matches(msg, k.LogAxis) && r.moment.turn():
	case key.Matches(msg, k.Back):
		if !r.since.IsZero() && e.Now.Sub(r.since) < unasked {
			r.toast.Say(e.Now, justEnded, false)
			r.since = time.Time{}
			return nil
		}
		return screen.Back
	case key.Matches(msg, k.Next), key.Matches(msg, k.Right):
		r.pages.turn(1)
	case key.Matches(msg, k.Prev), key.Matches(msg, k.Left):
		r.pages.turn(-1)
	case key.Matches(msg, k.Up):
		r.pages.move(-1)
	case key.Matches(msg, k.Down):
		r.pages.move(1)
	case key.Matches(msg, k.PageUp):
		r.pages.scroll[r.pages.at] -= e.H / 2
	case key.Matches(msg, k.PageDown):
		r.pages.scroll[r.pages.at] += e.H / 2
	case key.Matches(msg, k.First):
		r.pages.scroll[r.pages.at] = 0
	case key.Matches(msg, k.Last):
		r.pages.scroll[r.pages.at] = 1 << 30
	case key.Matches(msg, k.Export):
		r.export = newExporter(r.bench, r.run.id, r.run.loaded.folder)
	case key.Matches(msg, k.Again) && r.run.loaded.found != nil:
		asked := r.run.loaded.found.Asked()
		return screen.Replace(screen.Start{Request: screen.Searching(r.run.asked(), asked), Search: &asked})
	case key.Matches(msg, k.Again):
		again := r.run.asked()
		if r.asks = r.run.repeats(); r.asks != nil {
			return nil
		}
		return screen.Replace(screen.Start{Request: again})
	case key.Matches(msg, k.Launch):
		return screen.Replace(screen.Start{Request: r.run.untuned()})
	case key.Matches(msg, k.Search):
		return screen.Open(screen.AskSearch{Request: r.run.asked(), Advised: r.run.advised()})
	case key.Matches(msg, k.Sweep):
		return screen.Open(screen.AskSweep{Request: r.run.asked()})
	case key.Matches(msg, k.Targets):
		return screen.Open(screen.AskSweep{Request: r.run.asked(), Targets: true})
	case key.Matches(msg, k.Copy):
		return screen.ShowCommand("does this run again", report.Command(&r.run.loaded.folder.Run))
	case key.Matches(msg, k.CopySummary):
		r.toast.Say(e.Now, "the summary was "+screen.SentToClipboard, false)
		return tea.SetClipboard(r.run.text())
	case key.Matches(msg, k.Compare):
		return screen.Open(screen.Runs{Chosen: r.run.id})
	case key.Matches(msg, k.Remove):
		return screen.Open(screen.Runs{Delete: r.run.id})
	case key.Matches(msg, k.History):
		return screen.Open(screen.Runs{})
	case key.Matches(msg, k.Plans):
		r.shelf.AskPlan(r.bench, []string{r.run.id}, r.run.loaded.found != nil, r)
	case widget.Presses(msg, k.Export), widget.Presses(msg, k.Copy), widget.Presses(msg, k.CopySummary), widget.Presses(msg, k.Compare), widget.Presses(msg, k.Again), widget.Presses(msg, k.Annotate), widget.Presses(msg, k.Retag), widget.Presses(msg, k.Plans), widget.Presses(msg, k.Remove),
		widget.Presses(msg, k.Search), widget.Presses(msg, k.Sweep), widget.Presses(msg, k.Targets):
		r.toast.Say(e.Now, r.run.missing(), true)
	case r.moment.shown() && (widget.Presses(msg, k.LastMark) || widget.Presses(msg, k.NextMark)):
		r.toast.Say(e.Now, unmarked, false)
	}
	return nil
}

func (r *Results) bindings() widget.Bindings {
	k := widget.AllKeys
	k.Next.SetHelp("tab", "page")
	k.Prev.SetHelp("shift+tab", "previous page")
	k.Right.SetHelp("→", "next page")
	k.Left.SetHelp("←", "previous page")
	k.Up.SetHelp("↑", "scroll up")
	k.Down.SetHelp("↓", "scroll down")
	if r.pages.choosesOp() {
		k.Up.SetHelp("↑", "operation up")
		k.Down.SetHelp("↓", "operation down")
	}
	for _, b := range []*key.Binding{&k.Export, &k.Compare, &k.Copy, &k.Again, &k.Search, &k.Sweep, &k.Targets, &k.Annotate, &k.Retag, &k.Plans, &k.Remove} {
		b.SetEnabled(r.run.loaded != nil)
	}
	if r.run.loaded != nil && r.run.loaded.found != nil {
		k.Again.SetHelp("R", "search again")
	}
	if r.run.advised() != nil {
		k.Search.SetHelp("f", "search the store alone")
	}
	k.Plans.SetHelp("P", "make a plan of it")
	k.Launch.SetHelp("S", "start without its live changes")
	k.Launch.SetEnabled(r.run.tuned() > 0)
	k.CopySummary.SetEnabled(r.run.text() != "")
	if some := r.moment.shown(); some {
		k.Reads(some, r.moment.marked(), r.moment.cross.On)
	} else {
		for _, b := range []*key.Binding{&k.LeftTen, &k.RightTen, &k.LastMark, &k.NextMark} {
			b.SetEnabled(false)
		}
	}
	return k
}

// offered returns the bindings without those that would not turn or scroll anything.
func (r *Results) offered() widget.Bindings {
	k := r.bindings()
	several, long := len(r.pages.list()) > 1, r.pages.long
	moves := long || r.pages.choosesOp()
	if !r.moment.shown() {
		k.Right.SetEnabled(several)
		k.Left.SetEnabled(several)
	}
	for b, does := range map[*key.Binding]bool{
		&k.Next: several, &k.Prev: several,
		&k.Up: moves, &k.Down: moves, &k.PageUp: long, &k.PageDown: long, &k.First: long, &k.Last: long,
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
	if r.shelf.Typing() {
		return r.shelf.Keys()
	}
	if r.asks != nil {
		list := r.asks.Keys()
		if k := r.bindings(); k.Launch.Enabled() {
			list = slices.Insert(list, 1, widget.Long(k.Launch, "without its live changes"))
		}
		return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
	}
	k := r.offered()
	move := widget.Bind("↑↓", strings.TrimSuffix(k.Down.Help().Desc, " down"), "up", "down")
	move.SetEnabled(k.Down.Enabled())
	find, first, later := widget.Long(k.Search, "search in a run like this one"), []key.Binding(nil), []key.Binding{k.Search}
	if r.run.advised() != nil {
		find = widget.Long(k.Search, "search by the time in the store alone")
		if r.pages.at == tabSearch { // the page advises it
			first, later = later, first
		}
	}
	axis := widget.Long(k.LogAxis, "log or linear axis of the latency")
	axis.SetEnabled(r.moment.shown() && r.moment.timed)
	again := k.Again
	if r.run.tuned() > 0 {
		again = widget.Long(k.Again, "run again, with its live changes at the same times")
	}
	home := widget.Long(k.Home, "home")
	short := slices.Concat([]key.Binding{k.Next}, first, []key.Binding{move, k.Help, k.Back, home, k.Export, k.Again, k.Annotate, k.Compare, k.Copy, k.History}, later, []key.Binding{k.Sweep, k.Quit})
	sideways := []key.Binding{k.Right, k.Left}
	if r.moment.shown() {
		sideways = k.ReadingHelp()
	}
	starts := []key.Binding{again}
	if k.Launch.Enabled() {
		starts = append(starts, k.Launch)
	}
	switch {
	case r.moment.cross.On && r.moment.shown():
		short[1], short[2] = short[2], short[1] // help comes before what one has found
		short = k.Reading(short)
	case r.moment.shown():
		short = slices.Insert(short, 2, widget.Bind("←→", "moment", "left", "right"))
	}
	out := widget.KeyMap{
		Short: short,
		Full: [][]key.Binding{
			append([]key.Binding{k.Next, k.Prev}, sideways...),
			{k.Up, k.Down, k.PageUp, k.PageDown, k.First, k.Last, axis},
			append(starts, find, widget.Long(k.Sweep, "runs like it at several values"), k.Targets, k.Export, k.Annotate, k.Retag, k.Copy, k.CopySummary, k.Compare, k.History, k.Plans, widget.Long(k.Remove, "delete, in the list"), k.Back),
		},
	}
	if r.moment.shown() {
		out.Signs = chart.Signs()
	}
	return out
}

// View draws the page.
func (r *Results) View(e screen.Env) string {
	lines := make([]string, 0, e.H)
	page := r.page(e) // before the rest, which depends on what it shows
	lines = append(lines, r.run.headline(e), r.pages.line(e))
	lines = append(lines, page...)
	lines = append(append(lines, r.bottom(e)...), widget.Footer(e.Styles, e.W, r.Keys().Short))
	if r.export != nil {
		return r.export.over(e, widget.Page(e.W, e.H, lines))
	}
	return widget.Page(e.W, e.H, lines)
}

// page draws the panel of the page, which leaves room for what is said of a moment.
func (r *Results) page(e screen.Env) []string {
	rows := r.moment.rows(e)
	out := r.pages.draw(e, e.H-3-max(rows, 1), e.H-4)
	if now := r.moment.rows(e); now != rows { // another page than was drawn last
		out = r.pages.draw(e, e.H-3-max(now, 1), e.H-4)
	}
	return out
}

// bottom are the lines above the keys: the last message or the moment that is read, else the run's
// directory.
func (r *Results) bottom(e screen.Env) []string {
	said := r.moment.lines(e)
	line := r.shelf.Line(e.Styles, e.W)
	switch {
	case r.asks != nil:
		line = widget.Fit(e.Styles.Warn.On(" "+r.asks.String()), e.W)
	case line == "" && r.toast.Text != "":
		line = r.toast.Line(e.Styles, e.W)
	}
	switch {
	case line != "" && len(said) > 0:
		return append(said[:len(said)-1:len(said)-1], line)
	case len(said) > 0:
		return said
	case line == "":
		line = r.run.place(e)
	}
	return []string{line}
}

func (r *Results) click(m tea.Mouse, e screen.Env) tea.Cmd {
	if r.export != nil {
		cmd, closed := r.export.click(m, e)
		if closed {
			r.export = nil
		}
		return cmd
	}
	r.asks = nil
	r.page(e)
	r.pages.click(m, e)
	return nil
}

func (r *Results) wheel(msg tea.MouseWheelMsg) {
	if r.export != nil {
		r.export.move(widget.Wheel(msg.Mouse(), 1))
		return
	}
	r.pages.scroll[r.pages.at] += widget.Wheel(msg.Mouse(), 3)
}

// Outside names the window after the run, which no longer has any progress.
func (r *Results) Outside(screen.Env) (title string, bar *tea.ProgressBar) { //nolint:unparam // the dashboard has a bar
	return "perfbench · results " + r.run.id, nil
}

// Bench is what the screen of a finished run needs.
type Bench interface {
	archive.Keeper
	archive.PlanMaker
	// Load reads one finished run by its id.
	Load(id string) (*rundir.Folder, error)
	// Formats lists the formats in which a run of the profile can be written.
	Formats(f *rundir.Folder) []rundir.Format
	// LastExported returns what Export was last given, also in an earlier workbench.
	LastExported() request.Exported
	// Export writes a finished run in the given formats and returns the paths of what
	// it wrote, even with an error. An empty dir is the run's own directory.
	Export(id string, formats []string, dir string) ([]string, error)
}

// Boxed reports whether a dialog is above the page.
func (r *Results) Boxed() bool { return r.export != nil }
