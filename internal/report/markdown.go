package report

import "strings"

// Markdown renders a page as GitHub-flavoured Markdown: the answer first, and the rest
// folded below it.
func (p Page) Markdown() string {
	var b strings.Builder
	b.WriteString("# " + escape(p.Title) + "\n")
	b.WriteString(p.figures().markdown())
	for _, s := range p.Lead {
		b.WriteString("\n" + escape(s) + "\n")
	}
	opening, rest := p.parted()
	answers := func(list []Section) {
		for _, s := range list {
			if s.Weight == Answer {
				b.WriteString("\n## " + escape(s.Heading) + "\n")
				s.markdown(&b)
			}
		}
	}
	answers(opening)
	for _, s := range p.Notices {
		b.WriteString("\n> **Note:** " + escape(s) + "\n")
	}
	answers(rest)
	for _, s := range p.Sections {
		if s.Weight == Answer {
			continue
		}
		b.WriteString("\n<details>\n<summary>" + escape(s.Heading) + "</summary>\n")
		s.markdown(&b)
		b.WriteString("\n</details>\n")
	}
	return b.String()
}

// markdown writes what is below the heading.
func (s Section) markdown(b *strings.Builder) {
	for _, t := range s.Text {
		b.WriteString("\n" + escape(t) + "\n")
	}
	if text := usedWords(s.Uses); text != "" {
		b.WriteString("\n" + escape(text) + "\n")
	}
	if s.Code != "" {
		b.WriteString("\n```sh\n" + strings.ReplaceAll(Plain(s.Code), "```", "") + "\n```\n")
	}
	for _, g := range s.Charts {
		if chart := g.Text(ChartWidth, ChartHeight); chart != "" && !g.Over {
			b.WriteString("\n```text\n" + chart + "```\n")
		}
	}
	b.WriteString(s.Table.markdown())
	for _, part := range s.Parts {
		b.WriteString("\n### " + escape(part.Heading) + "\n")
		part.markdown(b)
	}
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
		if t.word(i) {
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
