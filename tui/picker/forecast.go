package picker

import (
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// forecast is what the selected profile with its settings would do, or why it would not.
type forecast struct {
	planner Planner
	// asked numbers the previews requested; got is the number of the newest one
	// received.
	asked, got int
	preview    *request.Preview
	err        error
	// last is the newest preview without a fault for each profile.
	last map[string]*request.Preview
	// wanted returns where to go as soon as the preview has arrived; nil if nothing is
	// requested.
	wanted func(request.Request) screen.Destination

	scroll int
	long   bool // it is longer than its panel
}

// previewMsg delivers the preview with number asked.
type previewMsg struct {
	number  int
	preview *request.Preview
	err     error
}

// ask requests the preview of a request for a profile, which may be nil.
func (f *forecast) ask(pr *workload.Profile, req request.Request) tea.Cmd {
	f.asked++
	if pr == nil || !built(pr) {
		f.got, f.preview, f.err = f.asked, nil, nil
		return nil
	}
	number, planner := f.asked, f.planner
	req.Values, req.Files = maps.Clone(req.Values), slices.Clone(req.Files)
	return func() tea.Msg {
		preview, err := planner.Preview(req)
		return previewMsg{number, preview, err}
	}
}

// arrived takes a preview of a profile; false if it has been overtaken by a newer one.
func (f *forecast) arrived(msg previewMsg, profile string) bool {
	if msg.number != f.asked {
		return false
	}
	f.got, f.preview, f.err = msg.number, msg.preview, msg.err
	if msg.err == nil && msg.preview != nil {
		f.last[profile] = msg.preview
	}
	return true
}

// replays reports whether a recording would be replayed.
func (f *forecast) replays() bool {
	return f.preview != nil && f.preview.Plan != nil && f.preview.Plan.Replays
}

// current reports whether the newest request has been answered.
func (f *forecast) current() bool { return f.got == f.asked }

// forget drops what was foreseen for another profile.
func (f *forecast) forget() { f.preview, f.err, f.scroll = nil, nil, 0 }

// of returns the preview to show for a profile: the newest, else the last without a fault;
// nil without either.
func (f *forecast) of(profile string) *request.Preview {
	if f.preview != nil {
		return f.preview
	}
	return f.last[profile]
}

// title is the heading of the panel.
func (f *forecast) title() string {
	if f.err != nil {
		return "This cannot start"
	}
	return "What will happen"
}

// brief is what of lines has room in so many: what matters most, in any case, and of the rest each part that is
// whole; false if there is more.
func brief(parts [][]string, most int) (lines []string, whole bool) {
	for i, part := range parts {
		if i > 0 && len(lines)+len(part) > most {
			return lines, false
		}
		lines = append(lines, part...)
	}
	return lines, true
}

// parts describe what will happen, or why the run cannot start: what matters most first, where, for how long, with
// what load, what is deleted and with which data, then each of the rest.
func (f *forecast) parts(s *widget.Styles, pr *workload.Profile, r request.Request, w int) [][]string {
	if text := f.instead(s, pr, w); text != nil {
		return [][]string{text}
	}
	return archive.Foreseen(s, f.preview, r.Thresholds, w)
}

// instead is what there is to say where there is no plan; nil if there is one.
func (f *forecast) instead(s *widget.Styles, pr *workload.Profile, w int) []string {
	switch {
	case pr == nil:
		return []string{s.Muted.On("There is no profile to choose.")}
	case !built(pr):
		return append(widget.Wrap(pr.Summary, w), "", s.Muted.On("Planned: it cannot be run yet."))
	case f.err != nil:
		var out []string
		for _, l := range widget.Sentences(s, asInForm(f.err), w) {
			plain, ink := ansi.Strip(l), s.Bad
			if plain != l {
				ink = s.Muted // advice
			}
			out = append(out, ink.On(widget.Unflagged(plain)))
		}
		return out
	case f.preview == nil:
		return []string{s.Muted.On("Working out the plan …")}
	}
	return nil
}

// asInForm has each part of an error begin with the name that the form has for its value.
func asInForm(err error) error {
	parts := fault.Parts(err)
	if len(parts) == 1 {
		parts = []error{err} // with the hint of the whole
	}
	var out workload.Problems
	for _, part := range parts {
		name := fault.FieldOf(part)
		if rest, is := strings.CutPrefix(part.Error(), name); is && label(name) != name && strings.IndexAny(rest, ": ") == 0 {
			part = fault.Hint(fault.Sentence(label(name)+rest, part), fault.HintOf(part))
		}
		out.Add(part)
	}
	return out.Err()
}

// elsewhere returns a request for use outside the workbench, where the default
// length differs: it has it set explicitly, and the preset, too.
func (f *forecast) elsewhere(r request.Request) request.Request {
	if f.preview == nil {
		return r
	}
	if v, ok := archive.LineOf(f.preview.Run, "preset"); ok && r.Preset == "" && len(r.Files) == 0 {
		r.Preset = v.Text
	}
	if v, ok := archive.LineOf(f.preview.Run, "duration"); ok && v.Text == workload.Forever {
		r.Values = without(r.Values, v.Name)
		r.Values[v.Name] = workload.Value{Name: v.Name, Text: v.Text, Origin: workload.OriginFlag}
	}
	return r
}
