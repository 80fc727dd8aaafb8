package report

import (
	"crypto/sha256"
	_ "embed" // for the style sheet and the script
	"encoding/base64"
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// policy allows a browser to use only what is in the page.
var policy = "default-src 'none'; style-src " + hashed(style) + "; script-src " + hashed(script)

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// HTML renders a page as one file that loads nothing from elsewhere. Everything in it
// can be read without its script, which lets readers zoom into charts and copy
// commands.
func (p Page) HTML() string {
	w := &writer{}
	title := html.EscapeString(Plain(p.Title))
	w.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta name=\"color-scheme\" content=\"light dark\">\n" +
		"<title>" + title + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n<h1>" + title + "</h1>\n")
	w.figures(p.Figures)
	for _, s := range p.Lead {
		w.tag("p", "", s)
	}
	w.contents(p.Sections)
	opening, rest := p.parted()
	for _, s := range opening {
		w.section(s, 2)
	}
	for _, s := range p.Notices {
		w.tag("p", ` class="notice"`, s)
	}
	for _, s := range rest {
		w.section(s, 2)
	}
	w.WriteString("</main>\n<script>" + script + "</script>\n</body>\n</html>\n")
	return w.String()
}

// writer builds HTML.
type writer struct{ strings.Builder }

func (w *writer) tag(name, attributes, text string) {
	w.WriteString("<" + name + attributes + ">" + html.EscapeString(Plain(text)) + "</" + name + ">\n")
}

var tones = map[Tone]string{Neutral: "", Good: " good", Doubtful: " doubtful", Bad: " bad"}

// figures writes the headline figures with their error bars.
func (w *writer) figures(list []Figure) {
	if len(list) == 0 {
		return
	}
	w.WriteString("<dl class=\"figures\">\n")
	for _, f := range list {
		w.WriteString("<div class=\"figure" + tones[f.Tone] + "\"><dt>" + html.EscapeString(Plain(f.Name)) + "</dt><dd><b>" + html.EscapeString(Plain(f.Value)) + "</b>")
		if f.Range != "" {
			w.WriteString(" <span>" + html.EscapeString(Plain(f.Range)) + "</span>")
			w.bar(f)
		}
		if f.Note != "" {
			w.WriteString("<small>" + html.EscapeString(Plain(f.Note)) + "</small>")
		}
		w.WriteString("</dd></div>\n")
	}
	w.WriteString("</dl>\n")
}

// bar draws how uncertain a figure is, on as small a percentage scale as possible.
func (w *writer) bar(f Figure) {
	off := max(-f.Low, f.High)
	if !(off <= 1) { // so wide that it is meaningless
		return
	}
	scale := 1.0
	for _, s := range []float64{0.05, 0.2, 0.5} {
		if off <= s {
			scale = s
			break
		}
	}
	x := func(v float64) float64 { return 100 + 96*min(max(v/scale, -1), 1) }
	fmt.Fprintf(w, "<svg class=\"bar\" viewBox=\"0 0 200 16\" role=\"img\" aria-label=\"from %+.1f %% to %+.1f %%, on a scale of ±%.0f %%\">"+
		"<path class=\"scale\" d=\"M4 8H196M4 5v6M196 5v6\"/><path class=\"range\" d=\"M%[4]g 8H%[5]gM%[4]g 3v10M%[5]g 3v10\"/><circle cx=\"100\" cy=\"8\" r=\"4\"/></svg>",
		f.Low*100, f.High*100, scale*100, math.Round(x(f.Low)), math.Round(x(f.High)))
}

// contents links to the sections of a long page.
func (w *writer) contents(list []Section) {
	if len(list) < 6 {
		return
	}
	w.WriteString("<nav aria-label=\"Sections\"><ul>\n")
	for _, s := range list {
		w.WriteString("<li><a href=\"#" + anchor(s.Heading) + "\">" + html.EscapeString(Plain(s.Heading)) + "</a></li>\n")
	}
	w.WriteString("</ul></nav>\n")
}

func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			return r
		}
		return '-'
	}, heading)
}

// section writes a section with a heading of the given level; details are folded.
func (w *writer) section(s Section, level int) {
	h := fmt.Sprintf("h%d", level)
	id := ""
	if level == 2 {
		id = ` id="` + anchor(s.Heading) + `"`
	}
	w.WriteString("<section" + id + ">\n")
	if s.Weight == Detail {
		w.WriteString("<details><summary>")
	}
	w.tag(h, "", s.Heading)
	if s.Weight == Detail {
		w.WriteString("</summary>\n")
	}
	for _, t := range s.Text {
		w.tag("p", "", t)
	}
	w.uses(s.Uses)
	if s.Code != "" {
		w.tag("pre", ` class="code" tabindex="0"`, s.Code)
	}
	for _, g := range s.Charts {
		w.WriteString(g.Page())
	}
	w.table(s.Table, s.Heading)
	for _, part := range s.Parts {
		w.section(part, level+1)
	}
	if s.Weight == Detail {
		w.WriteString("</details>\n")
	}
	w.WriteString("</section>\n")
}

// uses writes how much of each resource was used, with a bar that is full where all of it was.
func (w *writer) uses(list []rundir.Use) {
	if len(list) == 0 {
		return
	}
	w.WriteString("<table class=\"uses\" aria-label=\"What was used\">\n<tbody>\n")
	for i := range list {
		u := &list[i]
		limit, note := "", ""
		if u.Limit {
			limit = ` class="limit"`
		}
		if u.Note != "" {
			note = "<small>, " + html.EscapeString(Plain(u.Note)) + "</small>"
		}
		w.WriteString("<tr" + limit + "><th scope=\"row\">" + html.EscapeString(Plain(u.What)) + "</th><td>")
		if part, known := u.Part(); known {
			fmt.Fprintf(w, `<svg class="use" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><path d="M0 0H100V10H0Z"/><path class="part" d="M0 0H%.1fV10H0Z"/></svg>`, 100*part)
		}
		w.WriteString("</td><td>" + html.EscapeString(u.Amount()) + note + "</td></tr>\n")
	}
	w.WriteString("</tbody>\n</table>\n")
}

// table writes a table, with its first column as row headings.
func (w *writer) table(t Table, label string) {
	if len(t.Rows) == 0 {
		return
	}
	label = html.EscapeString(Plain(label))
	w.WriteString("<div class=\"wide\" role=\"region\" aria-label=\"" + label + "\" tabindex=\"0\"><table aria-label=\"" + label + "\">\n<thead>")
	w.row(t, t.Columns, true)
	w.WriteString("</thead>\n<tbody>\n")
	for _, r := range t.Rows {
		w.row(t, r, false)
	}
	w.WriteString("</tbody>\n</table></div>\n")
}

func (w *writer) row(t Table, cells []string, head bool) {
	w.WriteString("<tr>")
	for i, c := range cells {
		tag, attributes := "td", ""
		switch {
		case head && c != "":
			tag, attributes = "th", ` scope="col"`
		case !head && i == 0 && t.Left > 0:
			tag, attributes = "th", ` scope="row"`
		}
		if !t.word(i) {
			attributes += ` class="n"`
		}
		w.WriteString("<" + tag + attributes + ">" + html.EscapeString(Plain(c)) + "</" + tag + ">")
	}
	w.WriteString("</tr>\n")
}
