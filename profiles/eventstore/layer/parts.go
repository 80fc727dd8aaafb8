package layer

import (
	"bytes"
	"strconv"
)

// A single event whose content is over the limit even when compressed is kept in
// several rows: their ids are that of the event with the number of the part, padded
// so that they sort, and how many parts there are: ID~0001.0003. The first part
// counts the event.

// PartMark stands between an id and the number of a part.
const PartMark = '~'

// Trunk is an id without the number of a part.
func Trunk(id []byte) []byte {
	if before, _, ok := bytes.Cut(id, []byte{PartMark}); ok {
		return before
	}
	return id
}

// PartOf reads the number of a part from 1 and how many there are; 0 when the row is
// whole.
func PartOf(id []byte) (number, of int) {
	_, after, ok := bytes.Cut(id, []byte{PartMark})
	if !ok {
		return 0, 0
	}
	a, b, _ := bytes.Cut(after, []byte("."))
	number, _ = strconv.Atoi(string(a)) // 0 fits no part
	of, _ = strconv.Atoi(string(b))
	return number, of
}
