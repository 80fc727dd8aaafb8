package generate

import (
	"bytes"
	"fmt"
	"math"
)

// The documented body is a JSON array of one table. Rows have a name, an expected
// value, a status and an operation; the first third of them contains random letters,
// the rest a fixed text, and one more row pads it to the requested size. The amount of
// random letters determines how well it compresses.
const (
	DocumentedBody = 1155
	bodyOpen       = `[{"type":"table","rows":[`
	bodyPadding    = `{"padding":"`
	bodyClose      = `"}]}]`
	fixedText      = "expected"
	maxRows        = 10_000
)

// slot is a part of the template to be filled with random letters.
type slot struct{ from, to int }

// tableBody is the template for bodies of one size. It is never modified.
type tableBody struct {
	size  int
	text  []byte
	slots []slot
}

func tableRow(i int, value []byte) []byte {
	return fmt.Appendf(nil, `{"name":"field_%02d","expected":"%s","status":"PASSED","operation":"EQUAL"},`, i, value)
}

// randomChars returns how many random letters a body of this size must have for a batch
// of 300 such events to compress about ratio times with LZ4. Compressed, a letter takes
// a byte; the rest of an event takes 44 bytes, plus 6.6 for each row with letters.
func randomChars(size int, ratio float64) (n int) {
	const others = 190 // bytes of content other than the body
	for range 3 {      // with fewer letters there is room for more rows
		rest := float64(size+others)/ratio - 44 - 6.6*float64(randomRows(rowsFor(size, n)))
		n = int(min(max(math.Round(rest), 0), float64(size)))
	}
	return n
}

// emptyRow is the length of a row without a value.
var emptyRow = len(tableRow(0, nil))

// randomRows returns how many of the rows contain random letters.
func randomRows(rows int) int { return max(rows/3, 1) }

// rowsSize returns the length of that many rows without their random letters.
func rowsSize(rows int) int {
	return rows*emptyRow + (rows-randomRows(rows))*len(fixedText) + max(rows-100, 0) + max(rows-1000, 0) // more digits
}

// leastTable is the length of a table without rows.
const leastTable = len(bodyOpen) + len(bodyPadding) + len(bodyClose)

// rowsFor returns how many rows fit in addition to the random letters: 12 for the
// documented size.
func rowsFor(size, random int) int {
	rows := min(12*size/DocumentedBody, maxRows)
	for rows > 0 && leastTable+rowsSize(rows)+random > size {
		rows--
	}
	return rows
}

// newTableBody makes the template.
func newTableBody(size, random int) *tableBody {
	t := &tableBody{size: size}
	t.text = append(t.text, bodyOpen...)
	if size < leastTable {
		t.text = append(append([]byte("[")[:1:1], bytes.Repeat([]byte(" "), max(size-2, 0))...), ']')
		return t
	}
	if rows := rowsFor(size, random); rows > 0 {
		t.addRows(rows, min(random, size-leastTable-rowsSize(rows)))
	}
	t.text = append(t.text, bodyPadding...)
	pad := size - len(t.text) - len(bodyClose)
	if len(t.slots) == 0 { // there is no row for them: the padding gets them
		n := min(random, pad)
		t.slots = append(t.slots, slot{len(t.text), len(t.text) + n})
	}
	t.text = append(t.text, bytes.Repeat([]byte("-"), max(pad, 0))...)
	t.text = append(t.text, bodyClose...)
	return t
}

// addRows adds rows to the template, the first third of them with random letters.
func (t *tableBody) addRows(rows, random int) {
	first := randomRows(rows)
	for i := range rows {
		value := []byte(fixedText)
		if i < first {
			n := random / first
			if i < random%first {
				n++
			}
			value = bytes.Repeat([]byte("x"), n)
		}
		text := tableRow(i, value)
		at := len(t.text) + bytes.Index(text, []byte(`"expected":"`)) + len(`"expected":"`)
		t.text = append(t.text, text...)
		if i < first && len(value) > 0 {
			t.slots = append(t.slots, slot{at, at + len(value)})
		}
	}
}

// append appends one body.
func (t *tableBody) append(dst []byte, d *Dice) []byte {
	at := len(dst)
	dst = append(dst, t.text...)
	for _, s := range t.slots {
		d.FillAlphanumeric(dst[at+s.from : at+s.to])
	}
	return dst
}

// appendMessageElement appends an element of a plain text body.
func appendMessageElement(dst []byte, t *randomText) []byte {
	dst = append(dst, `{"data":"`...)
	dst = t.appendJSON(dst)
	return append(dst, `","type":"message"}`...)
}
