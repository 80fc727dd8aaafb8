package report

import (
	_ "embed" // for the documentation
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed markdown.md
var markdownDoc string

var markdownFormat = rundir.Format{
	ID: "markdown", Title: "the same page as Markdown", Doc: markdownDoc,
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		return one("report.md", []byte(build(f).markdown())), nil
	},
}

func (p page) markdown() string {
	var b strings.Builder
	b.WriteString("# " + escape(p.title) + "\n")
	for _, s := range p.lead {
		b.WriteString("\n" + escape(s) + "\n")
	}
	for _, s := range p.notices {
		b.WriteString("\n> **Note:** " + escape(s) + "\n")
	}
	for _, s := range p.sections {
		b.WriteString("\n## " + s.heading + "\n")
		for _, t := range s.text {
			b.WriteString("\n" + escape(t) + "\n")
		}
		for _, g := range s.charts {
			if chart := g.text(chartWidth, chartHeight); chart != "" {
				b.WriteString("\n```text\n" + chart + "```\n")
			}
		}
		b.WriteString(s.table.markdown())
	}
	return b.String()
}

func (t table) markdown() string {
	if len(t.rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n")
	row := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + escape(c) + " ")
		}
		b.WriteString("|\n")
	}
	row(t.columns)
	for i := range t.columns {
		if i < t.left {
			b.WriteString("| --- ")
		} else {
			b.WriteString("| ---: ")
		}
	}
	b.WriteString("|\n")
	for _, r := range t.rows {
		row(r)
	}
	return b.String()
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`)

func escape(s string) string { return markdownEscapes.Replace(plain(s)) }
