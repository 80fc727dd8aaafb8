package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/profiles/authz/model"
)

// shape identifies the published tests: their phases, and tenants at a time.
type shape struct{ phases, concurrent int }

// published returns the rates in the original's two tables, phase by phase in the order
// of the columns, without the times in the second one. They were published in 2012,
// from one laptop with one Cassandra node and one Node process.
func published(f *Facts) [][]float64 {
	tables := map[string]map[shape][][]float64{
		ModeChecks: {
			{1, 1}: {{7.9, 266.4, 186.5, 1133.6, 245.9}},
			{1, 4}: {{3.63, 84.4, 57.58, 1893.2, 298.5}},
			{3, 4}: {{3.57, 86.2, 61.5, 692, 94.3}, {2.6, 32.6, 23.3, 232.8, 95.1}, {2.4, 20, 14.7, 393.4, 99.3}},
		},
		ModeProfiles: {
			{1, 1}: {{1148.5, 424.5}},
			{1, 4}: {{423.5, 123.2}},
			{3, 4}: {{458.6, 87}, {287, 83.8}, {290.5, 121.9}},
		},
	}
	return tables[f.Mode][shape{len(f.Phases), f.Concurrent}]
}

// difference is a table of measured and published rates.
type difference struct {
	head []string
	rows [][]string
	// other means that the memberships differ from those behind the published figures.
	other bool
}

// add compares a test with its published figures; if there are none, it adds nothing.
func (d *difference) add(x test, f *Facts) {
	figures := published(f)
	d.other = d.other || figures != nil && f.Mode == ModeChecks && f.Membership != model.Committed
	name, _, _ := strings.Cut(x.title, ":")
	for k, want := range figures {
		if k >= len(x.rows) {
			return
		}
		line := []string{name, x.rows[k][0]}
		for i, v := range want {
			line = append(line, compared(x.rows[k][i+1], v))
		}
		d.rows = append(d.rows, line)
	}
}

// compared formats a rate next to the published one, with their ratio.
func compared(cell string, want float64) string {
	got, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return "– / " + strconv.FormatFloat(want, 'f', -1, 64)
	}
	return fmt.Sprintf("%s / %s (×%s)", cell, strconv.FormatFloat(want, 'f', -1, 64), strconv.FormatFloat(got/want, 'g', 3, 64))
}

// markdown returns the table, nil if nothing was published for any test.
func (d *difference) markdown() []byte {
	if len(d.rows) == 0 {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("# Measured and published\n\nEach cell: measured / published (how many times the published rate). The published figures are of\n" +
		"2012, of one laptop with one Cassandra node and one Node process: they say how the tests\nrelate to each other rather than how fast a store is.\n\n")
	if d.other {
		b.WriteString("The original's code lost the memberships of users while it read its files: it loaded a tenth of what was\n" +
			"loaded here, and every check of its sweep was denied after few reads. `--set membership=oae-committed`\nloads what it loaded.\n\n")
	}
	columns := len(d.rows[0])
	b.WriteString("| Test | " + strings.Join(d.head[:columns-1], " | ") + " |\n|" + strings.Repeat(" --- |", columns) + "\n")
	for _, r := range d.rows {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
	return b.Bytes()
}
