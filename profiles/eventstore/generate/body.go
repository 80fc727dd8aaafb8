package generate

import (
	"bytes"
	"fmt"
	"math"

	"github.com/perfbench/perfbench/profiles/eventstore/dice"
)

// The documented body: a JSON array of one table. Rows have a name, an expected
// value, a status and an operation; the first third of them holds random letters,
// the rest a fixed text, and one more row pads it to the size that was asked for. How
// much of it is random decides how well it compresses.
const (
	DocumentedBody = 1155
	bodyOpen       = `[{"type":"table","rows":[`
	bodyPadding    = `{"padding":"`
	bodyClose      = `"}]}]`
	fixedText      = "expected"
	maxRows        = 10_000
)

// slot is a piece of the template to fill with random letters.
type slot struct{ from, to int }

// tableBody is the template of bodies of one size. It does not change.
type tableBody struct {
	size  int
	text  []byte
	slots []slot
}

func tableRow(i int, value []byte) []byte {
	return fmt.Appendf(nil, `{"name":"field_%02d","expected":"%s","status":"PASSED","operation":"EQUAL"},`, i, value)
}

// randomChars is how many random letters a body of this size has so that a batch of
// 300 such events compresses about ratio times by LZ4. Compressed, a letter takes a
// byte; the rest of an event takes 44 bytes, and 6.6 for each row with letters.
func randomChars(size int, ratio float64) (n int) {
	const others = 190 // bytes of content beside the body
	for range 3 {      // the fewer letters, the more rows there is room for
		rest := float64(size+others)/ratio - 44 - 6.6*float64(randomRows(rowsFor(size, n)))
		n = int(min(max(math.Round(rest), 0), float64(size)))
	}
	return n
}

// emptyRow is the length of a row without a value.
var emptyRow = len(tableRow(0, nil))

// randomRows is how many of the rows hold random letters.
func randomRows(rows int) int { return max(rows/3, 1) }

// rowsSize is the length of so many rows without their random letters.
func rowsSize(rows int) int {
	return rows*emptyRow + (rows-randomRows(rows))*len(fixedText) + max(rows-100, 0) + max(rows-1000, 0) // more digits
}

// leastTable is the length of a table without rows.
const leastTable = len(bodyOpen) + len(bodyPadding) + len(bodyClose)

// rowsFor is how many rows fit beside random letters: 12 of the documented size.
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
	if len(t.slots) == 0 { // no row has room for them: the padding takes them
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

// append writes one body.
func (t *tableBody) append(dst []byte, d *dice.Dice) []byte {
	at := len(dst)
	dst = append(dst, t.text...)
	for _, s := range t.slots {
		d.FillAlphanumeric(dst[at+s.from : at+s.to])
	}
	return dst
}

// appendMessageElement writes an element of a body that is plain text.
func appendMessageElement(dst []byte, t *randomText) []byte {
	dst = append(dst, `{"data":"`...)
	dst = t.appendJSON(dst)
	return append(dst, `","type":"message"}`...)
}
