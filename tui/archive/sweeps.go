package archive

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Screen is a sweep, from its form to its last point. It belongs to the event loop.
type Screen struct {
	bench Sweeper
	ask   asker
	// going is the sweep in progress, or the one that has ended here; nil before that,
	// and for an earlier sweep.
	going screen.SweepRun
	now   screen.SweepNow
	ended bool
	// id is that of an earlier sweep, err why it cannot be shown.
	id  string
	err error

	at, top int  // the selected point, and the first visible one
	round   int  // its selected run; below 0: the one under way, else the first
	moved   bool // the user has pressed a key: until then, the point under way is selected
	live    watching
	chosen  []int
	toast   widget.Note
	drawn   widget.Rows
}

// loadedMsg delivers an earlier sweep.
type loadedMsg struct {
	id   string
	kept *sweep.Kept
	err  error
}

// againMsg delivers what asks for a sweep again: its plan file, and what that asks for.
type againMsg struct {
	of   *Screen
	copy bool
	path string
	run  *request.Run
	err  error
}

// begunMsg delivers a sweep that was requested, or why there is none.
type begunMsg struct {
	of    *Screen
	sweep screen.SweepRun
	err   error
}

// Ask asks for a sweep based on a request; a run in progress ends before it begins.
func Ask(b Sweeper, to screen.AskSweep) *Screen {
	return &Screen{bench: b, ask: newAsker(to), round: -1}
}

// NewSweeps shows an earlier sweep.
func NewSweeps(b Sweeper, id string) *Screen { return &Screen{bench: b, id: id, round: -1} }

// Start reads what is shown.
func (s *Screen) Start(screen.Env) tea.Cmd {
	if s.id == "" {
		return s.check()
	}
	b, id := s.bench, s.id
	return func() tea.Msg {
		kept, err := b.LoadSweep(id)
		return loadedMsg{id, kept, err}
	}
}

// Typing reports whether text is being typed.
func (s *Screen) Typing() bool { return s.ask.open }

// Untouched reports whether the form is open and nothing has been typed into its row.
func (s *Screen) Untouched() bool { return s.ask.open && s.ask.form.Untouched() }

// Running returns the sweep in progress, or nil.
func (s *Screen) Running() screen.Ending {
	if s.going == nil || s.ended {
		return nil
	}
	return s.going
}

// Outside names the window.
func (s *Screen) Outside(screen.Env) (string, *tea.ProgressBar) {
	if s.Running() == nil {
		return "perfbench · sweep", nil
	}
	part := len(s.now.Runs) * 100 / max(s.now.All(), 1)
	return "perfbench sweep · " + progress(&s.now), tea.NewProgressBar(tea.ProgressBarDefault, part)
}

// Tell shows a sentence for a while.
func (s *Screen) Tell(sentence string, e screen.Env) { s.toast.Tell(e.Now, sentence) }

// Update handles one message.
func (s *Screen) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		s.toast.Tick(e.Now)
		return s, s.frame(e)
	case loadedMsg:
		if msg.id == s.id && s.id != "" {
			if s.err = msg.err; msg.kept != nil {
				s.now = screen.SweepNow{Result: *msg.kept.Result, ID: msg.kept.ID}
			}
		}
	case begunMsg:
		if msg.of == s {
			return s, s.begun(msg, e)
		}
	case checkedMsg:
		if msg.of == s {
			return s, s.checked(msg)
		}
	case againMsg:
		if msg.of == s {
			return s, s.again(msg, e)
		}
	case tea.PasteMsg:
		if s.ask.open {
			s.ask.press(msg)
			return s, s.check()
		}
	case tea.KeyPressMsg:
		return s, s.press(msg, e)
	case tea.MouseClickMsg:
		return s, s.click(msg.Mouse())
	case tea.MouseWheelMsg:
		s.moved = true
		s.move(widget.Wheel(msg.Mouse(), 1))
	}
	return s, nil
}

func (s *Screen) begun(msg begunMsg, e screen.Env) tea.Cmd {
	s.ask.busy = false
	switch {
	case msg.err != nil:
		s.ask.blame(msg.err)
	default:
		s.ask.open, s.ask.after = false, nil
		s.going, s.now = msg.sweep, msg.sweep.Now()
		if n := len(s.now.Runs); n > 0 {
			s.toast.Say(e.Now, "the sweep goes on where it was: "+widget.Plural(int64(n), "run")+" had been done", false)
		}
	}
	return nil
}

// frame reads the newest state of the sweep in progress.
func (s *Screen) frame(e screen.Env) tea.Cmd {
	s.live.tick(e, &s.toast)
	if s.Running() == nil {
		return nil
	}
	if s.now = s.going.Now(); s.now.Run != nil && s.now.Point >= 0 && !s.moved {
		s.move(s.now.Point - s.at)
	}
	select {
	case <-s.going.Done():
		s.ended, s.toast = true, widget.Note{} // what was said of a sweep under way
		s.now = s.going.Now()
		out := s.going.Outcome()
		s.err = out.Err
		return func() tea.Msg { return screen.EndedMsg{Outcome: out, Stays: true} }
	default:
		return nil
	}
}

// again asks for the sweep once more, or shows the command that does it.
func (s *Screen) again(msg againMsg, e screen.Env) tea.Cmd {
	switch {
	case msg.err != nil:
		s.toast.Say(e.Now, widget.Unflagged(msg.err.Error()), true)
	case msg.run == nil:
		s.toast.Say(e.Now, "this sweep was made before perfbench kept what asks for it again: w on one of its runs sweeps, too", true)
	case msg.copy:
		return screen.ShowCommand("does this sweep again", request.Shell([]string{"perfbench", "sweep", msg.path}))
	default:
		asked := msg.run.Sweep.Asked()
		return screen.Open(screen.AskSweep{Request: msg.run.Request, Again: &asked, Targets: msg.run.Request.Target == ""})
	}
	return nil
}

func (s *Screen) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	if s.ask.open {
		return s.pressAsked(msg, e)
	}
	k := s.bindings()
	s.moved = true
	if by, ok := k.Moves(msg, len(s.now.Points), e.H); ok {
		s.move(by)
		return nil
	}
	switch {
	case key.Matches(msg, k.Stop):
		s.going.Stop()
		s.toast.Say(e.Now, "stopping: the run under way does not count, those before it do", false)
	case key.Matches(msg, k.Back) && s.Running() != nil:
		s.toast.Say(e.Now, "the sweep is under way: x stops it", false)
	case key.Matches(msg, k.Back):
		return screen.Back
	case key.Matches(msg, k.Left):
		s.round = max(s.run()-1, 0)
	case key.Matches(msg, k.Right):
		s.round = min(s.run()+1, s.runs()-1)
	case key.Matches(msg, k.Toggle):
		s.toggle()
	case key.Matches(msg, k.Choose):
		return s.open()
	case key.Matches(msg, k.History):
		return screen.Open(screen.Runs{})
	case key.Matches(msg, k.Compare):
		a, b, _ := s.pair()
		return screen.Open(screen.Compare{A: s.now.RunsOf(a), B: s.now.RunsOf(b)})
	case key.Matches(msg, k.Again), key.Matches(msg, k.Copy):
		b, id, copies := s.bench, s.now.ID, key.Matches(msg, k.Copy)
		return func() tea.Msg {
			path, run, err := b.SweepPlan(id)
			return againMsg{s, copies, path, run, err}
		}
	case widget.Presses(msg, k.Again), widget.Presses(msg, k.Copy):
		s.toast.Say(e.Now, "once the sweep has ended", false)
	case widget.Presses(msg, k.Compare):
		s.toast.Say(e.Now, "choose two points with space, or one and stand on the other", false)
	case widget.Presses(msg, k.Choose):
		s.toast.Say(e.Now, "no run of this point is done yet", false)
	}
	return nil
}

func (s *Screen) move(by int) {
	if at := max(min(s.at+by, len(s.now.Points)-1), 0); at != s.at {
		s.at, s.round = at, -1
	}
}

// underWayAt reports whether the run under way is of the selected point, or of none where there are no
// points yet.
func (s *Screen) underWayAt() bool {
	return s.Running() != nil && s.now.Run != nil && (s.now.Point == s.at || len(s.now.Points) == 0)
}

// runs returns how many runs of the selected point can be opened: those that are done, and then the one
// under way.
func (s *Screen) runs() int {
	n := len(s.now.RunsOf(s.at))
	if s.underWayAt() {
		n++
	}
	return n
}

// run returns which of them is selected.
func (s *Screen) run() int {
	n := s.runs()
	switch {
	case s.round >= 0:
		return min(s.round, max(n-1, 0))
	case s.underWayAt():
		return n - 1
	}
	return 0
}

// isLive reports whether the selected run is the one under way.
func (s *Screen) isLive() bool { return s.underWayAt() && s.run() == s.runs()-1 }

// open opens the selected run: live while it goes, else what it came to.
func (s *Screen) open() tea.Cmd {
	if s.isLive() {
		s.moved = false // whoever comes back is at the run that is under way then
		return s.live.open(s.now.Run, s.now.What, "sweep")
	}
	return screen.Open(screen.Results{ID: s.now.RunsOf(s.at)[s.run()]})
}

// toggle chooses the selected point for comparing, or deselects it; with three the
// first is dropped.
func (s *Screen) toggle() {
	if i := slices.Index(s.chosen, s.at); i >= 0 {
		s.chosen = slices.Delete(s.chosen, i, i+1)
		return
	}
	if s.chosen = append(s.chosen, s.at); len(s.chosen) > 2 {
		s.chosen = s.chosen[1:]
	}
}

// pair returns the two points to compare, each with a run that is done.
func (s *Screen) pair() (a, b int, ok bool) {
	list := slices.Clone(s.chosen)
	if len(list) == 1 && list[0] != s.at {
		list = append(list, s.at)
	}
	if len(list) != 2 || len(s.now.RunsOf(list[0])) == 0 || len(s.now.RunsOf(list[1])) == 0 {
		return 0, 0, false
	}
	return list[0], list[1], true
}

func (s *Screen) bindings() widget.Bindings {
	k := widget.AllKeys
	k.Stop.SetEnabled(s.Running() != nil)
	k.Home.SetEnabled(s.Running() == nil)
	done := s.runs()
	k.Choose.SetHelp("enter", "open run")
	if s.isLive() {
		k.Choose.SetHelp("enter", watchHelp)
	}
	k.Choose.SetEnabled(done > 0)
	k.Left.SetHelp("←", "run before")
	k.Right.SetHelp("→", "next run")
	k.Left.SetEnabled(done > 1)
	k.Right.SetEnabled(done > 1)
	k.Again.SetHelp("R", "sweep again")
	for _, b := range []*key.Binding{&k.Again, &k.Copy} {
		b.SetEnabled(s.Running() == nil && s.now.ID != "")
	}
	k.Toggle.SetHelp("space", "choose for comparing")
	k.Toggle.SetEnabled(len(s.now.Points) > 0)
	k.Compare.SetHelp("c", "compare two")
	_, _, two := s.pair()
	k.Compare.SetEnabled(two)
	return k
}

// Keys returns the keys that work now.
func (s *Screen) Keys() widget.KeyMap {
	if s.ask.open {
		return s.ask.keys()
	}
	k := s.bindings()
	short := []key.Binding{widget.Bind("↑↓", "point", "up", "down"), k.Choose, widget.Bind("space", "choose", "space"), k.Compare}
	if s.Running() != nil {
		short = slices.Insert(short, 1, k.Stop)
	} else {
		short = append(short, k.Again)
	}
	short = append(short, k.Help)
	if k.Right.Enabled() {
		short = append(short, widget.Bind("←→", "run", "left", "right"))
	}
	short = append(short, k.Back, widget.Long(k.Home, "home"), k.Quit)
	return widget.KeyMap{
		Short: short,
		Full:  [][]key.Binding{{k.Up, k.Down, k.First, k.Last, k.PageUp, k.PageDown, k.Left, k.Right}, {k.Choose, k.Toggle, k.Compare, k.Again, k.Copy, k.History, widget.Long(k.Stop, "stop, and keep what is done"), k.Back}},
	}
}

// click selects a point, and opens the run of the selected one.
func (s *Screen) click(m tea.Mouse) tea.Cmd {
	i, is := s.drawn.Under(m.Y)
	if s.ask.open || !is {
		return nil
	}
	if s.moved = true; i == s.at && s.runs() > 0 {
		return s.open()
	}
	s.move(i - s.at)
	return nil
}

// Sweeper makes sweeps, and reads them. All of it is called from a tea.Cmd.
type Sweeper interface {
	// CheckSweep returns what was asked before any run of it, or why it makes no sweep, without asking a store: input faults.
	CheckSweep(r request.Request, asked sweep.Asked) (*sweep.Result, error)
	// CanSweep returns why a sweep is not possible: input faults.
	CanSweep(r request.Request, asked sweep.Asked) error
	// Sweep begins a sweep, or resumes one that was requested in the same words.
	Sweep(r request.Request, asked sweep.Asked) (screen.SweepRun, error)
	// LoadSweep reads an earlier one by its id.
	LoadSweep(id string) (*sweep.Kept, error)
	// SweepPlan returns the plan file that asks for one again, and what it asks for; a nil run
	// without an error where none was kept.
	SweepPlan(id string) (path string, run *request.Run, err error)
}
