package results

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// loadedRun is a run directory with what the screens derive from it; never modified
// once made, so that any goroutine may read it.
type loadedRun struct {
	folder  *rundir.Folder
	summary string
	course  curves
	// found is the result of the run's search; nil without one.
	found *find.Result
	// answers are those that the run compared; nil if it compared none.
	answers *workload.Answers
	// effects are what each live change did.
	effects []effect.Effect
	// why is what limited the run.
	why *rundir.Why
	// all is the distribution of every call, ops those by operation.
	all chart.Distribution
	ops []chart.Distribution
	// samples are the means of what was sampled, counters how the store's own went.
	samples  []rundir.Sample
	counters chart.Course
}

// loadedMsg delivers a run that was requested.
type loadedMsg struct {
	id  string
	run *loadedRun
	err error
}

// loadRun reads a run and computes its charts, in the background.
func loadRun(b Bench, id string) (*loadedRun, error) {
	f, err := b.Load(id)
	if err != nil {
		return nil, err
	}
	l := &loadedRun{folder: f, summary: report.Summary(f), course: curvesOf(f), why: report.Why(f), answers: report.AnswersOf(&f.Run), effects: effect.Effects(effect.Of(f))}
	if l.found, err = find.Load(f.Dir); err != nil {
		return nil, err
	}
	l.samples, l.counters = chart.OfRun(f)
	var whole []chart.Distribution
	for _, o := range f.Run.Operations {
		d := chart.NewDistribution(f.Histograms[hlog.Tag(o.Track, o.Op, hlog.Response)])
		l.ops = append(l.ops, d)
		if f.Run.Counts(o) {
			whole = append(whole, d)
		}
	}
	l.all = chart.Merged(whole)
	return l, nil
}

// subject is the run that is shown.
type subject struct {
	id string
	// outcome is the outcome of a run of this session; nil for an earlier run.
	outcome *screen.Outcome
	loaded  *loadedRun // nil until it is read
	err     error      // of reading it
	changed bool       // its note or its tags, since it was read
}

// read reads the run in the background.
func (s *subject) read(b Bench) tea.Cmd {
	if s.id == "" {
		return nil
	}
	id := s.id
	return func() tea.Msg {
		run, err := loadRun(b, id)
		return loadedMsg{id, run, err}
	}
}

// going reports whether the run that was read had not ended.
func (s *subject) going() bool {
	return s.loaded != nil && s.loaded.folder.Run.EndedBy == rundir.StillRunning
}

// arrived takes the run that was read; false if it is another, or there already with all
// that it has.
func (s *subject) arrived(msg loadedMsg) bool {
	if msg.id != s.id || s.loaded != nil && (!s.going() && !s.changed || msg.err != nil) {
		return false
	}
	s.loaded, s.err, s.changed = msg.run, msg.err, false
	return true
}

// missing explains why there is nothing to export, copy, compare or repeat.
func (s *subject) missing() string {
	switch {
	case s.id == "" && s.outcome != nil && s.outcome.Watched:
		return "the report of this run is on the machine that drove it"
	case s.id == "" && s.outcome != nil && s.outcome.Problem() != "":
		return "this run has no report: " + s.outcome.Problem()
	case s.id == "":
		return "this run has no report"
	case s.err != nil:
		return "the report cannot be read: " + firstLine(s.err)
	}
	return "the report cannot be read"
}

// reading reports whether the run is still being read for the first time.
func (s *subject) reading() bool {
	return s.id != "" && s.loaded == nil && s.err == nil
}

// text returns what is copied: the summary of the report, else of the outcome.
func (s *subject) text() string {
	if s.loaded != nil {
		return s.loaded.summary
	}
	if s.outcome != nil {
		return s.outcome.Summary
	}
	return ""
}

// asked returns the request of a run like this one, which has been read.
func (s *subject) asked() request.Request { return report.Asked(&s.loaded.folder.Run) }

// tuned returns how many live changes that were made by hand the same run again makes, too, counted as the
// page of changes has them.
func (s *subject) tuned() (n int) {
	if s.loaded == nil || s.loaded.found != nil {
		return 0
	}
	run := &s.loaded.folder.Run
	if len(s.asked().Timetable) == len(run.Timetable) {
		return 0
	}
	for _, a := range run.Did() {
		if a.By != measure.ByTimetable || len(run.Timetable) == 0 {
			n++
		}
	}
	return n
}

// untuned is the request of the same run again without them.
func (s *subject) untuned() request.Request {
	req := s.asked()
	req.Timetable = s.loaded.folder.Run.Timetable
	return req
}

// advised is the search that what the run found says to make next; nil if it says none.
func (s *subject) advised() *find.Asked {
	if s.loaded == nil || s.loaded.found == nil {
		return nil
	}
	return s.loaded.found.Advised()
}

// headline names the run and shows in a word whether it can be trusted.
func (s *subject) headline(e screen.Env) string {
	st := e.Styles
	title, at, right := "Results", "", ""
	if s.loaded != nil {
		run := &s.loaded.folder.Run
		title, at = "Results · "+widget.NameOf(run), " · "+kept.Day(run.Started, e.Now)
		word, k := widget.Trust(st, run)
		right = k.On(word) + " "
	} else if s.outcome != nil && s.outcome.Problem() != "" {
		right = st.Bad.On("✗ failed") + " "
	}
	return widget.Spread(" "+st.Bold.On(title)+st.Muted.On(at), right, e.W)
}

// place is the line that says where the run is; empty while nothing is loaded.
func (s *subject) place(e screen.Env) string {
	if s.loaded == nil {
		return widget.Fit("", e.W)
	}
	if s.going() && (s.outcome == nil || s.outcome.Watched) {
		return widget.Fit(e.Styles.Muted.On(" watching: another perfbench drives this run, and no key here changes it"), e.W)
	}
	const lead = " written to "
	return widget.Fit(e.Styles.Muted.On(lead+widget.PathIn(s.loaded.folder.Dir, e.W-len(lead)-1)), e.W)
}

// wrapped breaks a line of a summary that is longer than w: what follows begins below its first
// word, or below its second column.
func wrapped(line string, w int) []string {
	if ansi.StringWidth(line) <= w {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	lead := len(line) - len(text)
	if at := strings.Index(text, "  "); at > 0 && at < w/3 {
		lead += at + len(text[at:]) - len(strings.TrimLeft(text[at:], " "))
	}
	rows := widget.Wrap(line[lead:], max(w-lead, 12))
	for i := range rows {
		if i == 0 {
			rows[i] = line[:lead] + rows[i]
		} else {
			rows[i] = strings.Repeat(" ", lead) + rows[i]
		}
	}
	return rows
}

// instead is the page while nothing is loaded: the run is being read, is not readable,
// or has written nothing.
func (s *subject) instead(st *widget.Styles, w int) []string {
	var out []string
	if s.err != nil {
		out = append(out, "", st.Bad.On("The run cannot be read"), "")
		out = append(out, widget.Sentences(st, s.err, w)...)
	}
	if o := s.outcome; o != nil {
		if o.Err != nil {
			out = append(out, "", st.Bad.On("The run has failed"), "")
			out = append(out, widget.Sentences(st, o.Err, w)...)
		}
		if o.Note != "" {
			out = append(out, "")
			out = append(out, widget.Wrap(o.Note, w)...)
		}
		if reading := s.err == nil && s.id != ""; o.Summary != "" && !st.Spoken && !reading { // the page has it all
			out = append(out, "")
			for l := range strings.SplitSeq(strings.TrimRight(ansi.Strip(o.Summary), "\n"), "\n") {
				out = append(out, wrapped(l, w)...)
			}
		}
	}
	switch {
	case s.err == nil && s.id != "":
		out = append(out, "", st.Muted.On("Reading "+s.id+" …"))
	case s.id == "" && len(out) == 0:
		out = append(out, "", st.Muted.On("The run has no report, and why is not known."))
	case s.outcome != nil && s.outcome.Dir != "":
		out = append(out, "")
		out = append(out, widget.MutedLines(st, "Its files are in "+s.outcome.Dir, w)...)
	}
	return out
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
