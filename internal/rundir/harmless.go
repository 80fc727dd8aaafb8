package rundir

import (
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/infile"
)

// formulas are what a cell begins with that a spreadsheet takes for a formula.
const formulas = "=+-@\t"

// Cell returns a text that a spreadsheet takes for text or a number, and that controls
// nothing that shows it; uncell returns what it was.
func Cell(s string) string {
	if s = infile.Clean(s); s == "" || !strings.ContainsRune(formulas, rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}

// Cells is Cell of a text that stands in a table without quotes, where each comma parts two
// cells.
func Cells(s string) string {
	cells := strings.Split(s, ",")
	for i, c := range cells {
		text := strings.TrimLeft(c, " ")
		cells[i] = c[:len(c)-len(text)] + Cell(text)
	}
	return strings.Join(cells, ",")
}

func uncell(s string) string {
	if len(s) > 1 && s[0] == '\'' && strings.ContainsRune(formulas, rune(s[1])) {
		return s[1:]
	}
	return infile.Clean(s)
}
