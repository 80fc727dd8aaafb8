package eventstore

import (
	"bytes"
	"fmt"
	"math"
)

// The documented body: a JSON array of one table. Rows have a name, an expected
// value, a status and an operation; the first third of them holds random letters,
// the rest a fixed text, and a last row pads it to the size that was asked for. How
// much of it is random decides how well it compresses.
const (
	documentedBody = 1155
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
// byte; the rest of an event takes 35 bytes and a thirty-third of its body.
func randomChars(size int, ratio float64) int {
	const others = 190 // bytes of content beside the body
	n := float64(size+others)/ratio - 35 - 0.03*float64(size)
	return int(min(max(math.Round(n), 0), float64(size)))
}

// newTableBody makes the template.
func newTableBody(size, random int) *tableBody {
	t := &tableBody{size: size}
	t.text = append(t.text, bodyOpen...)
	least := len(bodyOpen) + len(bodyPadding) + len(bodyClose)
	if size < least { // too small for a table
		t.text = append(append([]byte("[")[:1:1], bytes.Repeat([]byte(" "), max(size-2, 0))...), ']')
		return t
	}
	// As many rows as fit beside the random letters: 12 of the documented size.
	row := len(tableRow(0, []byte(fixedText)))
	rows := min(12*size/documentedBody, (size-least-random)/row, maxRows)
	if rows > 0 {
		t.addRows(rows, min(random, size-least-rows*row))
	}
	t.text = append(t.text, bodyPadding...)
	pad := size - len(t.text) - len(bodyClose)
	if rows == 0 || len(t.slots) == 0 { // no row has room for them: the padding takes them
		n := min(random, pad)
		t.slots = append(t.slots, slot{len(t.text), len(t.text) + n})
	}
	t.text = append(t.text, bytes.Repeat([]byte("-"), max(pad, 0))...)
	t.text = append(t.text, bodyClose...)
	return t
}

// addRows adds rows to the template, the first third of them with random letters.
func (t *tableBody) addRows(rows, random int) {
	first := max(rows/3, 1)
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
func (t *tableBody) append(dst []byte, d *dice) []byte {
	at := len(dst)
	dst = append(dst, t.text...)
	for _, s := range t.slots {
		d.fillAlphanumeric(dst[at+s.from : at+s.to])
	}
	return dst
}

// appendMessageElement writes an element of a body that is plain text.
func appendMessageElement(dst []byte, t *randomText) []byte {
	dst = append(dst, `{"data":"`...)
	dst = t.appendJSON(dst)
	return append(dst, `","type":"message"}`...)
}
