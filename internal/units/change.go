package units

import (
	"fmt"
)

// manifold is the growth, as a share, from which on a factor says more than per cent do.
const manifold = 2

// Change formats by how much a figure has grown or shrunk, as a share of what it was: "+12.5 %",
// "-94.6 %"; from threefold on as a factor: "×3.7", "×160".
func Change(by float64) string {
	switch {
	case by >= manifold:
		return Factor(by + 1)
	case by > -1 && by < -0.995: // -100.0 % would be nothing at all
		return fmt.Sprintf("-%.4g %%", -100*by)
	}
	return fmt.Sprintf("%+.1f %%", 100*by)
}

// Between formats the least and the greatest change: "+2.1 … +6.3 %"; as factors if any of them is
// threefold or more: "×0.8 … ×4.2".
func Between(least, most float64) string {
	if most >= manifold {
		return Factor(least+1) + " … " + Factor(most+1)
	}
	return fmt.Sprintf("%+.1f … %+.1f %%", 100*least, 100*most)
}

// Factor formats a factor with two digits, or three where they are whole: "×3.7", "×161", "×1.61k".
func Factor(f float64) string {
	if f < 100 {
		return fmt.Sprintf("×%.2g", f)
	}
	return "×" + Number(f)
}
