package dashboard

import (
	"image"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// searcher asks for searches on this run, and shows them.
type searcher struct {
	now      *reading
	searches screen.Searches // nil if the run is only watched
	says     *messages
	panel    Panel
	kept     Sought
	// once is what to search for as soon as the run measures.
	once *find.Asked
}

// begin begins the search that was requested when the run was started.
func (s *searcher) begin(e screen.Env) {
	if s.now.progress.Stage != screen.Measuring {
		return
	}
	if a := s.once; a != nil {
		s.once = nil
		s.start(e, *a)
	}
}

// leastLeft is how long a run must still last for a search on it to be useful.
const leastLeft = time.Minute

// press asks for a search, or shows or hides the one in progress.
func (s *searcher) press(e screen.Env) {
	ops, from := s.now.plan.Operations(), beginningOf(s.kept, s.now.info.Request)
	if now := s.now.found; now != nil && now.Why == find.Interrupted {
		if under, _ := now.Instead(); len(under) > 0 {
			a := from.last()
			a.Under = under
			from.advised = &a
		}
	}
	switch {
	case s.now.searching():
		s.panel.Open = !s.panel.Open
	case s.now.found != nil && s.now.found.Why != find.Interrupted: // it ended by itself, and so does the run
		s.says.say(e, "the search has come to its end: its answer is shown as soon as the run has ended", false)
	case s.now.endsSoon():
		s.panel.Ask(from, []string{"This run ends by itself before a search could end.", "The search gets a run of its own, and this one stops."}, ops)
	case s.now.info.Duration > 0:
		s.panel.Ask(from, []string{"The search turns the knobs of this run, which ends when the answer is known, or at " + widget.At(s.now.info.Duration) + "."}, ops)
	default:
		s.panel.Ask(from, []string{"The search turns the knobs of this run, which ends with it."}, ops)
	}
}

// askEnd asks whether the search in progress is to end.
func (s *searcher) askEnd() {
	s.says.prompt = &prompt{
		question: &widget.Question{Text: "The run goes on, and what was found is kept. End the search?", Yes: "end the search", No: "go on with it"},
		answered: func(e screen.Env, yes bool) {
			switch {
			case !yes:
			case !s.now.searching():
				s.says.say(e, "the search has ended by itself", false)
			default:
				s.searches.EndSearch()
				s.says.say(e, "the search has ended; the run goes on with its knobs as they were", false)
			}
		},
	}
}

// answer handles a key of the form. It returns where the search begins if this run
// is too short for it.
func (s *searcher) answer(msg tea.KeyPressMsg, e screen.Env) screen.Destination {
	asked, enter := s.panel.Press(msg)
	if !enter {
		return nil
	}
	if err := s.searches.CanSearch(asked); err != nil {
		s.panel.Blame(err)
		return nil
	}
	if !s.now.endsSoon() {
		s.start(e, asked)
		return nil
	}
	s.panel.Begun(asked)
	return screen.Start{Request: screen.Searchable(s.now.info.Request.At(s.now.plan, s.now.run.Settings), asked.Within), Search: &asked}
}

// listed reports whether the levels of a search are on the screen, of which one can be chosen.
func (s *searcher) listed() bool {
	return s.panel.Open && !s.panel.Asking && s.now.found != nil && len(s.now.found.Steps) > 0
}

func (s *searcher) start(e screen.Env, asked find.Asked) {
	if err := s.searches.Search(asked); err != nil {
		s.says.say(e, "there is no search: "+err.Error(), true)
		s.panel.Blame(err)
		return
	}
	s.panel.Begun(asked)
}

// draw draws the form of a search, or how far it is.
func (s *searcher) draw(e screen.Env, r image.Rectangle) []string {
	level, since, threads := 0.0, time.Duration(0), 0
	if s.now.found != nil {
		if k, ok := s.now.plan.Knob(s.now.found.Over); ok {
			level = k.Get(s.now.run.Settings(screen.All))
		}
		if i := slices.IndexFunc(s.now.snap.Changes, func(c measure.Change) bool { return c.By == measure.BySearch && c.Knob() == find.OverThreads }); s.now.found.Over == find.OverRate && i >= 0 {
			if now := s.now.run.Settings(screen.All).Threads; float64(now) > s.now.snap.Changes[i].From {
				threads = now
			}
		}
		for i := len(s.now.snap.Changes) - 1; i >= 0; i-- {
			if c := s.now.snap.Changes[i]; c.By == measure.BySearch {
				since = s.now.snap.At - c.At
				break
			}
		}
	}
	return s.panel.Draw(e.Styles, r.Dx(), r.Dy(), s.now.found, level, since, threads)
}

// noKnobs explains why no knob can be turned during a search.
const noKnobs = "the search turns the knobs; E ends it"

// whileSearching says what f does.
func whileSearching(k *widget.Bindings, open bool) {
	k.Search.SetHelp("f", "show search")
	if open {
		k.Search.SetHelp("f", "hide search")
	}
}
