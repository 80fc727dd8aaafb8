package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// fit brings a line, styled or not, to exactly w cells.
func fit(line string, w int) string {
	if w <= 0 {
		return ""
	}
	n := ansi.StringWidth(line)
	if n > w {
		line = ansi.Truncate(line, w, "…")
		n = ansi.StringWidth(line)
	}
	return line + strings.Repeat(" ", w-n)
}

// fitRight is fit with the text at the right.
func fitRight(line string, w int) string {
	n := ansi.StringWidth(line)
	if n >= w {
		return fit(line, w)
	}
	return strings.Repeat(" ", w-n) + line
}

// spread puts one text at the left and one at the right of w cells; when both do
// not fit the left one is cut.
func spread(left, right string, w int) string {
	n := ansi.StringWidth(right)
	if n >= w {
		return fit(right, w)
	}
	if n > 0 && ansi.StringWidth(left) >= w-n {
		left = fit(left, w-n-1) // a gap between what is cut off and what follows
	}
	return fit(left, w-n) + right
}

// panel is a bordered box.
type panel struct {
	// title stands in the upper border; note at its right end; foot in the lower
	// border at the right. They hold no escape codes.
	title, note, foot string
	// under, when set, replaces the lower border's line between its corners; exactly
	// as wide as the inside.
	under   string
	focused bool
}

// draw fills exactly w×h cells; lines may be styled, are cut and padded.
func (p panel) draw(s *styles, w, h int, lines []string) []string {
	if w < 2 || h < 2 {
		return blankLines(w, h)
	}
	edge, head := s.line, s.title
	if p.focused {
		edge, head = s.focusLine, s.focusTitle
	}
	out := make([]string, 0, h)
	out = append(out, p.top(edge, head, s.muted, w))
	side := edge.on("│")
	for i := range h - 2 {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		out = append(out, side+fit(line, w-2)+side)
	}
	return append(out, p.bottom(edge, s.muted, w))
}

func (p panel) top(edge, head, muted ink, w int) string {
	title := ansi.Truncate(p.title, max(w-6, 0), "…")
	used := 2 // the corners
	var b strings.Builder
	b.WriteString(edge.on("╭─"))
	used++
	if title != "" {
		b.WriteString(" " + head.on(title) + " ")
		used += ansi.StringWidth(title) + 2
	}
	note := ""
	if n := ansi.StringWidth(p.note); n > 0 && used+n+3 <= w {
		note = " " + muted.on(p.note) + " " + edge.on("─")
		used += n + 3
	}
	b.WriteString(edge.on(strings.Repeat("─", max(w-used, 0))) + note + edge.on("╮"))
	return b.String()
}

func (p panel) bottom(edge, muted ink, w int) string {
	if p.under != "" {
		return edge.on("╰") + onLine(edge, muted, fit(p.under, w-2)) + edge.on("╯")
	}
	if n := ansi.StringWidth(p.foot); n > 0 && n+5 <= w {
		return edge.on("╰"+strings.Repeat("─", w-n-5)) + " " + muted.on(p.foot) + " " + edge.on("─╯")
	}
	return edge.on("╰" + strings.Repeat("─", w-2) + "╯")
}

// onLine colours a border with words on it: the words are to be read.
func onLine(edge, words ink, text string) string {
	var b strings.Builder
	for text != "" {
		n := len(text) - len(strings.TrimLeft(text, "─"))
		b.WriteString(edge.on(text[:n]))
		text = text[n:]
		if n = strings.Index(text, "─"); n < 0 {
			n = len(text)
		}
		b.WriteString(words.on(text[:n]))
		text = text[n:]
	}
	return b.String()
}

func blankLines(w, h int) []string {
	out := make([]string, max(h, 0))
	for i := range out {
		out[i] = strings.Repeat(" ", max(w, 0))
	}
	return out
}

// beside joins two columns of lines.
func beside(left, right []string) []string {
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

// page makes a screen of lines: exactly w×h cells.
func page(w, h int, lines []string) string {
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
