package widget

// Size is the class of a terminal, which determines what fits on its screens.
type Size int

// The classes, the smallest first.
const (
	TooSmall Size = iota
	Small         // from 60×16: charts of three rows, operations in a tab
	Medium        // from 80×24: quantiles in the chart titles, four operations
	Large         // from 96×25: everything
)

// The smallest terminal on which screens are shown.
const (
	MinWidth  = 60
	MinHeight = 16
)

// SizeOf returns the class of a terminal of w×h cells.
func SizeOf(w, h int) Size {
	switch {
	case w < MinWidth || h < MinHeight:
		return TooSmall
	case w >= 96 && h >= 25:
		return Large
	case w >= 80 && h >= 24:
		return Medium
	default:
		return Small
	}
}
