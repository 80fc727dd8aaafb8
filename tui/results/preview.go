package results

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// mostPreviews is how many runs a Preview keeps.
const mostPreviews = 16

// Preview shows beside a list of runs what the selected one came to: the beginning of its first page. It
// reads one run at a time, and belongs to the event loop.
type Preview struct {
	bench   Bench
	reading string // id; empty: none is being read
	runs    []preview
}

// preview is a run that was read, or why it cannot be, and what was drawn of it last.
type preview struct {
	id     string
	run    *loadedRun
	err    error
	w, h   int
	styles *widget.Styles
	lines  []string
}

// previewMsg delivers a run that a Preview asked for.
type previewMsg struct {
	of *Preview
	preview
}

// NewPreview returns one that has read nothing.
func NewPreview(b Bench) *Preview { return &Preview{bench: b} }

// Read returns the command that reads a run, which reads files; nil if it was read or another one is being
// read: ask again then.
func (p *Preview) Read(id string) tea.Cmd {
	if id == "" || p.reading != "" || p.find(id) != nil {
		return nil
	}
	p.reading = id
	return func() tea.Msg {
		run, err := loadRun(p.bench, id)
		return previewMsg{p, preview{id: id, run: run, err: err}}
	}
}

// Take takes what a command of Read has read; it ignores other messages.
func (p *Preview) Take(msg tea.Msg) {
	m, ours := msg.(previewMsg)
	if !ours || m.of != p {
		return
	}
	p.reading = ""
	p.runs = append([]preview{m.preview}, p.runs[:min(len(p.runs), mostPreviews-1)]...)
}

// find returns a run that was read; nil if it was not.
func (p *Preview) find(id string) *preview {
	for i := range p.runs {
		if p.runs[i].id == id {
			return &p.runs[i]
		}
	}
	return nil
}

// Draw draws a run in a panel of h lines with this title; as long as it is not there, the panel is empty.
func (p *Preview) Draw(e screen.Env, id, title string, h int) []string {
	s, w := e.Styles, e.Styles.TextWidth(e.W-4)
	panel := widget.Panel{Title: title}
	r := p.find(id)
	switch {
	case r == nil:
		return panel.Draw(s, e.W, h, nil)
	case r.err != nil:
		return panel.Draw(s, e.W, h, widget.Indent(widget.Sentences(s, r.err, w)))
	}
	if r.lines == nil || r.w != w || r.h != h || r.styles != s {
		r.w, r.h, r.styles = w, h, s
		r.lines = widget.Indent(r.run.glance(s, w, h-2))
	}
	panel.Foot = "enter opens it"
	return panel.Draw(s, e.W, h, r.lines[:min(len(r.lines), h-2)])
}

// glance is what the pages of a run begin with, in at most h lines: what a search found, of other runs the main
// figures, the charts as tall as there is room, if there is any beside an operation, and each operation.
func (l *loadedRun) glance(s *widget.Styles, w, h int) []string {
	if l.found != nil {
		return searched(s, l.found, w, h)
	}
	head, table := l.head(s, nil, w, false), l.operations(s, w)
	var drawn []string
	if room := h - len(head) - 2; room-2 >= leastOne { // a row of the table, with its head
		drawn = l.drawn(s, &moment{}, len(head), w, room-min(len(table), mostFirst), 0)
	}
	return slices.Concat(head, drawn, []string{""}, table)
}
