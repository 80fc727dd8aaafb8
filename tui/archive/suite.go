package archive

import (
	"fmt"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// Suites does the runs of plan files. It is called from a tea.Cmd.
type Suites interface {
	// Suite begins the runs of a plan file, which follow each other, and remembers its path. An error says
	// why none of them begins.
	Suite(of screen.Suite) (screen.SuiteRun, error)
	// Foresee computes what one run of a plan would do. It has no side effects.
	Foresee(request.Request) (*request.Preview, error)
}

// Suite is the runs of a plan file: what they are, and how far they are if they are done here. It
// belongs to the event loop.
type Suite struct {
	bench Suites
	plan  screen.Suite
	// busy means that they are being prepared. going are those in progress, or that have ended here;
	// nil before that.
	busy  bool
	going screen.SuiteRun
	now   screen.SuiteNow
	ended bool
	// err is why they could not begin, or what they came to.
	err error

	at, top int  // the selected run, and the first visible one
	moved   bool // the user has pressed a key since the start: until then, the run under way is selected
	live    watching
	toast   widget.Note
	drawn   widget.Rows
	// foreseen are what runs of the plan would do, nil while that is not known; by their places.
	foreseen map[int]*request.Preview
}

// foreseenMsg delivers what a run of the plan would do; nil if that cannot be told.
type foreseenMsg struct {
	of      *Suite
	at      int
	preview *request.Preview
}

// suiteMsg delivers the runs that were started, or why there are none.
type suiteMsg struct {
	of  *Suite
	run screen.SuiteRun
	err error
}

// NewSuite shows the runs of a plan file.
func NewSuite(b Suites, to screen.Suite) *Suite {
	return &Suite{bench: b, plan: to, now: screen.SuiteNow{Turns: make([]screen.SuiteTurn, len(to.File.Runs))}, toast: widget.Note{Text: to.Said}, foreseen: map[int]*request.Preview{}}
}

// Start works out what the first run would do.
func (s *Suite) Start(screen.Env) tea.Cmd { return s.foresee() }

// foresee works out what the selected run would do, if it is a single one; nil if that was done.
func (s *Suite) foresee() tea.Cmd {
	at, r := s.at, &s.plan.File.Runs[s.at]
	if _, asked := s.foreseen[at]; asked || kindOf(r) != nil {
		return nil
	}
	s.foreseen[at] = nil
	return func() tea.Msg {
		return foreseenMsg{s, at, ahead(s.bench.Foresee, r.Request)}
	}
}

// Running returns the runs in progress, or nil.
func (s *Suite) Running() screen.Ending {
	if s.going == nil || s.ended {
		return nil
	}
	return s.going
}

// Idle reports that nothing changes by itself.
func (s *Suite) Idle() bool { return s.Running() == nil && !s.busy && s.toast.Text == "" }

// Outside names the window.
func (s *Suite) Outside(screen.Env) (string, *tea.ProgressBar) {
	if s.Running() == nil {
		return "perfbench · plan", nil
	}
	return "perfbench plan · " + s.progress(), tea.NewProgressBar(tea.ProgressBarDefault, s.over()*100/len(s.now.Turns))
}

// Tell shows a sentence for a while.
func (s *Suite) Tell(sentence string, e screen.Env) { s.toast.Tell(e.Now, sentence) }

// Update handles one message.
func (s *Suite) Update(msg tea.Msg, e screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.FrameMsg:
		s.toast.Tick(e.Now)
		return s, s.frame(e)
	case suiteMsg:
		if msg.of == s {
			s.busy, s.err = false, msg.err
			if msg.err == nil {
				s.going, s.ended, s.now = msg.run, false, msg.run.Now()
			}
		}
	case foreseenMsg:
		if msg.of == s {
			s.foreseen[msg.at] = msg.preview
		}
	case tea.KeyPressMsg:
		return s, tea.Batch(s.press(msg, e), s.foresee())
	case tea.MouseClickMsg:
		s.moved = true
		switch i, is := s.drawn.Under(msg.Y); {
		case is && i == s.at:
			return s, s.open(e)
		case is:
			s.at = i
		}
		return s, s.foresee()
	case tea.MouseWheelMsg:
		s.moved = true
		s.move(widget.Wheel(msg.Mouse(), 1))
		return s, s.foresee()
	}
	return s, nil
}

// frame reads the newest state of the runs in progress.
func (s *Suite) frame(e screen.Env) tea.Cmd {
	s.live.tick(e, &s.toast)
	if s.Running() == nil {
		return nil
	}
	select {
	case <-s.going.Done():
		s.ended, s.toast = true, widget.Note{} // what was said of runs under way
		s.now = s.going.Now()
		out := s.going.Outcome()
		s.err = out.Err
		return func() tea.Msg { return screen.EndedMsg{Outcome: out, Stays: true} }
	default:
		s.now = s.going.Now()
		if i := s.underWayAt(); i >= 0 && !s.moved {
			s.at = i
		}
		return s.foresee()
	}
}

// underWayAt returns which run is under way; -1: none is.
func (s *Suite) underWayAt() int {
	return slices.IndexFunc(s.now.Turns, func(t screen.SuiteTurn) bool { return t.State == screen.UnderWay })
}

func (s *Suite) press(msg tea.KeyPressMsg, e screen.Env) tea.Cmd {
	k := s.bindings()
	s.moved = true
	if by, ok := k.Moves(msg, len(s.now.Turns), e.H); ok {
		s.move(by)
		return nil
	}
	switch {
	case key.Matches(msg, k.Stop):
		s.going.Stop()
		s.toast.Say(e.Now, "stopping: the run under way ends and is reported, those after it do not begin", false)
	case key.Matches(msg, k.Back) && (s.Running() != nil || s.busy):
		s.toast.Say(e.Now, "the runs are under way: x stops them", false)
	case key.Matches(msg, k.Back):
		return screen.Back
	case key.Matches(msg, k.History):
		return screen.Open(screen.Runs{})
	case key.Matches(msg, k.Launch):
		return s.start(e)
	case key.Matches(msg, k.Compare):
		a, b, _ := s.sides()
		return screen.Open(screen.Compare{A: []string{s.result(a)}, B: []string{s.result(b)}})
	case widget.Presses(msg, k.Choose):
		return s.open(e)
	}
	return nil
}

// result returns the id of the single run that a run of the plan has become; "" without one.
func (s *Suite) result(i int) string {
	to, _ := s.now.Turns[i].To.(screen.Results)
	return to.ID
}

// sides are the runs that are compared: the first that is done, and the selected one or, where that is the
// first, the next.
func (s *Suite) sides() (a, b int, ok bool) {
	var done []int
	for i := range s.now.Turns {
		if s.result(i) != "" {
			done = append(done, i)
		}
	}
	at := slices.Index(done, s.at)
	if len(done) < 2 || at < 0 {
		return 0, 0, false
	}
	return done[0], done[max(at, 1)], true
}

func (s *Suite) move(by int) { s.at = max(min(s.at+by, len(s.now.Turns)-1), 0) }

// start begins the first of the runs in the background.
func (s *Suite) start(e screen.Env) tea.Cmd {
	s.busy, s.err, s.moved = true, nil, false
	bench, plan := s.bench, s.plan
	ctx, cancel := e.Connecting()
	e.Starts.Add(1)
	return func() tea.Msg {
		defer e.Starts.Done()
		defer cancel()
		run, err := bench.Suite(plan)
		if err == nil && ctx.Err() != nil { // the user has left
			run.Kill()
			<-run.Done()
		}
		return suiteMsg{s, run, err}
	}
}

// open shows the selected run live while it goes, and then what it came to; one that came to nothing is shown in the form, from which
// there is a way back.
func (s *Suite) open(e screen.Env) tea.Cmd {
	turn, r := &s.now.Turns[s.at], &s.plan.File.Runs[s.at]
	switch {
	case turn.To != nil:
		return screen.Open(turn.To)
	case turn.State == screen.UnderWay && s.now.Run != nil:
		what := r.Name
		if s.now.What != "" {
			what += ", " + s.now.What
		}
		s.moved = false // whoever comes back is at the run that is under way then
		return s.live.open(s.now.Run, what, "plan")
	case turn.State == screen.UnderWay:
		s.toast.Say(e.Now, "it is being prepared: enter shows it live in a moment, x stops all", false)
		return nil
	case s.Running() != nil || s.busy:
		s.toast.Say(e.Now, "the form opens when the runs under way have ended: x stops them", false)
		return nil
	}
	said := r.Name + " of " + s.plan.Path
	switch {
	case r.Find != nil:
		said += " without its search, for which there is f"
	case r.Sweep != nil:
		said += " without its sweep, for which there is w"
	case r.Repeat.Any():
		said += ", to be done once"
	}
	req := r.Request
	return func() tea.Msg { return screen.SetUpMsg{Request: req, Said: said, From: s} }
}

func (s *Suite) bindings() widget.Bindings {
	k := widget.AllKeys
	going := s.Running() != nil || s.busy
	turn := &s.now.Turns[s.at]
	k.Stop.SetEnabled(s.Running() != nil)
	k.Home.SetEnabled(!going)
	k.Launch.SetHelp("S", "start all")
	k.Launch.SetEnabled(!going)
	k.Choose.SetHelp("enter", "open in the form")
	live := turn.State == screen.UnderWay && s.now.Run != nil
	switch {
	case turn.To != nil:
		k.Choose.SetHelp("enter", "open results")
	case live:
		k.Choose.SetHelp("enter", watchHelp)
	}
	k.Choose.SetEnabled(turn.To != nil || live || !going)
	a, b, ok := s.sides()
	if k.Compare.SetEnabled(ok); ok {
		k.Compare.SetHelp("c", "compare "+s.plan.File.Runs[a].Name+" with "+s.plan.File.Runs[b].Name)
	}
	return k
}

// Keys returns the keys that work now.
func (s *Suite) Keys() widget.KeyMap {
	k := s.bindings()
	short := []key.Binding{widget.Bind("↑↓", "run", "up", "down"), k.Choose, k.Launch, k.Help, k.Back, widget.Long(k.Home, "home"), k.Quit}
	if s.Running() != nil {
		short[2] = k.Stop
	}
	if a, b, ok := s.sides(); ok {
		if s.at == b {
			b = a
		}
		short = slices.Insert(short, 2, widget.Long(k.Compare, "compare with "+s.plan.File.Runs[b].Name))
	}
	return widget.KeyMap{
		Short: short,
		Full: [][]key.Binding{
			{k.Up, k.Down, k.First, k.Last, k.PageUp, k.PageDown},
			{k.Choose, k.Compare, widget.Long(k.Launch, "start all, one after the other"), widget.Long(k.Stop, "stop, and keep what is done"), k.History, k.Back},
		},
	}
}

// over returns how many runs have ended, or will not begin.
func (s *Suite) over() int { return s.now.All(screen.Done, screen.Cut, screen.Failed, screen.NotBegun) }

// progress says how far the runs are, in a few words.
func (s *Suite) progress() string {
	all := widget.Plural(int64(len(s.now.Turns)), "run")
	switch {
	case s.busy:
		return "getting ready …"
	case s.going == nil:
		return all
	case s.now.All(screen.Done) == len(s.now.Turns):
		return all + ", all done"
	}
	text := fmt.Sprintf("%d of %s done", s.now.All(screen.Done), all)
	for _, state := range []screen.SuiteState{screen.Cut, screen.Failed, screen.NotBegun} {
		if n := s.now.All(state); n > 0 {
			text += fmt.Sprintf(", %d %s", n, state)
		}
	}
	return text
}
