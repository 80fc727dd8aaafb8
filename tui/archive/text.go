package archive

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/tui/widget"
)

// doubts returns what keeps the comparison from being fair; empty if nothing does.
func (m *comparedRuns) doubts() string {
	return strings.Join(m.Cautions, " · ")
}

// powers says what would tell of the figures of an operation that are unsure.
func (m *comparedRuns) powers(op int) []string {
	p := m.parts[op].Pair
	unit := m.Unit(p.Operation)
	return slices.DeleteFunc([]string{p.Powers(unit), p.Advice(unit)}, func(text string) bool { return text == "" })
}

// text returns the comparison for the clipboard.
func (m *comparedRuns) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "A %s (%s)\nB %s (%s)\n", m.A.Name, widget.NameOf(m.a), m.B.Name, widget.NameOf(m.b))
	for i, p := range m.parts {
		if answer := m.Answer(p.Pair); answer != "" {
			b.WriteString("\n" + answer + "\n")
		}
		g := widget.Grid{Cols: []widget.Column{{Head: p.name}, {Head: "A", Right: true}, {Head: "B", Right: true}, {Head: "change", Right: true}, {Head: "between", Right: true}, {Head: "verdict"}}}
		for _, f := range p.Findings {
			g.Add(f.Label(m.Unit(p.Operation)), f.Text(f.A, false), f.Text(f.B, false), f.ChangeText(), f.RangeText(), f.Words())
		}
		head, rows := g.Lines(&widget.Styles{}, 200)
		b.WriteString("\n" + strings.TrimRight(head, " ") + "\n")
		for _, r := range rows {
			b.WriteString(strings.TrimRight(r, " ") + "\n")
		}
		for _, text := range m.powers(i) {
			b.WriteString(text + "\n")
		}
	}
	if doubts := m.doubts(); doubts != "" {
		b.WriteString("\n! " + doubts + "\n")
	}
	for _, n := range m.Notes {
		b.WriteString("\n" + n + "\n")
	}
	return b.String()
}
