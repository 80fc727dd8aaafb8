package chart

// dot returns the bit of a braille cell for a column 0..1 and a row 0..3 from
// the top.
//
//	0 3
//	1 4
//	2 5
//	6 7
func dot(x, y int) rune {
	if y == 3 {
		return 1 << (6 + x)
	}
	return 1 << (y + 3*x)
}

// blank is a braille cell without dots; it is drawn as a space.
const blank = 0x2800
