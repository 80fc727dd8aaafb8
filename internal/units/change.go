package units

import (
	"fmt"
	"strings"
)

// doubled is the growth, as a share, from which on changes are told as factors: less is in per cent. What would
// be rounded to +100 % is a doubling.
const doubled = 0.995

// Change formats by how much a figure has grown or shrunk, as a share of what it was: "+12.5 %",
// "−94.6 %"; from a doubling on as a factor: "×2", "×160".
func Change(by float64) string {
	switch {
	case by >= doubled:
		return Factor(by + 1)
	case by > -1 && by < -0.995: // −100.0 % would be nothing at all
		return fmt.Sprintf("−%.4g %%", -100*by)
	}
	return Minus(fmt.Sprintf("%+.1f %%", 100*by))
}

// Between formats the least and the greatest that a change may be, in the same way as the change:
// "+2.1 … +6.3 %", or "×1.8 … ×4.2".
func Between(by, least, most float64) string {
	if by >= doubled {
		from, to := Factor(least+1), Factor(most+1)
		if from == to {
			from, to = fmt.Sprintf("×%.4g", least+1), fmt.Sprintf("×%.4g", most+1)
		}
		return from + " … " + to
	}
	return Minus(fmt.Sprintf("%+.1f … %+.1f %%", 100*least, 100*most))
}

// Minus writes the signs of numbers as people do: "−5".
func Minus(text string) string { return strings.ReplaceAll(text, "-", "−") }

// Factor formats a factor with two digits, or three where they are whole: "×3.7", "×161", "×1.61k".
func Factor(f float64) string {
	if f < 100 {
		return fmt.Sprintf("×%.2g", f)
	}
	return "×" + Number(f)
}
