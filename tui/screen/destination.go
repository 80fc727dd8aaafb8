package screen

import (
	"maps"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/job"
	"github.com/perfbench/perfbench/internal/search/found"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// Destination is where a screen asks to be taken. Which screen shows it only the
// application knows.
type Destination interface{ destination() }

// The destinations.
type (
	// Start connects with a request and shows its run.
	Start struct {
		Request job.Request
		// Search begins as soon as the run does; AskSearch asks for it first.
		Search    *found.Asked
		AskSearch bool
	}
	// Results shows a finished run, by its id.
	Results struct{ ID string }
	// Runs lists the earlier runs; the one chosen, if any, is to be compared.
	Runs struct{ Chosen string }
	// Compare shows two sides beside each other, each of one run or several, by their ids.
	Compare struct{ A, B []string }
	// AskSweep asks for a sweep of what a request leads to; the run under way, unless nil,
	// ends before it begins.
	AskSweep struct {
		Request job.Request
		After   Ending
		// Targets asks on which targets, rather than at which values of a knob.
		Targets bool
	}
	// Sweep shows a sweep of the past, by its id.
	Sweep struct{ ID string }
)

func (Start) destination()    {}
func (Results) destination()  {}
func (Runs) destination()     {}
func (Compare) destination()  {}
func (AskSweep) destination() {}
func (Sweep) destination()    {}

// Messages between screens and application.
type (
	// OpenMsg asks to be taken to a destination, above the present screen or in its
	// place.
	OpenMsg struct {
		To      Destination
		Replace bool
	}
	// BackMsg asks for the screen below.
	BackMsg struct{}
	// FrameMsg says what time it is, several times a second; Gen numbers the chain of
	// frames that it belongs to.
	FrameMsg struct {
		At  time.Time
		Gen int
	}
	// EndedMsg says that a run has ended and been reported; Then, where it is set, is
	// where to go on. Stays says that the screen shows by itself what came of it.
	EndedMsg struct {
		Outcome Outcome
		Then    Destination
		Stays   bool
	}
)

// Open shows a screen above the present one.
func Open(to Destination) tea.Cmd { return func() tea.Msg { return OpenMsg{To: to} } }

// Replace shows a screen instead of the present one.
func Replace(to Destination) tea.Cmd { return func() tea.Msg { return OpenMsg{To: to, Replace: true} } }

// Searchable is a request for a run that goes on for as long as a search on it may take.
func Searchable(r job.Request) job.Request {
	values := maps.Clone(r.Values)
	if values == nil {
		values = workload.Values{}
	}
	delete(values, "count")
	values["duration"] = workload.Value{Name: "duration", Text: found.Within, Origin: workload.OriginFlag}
	r.Values = values
	return r
}

// Copy puts the command on the clipboard that asks for the same, without its secrets.
func Copy(r job.Request) tea.Cmd { return tea.SetClipboard(command(r)) }

func command(r job.Request) string {
	r.Target = widget.HideSecrets(r.Target)
	r.Values = maps.Clone(r.Values)
	for name, v := range r.Values {
		if strings.Contains(v.Text, "://") { // a target of its own, such as that of a broker
			v.Text = widget.HideSecrets(v.Text)
			r.Values[name] = v
		}
	}
	return job.Shell(r.Words())
}

// Back returns to the screen below.
func Back() tea.Msg { return BackMsg{} }
