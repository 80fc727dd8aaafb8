package screen

import (
	"cmp"
	"maps"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

// Destination is where a screen asks to go. Only the application knows which screen
// shows it.
type Destination interface{ destination() }

// The destinations.
type (
	// Start connects with a request and shows its run.
	Start struct {
		Request request.Request
		// Search begins as soon as the run does.
		Search *find.Asked
	}
	// Results shows a finished run, by its id.
	Results struct{ ID string }
	// Watched shows a run that another process drives, or a sweep or a plan of this one.
	Watched struct{ Access Access }
	// Runs lists the earlier runs; Chosen, if set, is to be compared, and Delete asked about.
	Runs struct{ Chosen, Delete string }
	// Compare shows two sides next to each other, each of one run or several, by their
	// ids.
	Compare struct{ A, B []string }
	// Noise shows how much runs differ from each other, by their ids.
	Noise struct{ Runs []string }
	// AskSweep asks for a sweep based on a request. The run in progress, if there is
	// one, ends before the sweep begins.
	AskSweep struct {
		Request request.Request
		After   Ending
		// Targets asks for the targets to sweep over, rather than for values of a knob; Replays
		// means that a recording is replayed, which has its own load.
		Targets, Replays bool
		// Again is a sweep to ask for once more; nil for a new one.
		Again *sweep.Asked
	}
	// AskSearch asks for a search in a run with a request, which starts once it is known
	// what to search for.
	AskSearch struct {
		Request request.Request
		// Advised is what the form begins with; nil for what was asked for last.
		Advised *find.Asked
		// Operations are those of such a run, as far as they are known.
		Operations []measure.Operation
	}
	// Sweep shows an earlier sweep, by its id.
	Sweep struct{ ID string }
	// Plans lists plan files.
	Plans struct{}
	// Suite shows the runs of a plan file, by its path. Said, if set, is shown at first.
	Suite struct {
		Path string
		File *request.File
		Said string
	}
	// Return shows a screen again that was left, as it was.
	Return struct{ To Screen }
)

func (Start) destination()     {}
func (Results) destination()   {}
func (Watched) destination()   {}
func (Runs) destination()      {}
func (Compare) destination()   {}
func (Noise) destination()     {}
func (AskSweep) destination()  {}
func (AskSearch) destination() {}
func (Sweep) destination()     {}
func (Plans) destination()     {}
func (Suite) destination()     {}
func (Return) destination()    {}

// Messages between screens and application.
type (
	// OpenMsg asks to open a destination, above the present screen or in its place.
	OpenMsg struct {
		To      Destination
		Replace bool
	}
	// SetUpMsg asks the picker to show a run in its form, to be changed and started, in place of all screens
	// above it; Said says what it is, and From is the screen it was picked on, to go back to.
	SetUpMsg struct {
		Request request.Request
		Said    string
		From    Screen
	}
	// BackMsg asks to return to the screen below.
	BackMsg struct{}
	// FrameMsg delivers the current time, several times a second; Gen identifies the
	// chain of frames.
	FrameMsg struct {
		At  time.Time
		Gen int
	}
	// EndedMsg reports that a run has ended and its report is written; Then, if set, is
	// where to go next. Stays means that the screen itself shows the result.
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

// Searchable returns a request for a run that lasts as long as a search on it may take, within a
// time, without a timetable, as a search turns the knobs itself.
func Searchable(r request.Request, within string) request.Request {
	values := maps.Clone(r.Values)
	if values == nil {
		values = workload.Values{}
	}
	delete(values, "count")
	delete(values, "until")
	values["duration"] = workload.Value{Name: "duration", Text: cmp.Or(within, find.Within), Origin: workload.OriginFlag}
	r.Values, r.Timetable = values, nil
	return r
}

// Searching returns the request for the run of a search: it begins with the first level
// rather than at full load, and with nothing that the search sets itself. A search that says
// nothing of its time has that of the request.
func Searching(r request.Request, a find.Asked) request.Request {
	if _, ok := r.Values["duration"]; !ok || a.Within != "" {
		r = Searchable(r, a.Within)
	}
	values := maps.Clone(r.Values)
	maps.DeleteFunc(values, func(name string, _ workload.Value) bool {
		_, base := rundir.TrackOf(name)
		return base == find.OverRate || base == a.Over || name == "count" || name == "until"
	})
	switch from := strings.TrimSpace(a.From); {
	case from != "":
		values[a.Over] = workload.Value{Name: a.Over, Text: from, Origin: workload.OriginFlag}
	case a.Over == find.OverThreads:
		values[a.Over] = workload.Value{Name: a.Over, Text: "1", Origin: workload.OriginFlag}
	}
	r.Values, r.Timetable, r.Of = values, nil, rundir.OfSearch
	return r
}

// NoSearch is why there is no search in the replay of a recording.
const NoSearch = "a search needs calls that do not end, and a recording has an end: w replays it at several speeds"

// CommandMsg asks to show a command in full and to put it on the clipboard; Does is what it does:
// "does this run again".
type CommandMsg struct{ Does, Text string }

// SentToClipboard is all that is known of what was copied: a terminal does not say whether it takes it.
const SentToClipboard = "sent to the terminal's clipboard"

// ShowCommand shows a command and puts it on the clipboard.
func ShowCommand(does, text string) tea.Cmd {
	return func() tea.Msg { return CommandMsg{does, text} }
}

// Copy shows the equivalent command of a request, without its secrets, and puts it on the clipboard.
func Copy(does string, r request.Request) tea.Cmd { return ShowCommand(does, command(r)) }

func command(r request.Request) string {
	r.Target = widget.HideSecrets(r.Target)
	r.Values = maps.Clone(r.Values)
	for name, v := range r.Values {
		if strings.Contains(v.Text, "://") { // a target of its own, such as that of a broker
			v.Text = widget.HideSecrets(v.Text)
			r.Values[name] = v
		}
	}
	return request.Shell(r.Words())
}

// Back returns to the screen below.
func Back() tea.Msg { return BackMsg{} }
