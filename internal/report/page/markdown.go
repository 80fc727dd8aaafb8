package page

import "strings"

// Markdown renders a page as GitHub-flavoured Markdown.
func (p Page) Markdown() string {
	var b strings.Builder
	b.WriteString("# " + escape(p.Title) + "\n")
	for _, s := range p.Lead {
		b.WriteString("\n" + escape(s) + "\n")
	}
	for _, s := range p.Notices {
		b.WriteString("\n> **Note:** " + escape(s) + "\n")
	}
	for _, s := range p.Sections {
		b.WriteString("\n## " + s.Heading + "\n")
		for _, t := range s.Text {
			b.WriteString("\n" + escape(t) + "\n")
		}
		for _, g := range s.Charts {
			if chart := g.Text(ChartWidth, ChartHeight); chart != "" {
				b.WriteString("\n```text\n" + chart + "```\n")
			}
		}
		b.WriteString(s.Table.markdown())
	}
	return b.String()
}

func (t Table) markdown() string {
	if len(t.Rows) == 0 {
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
	row(t.Columns)
	for i := range t.Columns {
		if i < t.Left {
			b.WriteString("| --- ")
		} else {
			b.WriteString("| ---: ")
		}
	}
	b.WriteString("|\n")
	for _, r := range t.Rows {
		row(r)
	}
	return b.String()
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`)

func escape(s string) string { return markdownEscapes.Replace(Plain(s)) }
