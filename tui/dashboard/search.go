package dashboard

import (
	"image"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/search/found"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// SearchOnce stores what was requested when the run was started, to be done as soon as
// it measures.
func (d *Dashboard) SearchOnce(to screen.Start) { d.once, d.askOnce = to.Search, to.AskSearch }

// searchOnce does it.
func (d *Dashboard) searchOnce(e screen.Env) {
	if d.progress.Stage != screen.Measuring {
		return
	}
	if a := d.once; a != nil {
		d.once = nil
		d.search(e, *a)
	}
	if d.askOnce {
		d.askOnce = false
		d.seek.Ask("")
	}
}

// searching reports whether a search is turning the knobs.
func (d *Dashboard) searching() bool { return d.found != nil && d.found.Going }

// aside reports whether there is a panel beside the charts: tuning or a search.
func (d *Dashboard) aside() bool { return d.tuner.open || d.seek.Open }

// leastLeft is how long a run must still last for a search on it to be useful.
const leastLeft = time.Minute

// endsSoon reports whether this run ends by itself before a search could find anything.
func (d *Dashboard) endsSoon() bool {
	return d.snap.Total > 0 || d.info.Duration > 0 && d.info.Duration-max(d.snap.At, 0) < leastLeft
}

// pressFind asks for a search, or ends the one in progress.
func (d *Dashboard) pressFind(e screen.Env) {
	switch {
	case d.searching() && d.seek.Open:
		d.run.EndSearch()
		d.say(e, "the search has ended; the run goes on with its knobs as they were", false)
	case d.searching():
		d.seek.Open = true
	case d.endsSoon():
		d.seek.Ask("This run ends by itself. The search gets a run of its own, of up to " + found.Within + ", and this one stops.")
	default:
		d.seek.Ask("")
	}
	d.tuner.open, d.tuner.typing = false, false
}

// pressAsked handles a key of the form.
func (d *Dashboard) pressAsked(msg tea.KeyPressMsg, e screen.Env) {
	asked, enter := d.seek.Press(msg)
	if !enter {
		return
	}
	if err := d.run.CanSearch(asked); err != nil {
		d.seek.Blame(err)
		return
	}
	if !d.endsSoon() {
		d.search(e, asked)
		return
	}
	d.seek.Begun(asked)
	d.then = screen.Start{Request: screen.Searchable(d.info.Request.At(d.plan, d.run.Settings)), Search: &asked}
	d.run.Stop()
	d.stopped = true
	d.say(e, "stopping: then the search begins, in a run of its own", false)
}

func (d *Dashboard) search(e screen.Env, asked found.Asked) {
	if err := d.run.Search(asked); err != nil {
		d.say(e, "there is no search: "+err.Error(), true)
		d.seek.Blame(err)
		return
	}
	d.seek.Begun(asked)
	d.refresh()
}

// sidePanel draws the panel beside the charts.
func (d *Dashboard) sidePanel(e screen.Env, r image.Rectangle) []string {
	if !d.seek.Open {
		return d.tunePanel(e, r)
	}
	level, since := 0.0, time.Duration(0)
	if d.found != nil {
		if k, ok := d.plan.Knob(d.found.Over); ok {
			level = k.Get(d.run.Settings(screen.All))
		}
		for i := len(d.snap.Changes) - 1; i >= 0; i-- {
			if c := d.snap.Changes[i]; c.By == "search" {
				since = d.snap.At - c.At
				break
			}
		}
	}
	return d.seek.Draw(e.Styles, r.Dx(), r.Dy(), d.found, level, since)
}

// noKnobs explains why no knob can be turned during a search.
const noKnobs = "the search turns the knobs; f ends it"

// notWhileSearching dims the keys for what a search controls itself.
func notWhileSearching(k *widget.Bindings) {
	for _, b := range k.Knobs() {
		b.SetEnabled(false)
	}
	k.Search.SetHelp("f", "end search")
}
