// Package page is what documents for people are made of: a page of headline figures,
// sentences, charts and tables, which it writes as text, Markdown and HTML.
package page

// Page is a document for people before it is text, Markdown or HTML. Its texts are
// plain: what writes them takes out what could do harm.
type Page struct {
	Title string
	// Figures are what a reader is to remember.
	Figures []Figure
	// Lead are the first sentences, Notices those that must not be overlooked.
	Lead     []string
	Notices  []string
	Sections []Section
}

// Tone says how a figure is to be taken.
type Tone int

// The tones of figures.
const (
	Neutral Tone = iota
	Good
	Doubtful
	Bad
)

// Figure is a headline figure: its value in words, and where 95 of 100 such would lie.
type Figure struct {
	Name, Value string
	// Range is "± 12 µs", "" where nothing tells it; Off says how far the ends of the range
	// are from the value, as a share of that: the error bar.
	Range     string
	Low, High float64
	// Note says what became of it against an earlier run, or whatever else belongs to it.
	Note string
	Tone Tone
}

// Weight says where a section stays open.
type Weight int

// The weights of sections. A part of the answer is open everywhere, what is ordinary is
// folded in Markdown, and details are in HTML as well. Text has no folds.
const (
	Ordinary Weight = iota
	Answer
	Detail
)

// Section is a heading with what is below it, each part optional.
type Section struct {
	Heading string
	Weight  Weight
	Text    []string
	// Code is a command that can be copied.
	Code   string
	Charts []Graph
	Table  Table
	// Parts are sections of their own under smaller headings; their weight is Ordinary or
	// Detail, and theirs have no parts.
	Parts []Section
}

// Empty says that there is nothing below the heading.
func (s Section) Empty() bool {
	return len(s.Text) == 0 && s.Code == "" && len(s.Charts) == 0 && len(s.Table.Rows) == 0 && len(s.Parts) == 0
}

// Add appends the sections that have anything to say.
func (p *Page) Add(sections ...Section) {
	for _, s := range sections {
		if !s.Empty() {
			p.Sections = append(p.Sections, s)
		}
	}
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

// figures are the headline figures as a table.
func (p *Page) figures() Table {
	t := Table{Left: 1, Columns: []string{"", "", "±", ""}}
	for _, f := range p.Figures {
		t.Add(f.Name, f.Value, f.Range, f.Note)
	}
	for i := len(t.Columns) - 1; i > 1; i-- { // columns without anything in them
		some := false
		for _, r := range t.Rows {
			some = some || r[i] != ""
		}
		if some {
			continue
		}
		t.Columns = append(t.Columns[:i], t.Columns[i+1:]...)
		for k, r := range t.Rows {
			t.Rows[k] = append(r[:i], r[i+1:]...)
		}
	}
	return t
}
