// Package widget holds what the screens draw with and type into: styles, panels,
// tables, fields, sliders, the keys and the formatting of figures. It knows the
// vocabulary of a run, but no screen: what it draws depends on its arguments alone.
package widget

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Panel is a bordered box.
type Panel struct {
	// Title is in the upper border, Note at its right end, Foot in the lower border at
	// the right. They hold no escape codes.
	Title, Note, Foot string
	// Legend follows the title where there is room beside the note. It may be styled.
	Legend string
	// Under, if set, replaces the lower border's line between its corners; exactly as
	// wide as the inside.
	Under   string
	Focused bool
}

// Draw fills exactly w×h cells; lines may be styled, and are cut and padded. Where it is spoken, it
// has h lines of any width.
func (p Panel) Draw(s *Styles, w, h int, lines []string) []string {
	if s.Spoken {
		return p.spoken(h, lines)
	}
	if w < 2 || h < 2 {
		return BlankLines(w, h)
	}
	edge, head := s.Line, s.title
	if p.Focused {
		edge, head = s.focusLine, s.FocusTitle
	}
	out := make([]string, 0, h)
	out = append(out, p.top(edge, head, s.Muted, w))
	side := edge.On("│")
	for i := range h - 2 {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		out = append(out, side+Fit(line, w-2)+side)
	}
	return append(out, p.bottom(edge, s.Muted, w))
}

// spoken returns the panel as it is read: without a frame, and as long as its lines are.
func (p Panel) spoken(h int, lines []string) []string {
	out := make([]string, max(h, 2))
	out[0] = p.Title
	if p.Note != "" {
		out[0] += "  " + p.Note
	}
	copy(out[1:len(out)-1], lines)
	out[len(out)-1] = p.Foot
	return out
}

func (p Panel) top(edge, head, muted Ink, w int) string {
	title := ansi.Truncate(p.Title, max(w-6, 0), "…")
	used := 2 // the corners
	var b strings.Builder
	b.WriteString(edge.On("╭─"))
	used++
	if title != "" {
		b.WriteString(" " + head.On(title) + " ")
		used += ansi.StringWidth(title) + 2
	}
	if n := ansi.StringWidth(p.Legend); n > 0 && used+n+ansi.StringWidth(p.Note)+6 <= w {
		b.WriteString(" " + p.Legend + " ")
		used += n + 2
	}
	note := ""
	if n := ansi.StringWidth(p.Note); n > 0 && used+n+3 <= w {
		note = " " + muted.On(p.Note) + " " + edge.On("─")
		used += n + 3
	}
	b.WriteString(edge.On(strings.Repeat("─", max(w-used, 0))) + note + edge.On("╮"))
	return b.String()
}

func (p Panel) bottom(edge, muted Ink, w int) string {
	if p.Under != "" {
		return edge.On("╰") + onLine(edge, muted, Fit(p.Under, w-2)) + edge.On("╯")
	}
	if n := ansi.StringWidth(p.Foot); n > 0 && n+5 <= w {
		return edge.On("╰"+strings.Repeat("─", w-n-5)) + " " + muted.On(p.Foot) + " " + edge.On("─╯")
	}
	return edge.On("╰" + strings.Repeat("─", w-2) + "╯")
}

// onLine colours a border with words on it, keeping the words readable.
func onLine(edge, words Ink, text string) string {
	var b strings.Builder
	for text != "" {
		n := len(text) - len(strings.TrimLeft(text, "─"))
		b.WriteString(edge.On(text[:n]))
		text = text[n:]
		if n = strings.Index(text, "─"); n < 0 {
			n = len(text)
		}
		b.WriteString(words.On(text[:n]))
		text = text[n:]
	}
	return b.String()
}

// BlankLines returns h lines of w spaces.
func BlankLines(w, h int) []string {
	out := make([]string, max(h, 0))
	for i := range out {
		out[i] = strings.Repeat(" ", max(w, 0))
	}
	return out
}

// Beside joins two columns of lines.
func Beside(left, right []string) []string {
	out := make([]string, 0, max(len(left), len(right)))
	for i := range max(len(left), len(right)) {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out = append(out, l+r)
	}
	return out
}

// Page turns lines into a screen of exactly w×h cells.
func Page(w, h int, lines []string) string {
	out := make([]string, 0, h)
	for i := range h {
		if i < len(lines) {
			out = append(out, lines[i])
		} else {
			out = append(out, strings.Repeat(" ", w))
		}
	}
	return strings.Join(out, "\n")
}

// Laid draws a box, such as a dialog, over a page, its upper left corner at x, y.
func Laid(page string, box []string, x, y int) string {
	lines := strings.Split(page, "\n")
	for i, b := range box {
		if y+i < len(lines) {
			l := lines[y+i]
			lines[y+i] = ansi.Cut(l, 0, x) + b + ansi.Cut(l, x+ansi.StringWidth(b), ansi.StringWidth(l))
		}
	}
	return strings.Join(lines, "\n")
}
