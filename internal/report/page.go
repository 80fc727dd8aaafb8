package report

import "github.com/perfbench/perfbench/internal/rundir"

// Page is a document for people, before it is rendered. Its texts are plain: rendering
// escapes what could do harm.
type Page struct {
	Title string
	// Figures are what a reader should remember.
	Figures []Figure
	// Lead are the first sentences; Notices those that must not be overlooked.
	Lead     []string
	Notices  []string
	Sections []Section
	// Opening is how many of the first sections stand before the notices.
	Opening int
}

// parted returns the sections before the notices and those after them.
func (p *Page) parted() (opening, rest []Section) {
	return p.Sections[:p.Opening], p.Sections[p.Opening:]
}

// Tone says whether a figure is good or bad.
type Tone int

// The tones of figures.
const (
	Neutral Tone = iota
	Good
	Doubtful
	Bad
)

// Figure is a headline figure: its value in words, and its 95 % confidence interval.
type Figure struct {
	Name, Value string
	// Range is "± 12 µs", or "" if unknown. Off is the distance of the ends of the
	// range from the value, as a fraction of the value, for drawing the error bar.
	Range     string
	Low, High float64
	// Note says how the figure compares with an earlier run, or anything else about it.
	Note string
	Tone Tone
}

// Weight says where a section is unfolded.
type Weight int

// The weights of sections. Parts of the answer are unfolded everywhere, ordinary
// sections are folded in Markdown, and details in HTML as well. Text has no folding.
const (
	Ordinary Weight = iota
	Answer
	Detail
)

// Section is a heading and what is below it; each part is optional.
type Section struct {
	Heading string
	Weight  Weight
	Text    []string
	// Uses are how much of each resource was used, drawn as bars where that is possible.
	Uses []rundir.Use
	// Code is a command that can be copied.
	Code   string
	Charts []Graph
	Table  Table
	// Parts are subsections; their weight is Ordinary or Detail, and they have no parts
	// themselves.
	Parts []Section
}

// Empty reports whether there is nothing below the heading.
func (s Section) Empty() bool {
	return len(s.Text) == 0 && len(s.Uses) == 0 && s.Code == "" && len(s.Charts) == 0 && len(s.Table.Rows) == 0 && len(s.Parts) == 0
}

// Add appends the sections that are not empty.
func (p *Page) Add(sections ...Section) {
	for _, s := range sections {
		if !s.Empty() {
			p.Sections = append(p.Sections, s)
		}
	}
}

// Table has column names and rows. The first Left columns contain words, the others
// numbers; with Words, so does the last.
type Table struct {
	Left    int
	Words   bool
	Columns []string
	Rows    [][]string
}

// word reports whether a column contains words.
func (t *Table) word(i int) bool { return i < t.Left || t.Words && i == len(t.Columns)-1 }

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// figures returns the headline figures as a table.
func (p *Page) figures() Table {
	t := Table{Left: 1, Columns: []string{"", "", "±", ""}}
	for _, f := range p.Figures {
		t.Add(f.Name, f.Value, f.Range, f.Note)
	}
	for i := len(t.Columns) - 1; i > 1; i-- { // remove empty columns
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
