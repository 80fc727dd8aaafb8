package report

import (
	_ "embed" // for the documentation and the style sheet
	"html"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed html.md
var htmlDoc string

//go:embed html.css
var htmlStyle string

var htmlFormat = rundir.Format{
	ID: "html", Title: "the same page in one HTML file, with drawn charts", Doc: htmlDoc,
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		return one("report.html", []byte(build(f).html())), nil
	},
}

// html renders a page as one file: no scripts, nothing loaded from elsewhere.
func (p page) html() string {
	var b strings.Builder
	title := html.EscapeString(plain(p.title))
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta name=\"color-scheme\" content=\"light dark\">\n" +
		"<title>" + title + "</title>\n<style>\n" + htmlStyle + "</style>\n</head>\n<body>\n<main>\n<h1>" + title + "</h1>\n")
	tag := func(name, class, text string) {
		b.WriteString("<" + name + class + ">" + html.EscapeString(plain(text)) + "</" + name + ">\n")
	}
	for _, s := range p.lead {
		tag("p", "", s)
	}
	for _, s := range p.notices {
		tag("p", ` class="notice"`, s)
	}
	for _, s := range p.sections {
		b.WriteString("<section>\n")
		tag("h2", "", s.heading)
		for _, t := range s.text {
			tag("p", "", t)
		}
		for _, g := range s.charts {
			b.WriteString(g.Page())
		}
		b.WriteString(s.table.html())
		b.WriteString("</section>\n")
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.String()
}

func (t table) html() string {
	if len(t.rows) == 0 {
		return ""
	}
	var b strings.Builder
	row := func(cells []string, tag string) {
		b.WriteString("<tr>")
		for i, c := range cells {
			class := ""
			if i >= t.left {
				class = ` class="n"`
			}
			b.WriteString("<" + tag + class + ">" + html.EscapeString(plain(c)) + "</" + tag + ">")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("<div class=\"wide\"><table>\n<thead>")
	row(t.columns, "th")
	b.WriteString("</thead>\n<tbody>\n")
	for _, r := range t.rows {
		row(r, "td")
	}
	b.WriteString("</tbody>\n</table></div>\n")
	return b.String()
}
