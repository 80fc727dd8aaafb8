package page

import (
	_ "embed" // for the style sheet
	"html"
	"strings"
)

//go:embed html.css
var htmlStyle string

// HTML renders a page as one file: no scripts, nothing loaded from elsewhere.
func (p Page) HTML() string {
	var b strings.Builder
	title := html.EscapeString(Plain(p.Title))
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta name=\"color-scheme\" content=\"light dark\">\n" +
		"<title>" + title + "</title>\n<style>\n" + htmlStyle + "</style>\n</head>\n<body>\n<main>\n<h1>" + title + "</h1>\n")
	tag := func(name, class, text string) {
		b.WriteString("<" + name + class + ">" + html.EscapeString(Plain(text)) + "</" + name + ">\n")
	}
	for _, s := range p.Lead {
		tag("p", "", s)
	}
	for _, s := range p.Notices {
		tag("p", ` class="notice"`, s)
	}
	for _, s := range p.Sections {
		b.WriteString("<section>\n")
		tag("h2", "", s.Heading)
		for _, t := range s.Text {
			tag("p", "", t)
		}
		for _, g := range s.Charts {
			b.WriteString(g.Page())
		}
		b.WriteString(s.Table.html())
		b.WriteString("</section>\n")
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.String()
}

func (t Table) html() string {
	if len(t.Rows) == 0 {
		return ""
	}
	var b strings.Builder
	row := func(cells []string, tag string) {
		b.WriteString("<tr>")
		for i, c := range cells {
			class := ""
			if i >= t.Left {
				class = ` class="n"`
			}
			b.WriteString("<" + tag + class + ">" + html.EscapeString(Plain(c)) + "</" + tag + ">")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("<div class=\"wide\"><table>\n<thead>")
	row(t.Columns, "th")
	b.WriteString("</thead>\n<tbody>\n")
	for _, r := range t.Rows {
		row(r, "td")
	}
	b.WriteString("</tbody>\n</table></div>\n")
	return b.String()
}
