// Command termsvg turns a captured terminal screen, text with escape codes on stdin,
// into an SVG picture on stdout. Several screens separated by form feeds become an
// animation, which needs no script. It draws the screens of the README; see
// .ci/screens.
package main

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A cell of the picture, in its own units, and the colours of the dark theme.
const (
	cellWidth, cellHeight, margin = 8.4, 17, 12
	background, foreground        = "#16181f", "#d8dbe5"
)

// look is the style in which text is drawn.
type look struct {
	color, back         string
	bold, faint, invert bool
}

func main() {
	if err := draw(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "termsvg:", err)
		os.Exit(1)
	}
}

func draw(r io.Reader, w io.Writer) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	var frames [][]string
	wide, high := 0, 0
	for frame := range strings.SplitSeq(string(data), "\f") {
		lines := strings.Split(strings.TrimRight(frame, "\n"), "\n")
		for _, l := range lines {
			wide = max(wide, ansi.StringWidth(l))
		}
		high = max(high, len(lines))
		frames = append(frames, lines)
	}
	out := bufio.NewWriter(w)
	width, height := float64(wide)*cellWidth+2*margin, high*cellHeight+2*margin
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d">`+"\n", width, height, width, height)
	if len(frames) > 1 {
		fmt.Fprintln(out, style(len(frames)))
	}
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	fmt.Fprintf(out, `<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14" fill="%s">`+"\n", foreground)
	for y, list := range spans(frames, high) {
		for _, s := range list {
			if s.frames == len(frames) {
				drawLine(out, s.line, y, s.look)
				continue
			}
			last := ""
			if s.from+s.frames == len(frames) {
				last = " l"
			}
			fmt.Fprintf(out, `<g class="f k%d%s" style="animation-delay:%ds">`+"\n", s.frames, last, s.from*frameSeconds)
			drawLine(out, s.line, y, s.look)
			fmt.Fprintln(out, "</g>")
		}
	}
	fmt.Fprintln(out, "</g>\n</svg>")
	return out.Flush()
}

// frameSeconds is how long a frame of an animation is shown.
const frameSeconds = 1

// style has a class for each number of consecutive frames that a line may be shown for,
// in an endless loop. With reduced motion only the last frame is shown.
func style(frames int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<style>.f{visibility:hidden;animation:%ds step-end infinite}", frames*frameSeconds)
	for k := 1; k < frames; k++ {
		fmt.Fprintf(&b, ".k%d{animation-name:k%d}@keyframes k%d{0%%{visibility:visible}%.3f%%{visibility:hidden}}", k, k, k, 100*float64(k)/float64(frames))
	}
	return b.String() + "@media (prefers-reduced-motion:reduce){.f{animation:none}.l{visibility:visible}}</style>"
}

// span is a line of the screen that stays the same over several frames.
type span struct {
	line         string
	look         look // at the beginning of the line
	from, frames int
}

// spans returns the spans of each line, so that what does not change is drawn only
// once.
func spans(frames [][]string, high int) [][]span {
	out := make([][]span, high)
	for i, lines := range frames {
		var now look
		for y, l := range lines {
			n := len(out[y])
			if n > 0 && out[y][n-1].line == l && out[y][n-1].look == now && out[y][n-1].from+out[y][n-1].frames == i {
				out[y][n-1].frames++
			} else {
				out[y] = append(out[y], span{l, now, i, 1})
			}
			now = drawLine(io.Discard, l, y, now)
		}
	}
	return out
}

// drawLine draws the runs of equal style in a line and returns the style at its end.
func drawLine(w io.Writer, line string, y int, now look) look {
	x := 0
	for line != "" {
		if strings.HasPrefix(line, "\x1b[") {
			end := strings.IndexAny(line, "mKhl")
			if end < 0 {
				return now
			}
			if line[end] == 'm' {
				now = now.after(line[2:end])
			}
			line = line[end+1:]
			continue
		}
		end := strings.IndexByte(line, '\x1b')
		switch {
		case end < 0:
			end = len(line)
		case end == 0: // another escape code, of two bytes
			line = line[min(2, len(line)):]
			continue
		}
		now.text(w, line[:end], x, y)
		x += ansi.StringWidth(line[:end])
		line = line[end:]
	}
	return now
}

// text draws one run of text at a cell.
func (k look) text(w io.Writer, s string, x, y int) {
	cells := ansi.StringWidth(s)
	left := margin + float64(x)*cellWidth
	behind := k.back
	if k.invert {
		behind = k.or(foreground)
	}
	if behind != "" {
		fmt.Fprintf(w, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, margin+y*cellHeight, float64(cells)*cellWidth, cellHeight, behind)
	}
	attr := ""
	switch {
	case k.invert:
		attr = fmt.Sprintf(` fill="%s"`, background)
	case k.color != "":
		attr = fmt.Sprintf(` fill="%s"`, k.color)
	}
	if k.bold {
		attr += ` font-weight="bold"`
	}
	if k.faint {
		attr += ` opacity=".6"`
	}
	for s != "" {
		shown := strings.TrimLeft(s, " ")
		left += float64(len(s)-len(shown)) * cellWidth
		end := piece(shown)
		shown, s = shown[:end], shown[end:]
		next := left + float64(ansi.StringWidth(shown))*cellWidth
		if shown = strings.TrimRight(shown, " "); shown == "" {
			return
		}
		// A fixed length keeps columns aligned whatever the font. Characters from a
		// font other than that of letters are stretched to the width of a cell.
		fit := ""
		if r, n := utf8.DecodeRuneInString(shown); fontOf(r) != 0 && n < len(shown) {
			fit = ` lengthAdjust="spacingAndGlyphs"`
		}
		fmt.Fprintf(w, `<text x="%.1f" y="%d" textLength="%.1f"%s%s>`, left, margin+y*cellHeight+13, float64(ansi.StringWidth(shown))*cellWidth, fit, attr)
		_ = xml.EscapeText(w, []byte(shown)) // draw's writer keeps the error
		fmt.Fprintln(w, "</text>")
		left = next
	}
}

// piece returns how many bytes of text, which does not begin with a space, are drawn as
// one piece: up to two consecutive spaces, which browsers collapse, and up to
// characters that may come from another font, as the width of those would be spread
// over the rest.
func piece(s string) int {
	font := rune(-1)
	for i, r := range s {
		if r == ' ' {
			if strings.HasPrefix(s[i:], "  ") || font != 0 {
				return i
			}
			continue
		}
		if font < 0 {
			font = fontOf(r)
		}
		if fontOf(r) != font {
			return i
		}
	}
	return len(s)
}

// fontOf returns a number for the font that a character may come from: 0 is that of
// letters, which also has lines and blocks; others are distinguished by their range.
func fontOf(r rune) rune {
	if r < 0x2100 || r >= '─' && r <= '▟' {
		return 0
	}
	return r >> 8
}

func (k look) or(other string) string {
	if k.color == "" {
		return other
	}
	return k.color
}

// after returns the style after the parameters of an SGR sequence; of colours it
// supports direct ones and the default.
func (k look) after(params string) look {
	p := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if len(p) == 0 {
		return look{}
	}
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case "0":
			k = look{}
		case "1":
			k.bold = true
		case "2":
			k.faint = true
		case "7":
			k.invert = true
		case "22":
			k.bold, k.faint = false, false
		case "27":
			k.invert = false
		case "39":
			k.color = ""
		case "49":
			k.back = ""
		case "38", "48":
			of := &k.color
			if p[i] == "48" {
				of = &k.back
			}
			switch {
			case i+4 < len(p) && p[i+1] == "2":
				*of = "#" + hex(p[i+2]) + hex(p[i+3]) + hex(p[i+4])
				i += 4
			case i+2 < len(p): // from the terminal's own palette
				i += 2
			}
		}
	}
	return k
}

func hex(s string) string {
	n, err := strconv.Atoi(s)
	if err != nil {
		n = 0
	}
	return fmt.Sprintf("%02x", n&255)
}
