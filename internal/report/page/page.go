// Package page is what documents for people are made of: a page of headings, sentences,
// charts and tables, which it writes as text, Markdown and HTML.
package page

// Page is a document for people before it is text, Markdown or HTML. Its texts are
// plain: what writes them takes out what could do harm.
type Page struct {
	Title string
	// Lead are the first sentences, Notices those that must not be overlooked.
	Lead     []string
	Notices  []string
	Sections []Section
}

// Section is a heading with sentences, charts and a table below it, each optional.
type Section struct {
	Heading string
	Text    []string
	Charts  []Graph
	Table   Table
}

// Empty says that there is nothing below the heading.
func (s Section) Empty() bool {
	return len(s.Text) == 0 && len(s.Charts) == 0 && len(s.Table.Rows) == 0
}

// Table has its columns' names and rows; the first Left columns are words, the
// others numbers.
type Table struct {
	Left    int
	Columns []string
	Rows    [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }
