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
	documentedBody   = 1155
	documentedRandom = 158
	bodyOpen         = `[{"type":"table","rows":[`
	bodyPadding      = `{"padding":"`
	bodyClose        = `"}]}]`
	fixedText        = "expected"
	maxRows          = 10_000
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
// 300 such events compresses about ratio times by LZ4: compressed, a letter takes
// 0.94 bytes and the rest of an event about 100.
func randomChars(size int, ratio float64) int {
	if ratio == 5.4 { // the documented recipe, by rule of three
		return int(math.Round(documentedRandom * float64(size) / documentedBody))
	}
	const others = 190 // bytes of content beside the body
	fixed := 101.0 * math.Max(1, float64(size)/documentedBody)
	n := (float64(size+others)/ratio - fixed) / 0.937
	return int(min(max(math.Round(n), 0), float64(size)))
}

// newTableBody makes the template.
func newTableBody(size, random int) *tableBody {
	t := &tableBody{size: size}
	least := len(bodyOpen) + len(bodyPadding) + len(bodyClose)
	if size < least { // too small for a table
		t.text = append(append([]byte("["), bytes.Repeat([]byte(" "), max(size-2, 0))...), ']')
		return t
	}
	// As many rows as fit beside the random letters: 12 of the documented size.
	row := len(tableRow(0, []byte(fixedText)))
	rows := min(12*size/documentedBody, (size-least-random)/row, maxRows)
	t.text = append(t.text, bodyOpen...)
	if rows > 0 {
		first := max(rows/3, 1)
		random = min(random, size-least-rows*row)
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
