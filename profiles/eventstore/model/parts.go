package model

import (
	"bytes"
	"strconv"
)

// A single event whose content exceeds the limit even when compressed is kept in
// several rows. Their ids are that of the event followed by the number of the part and
// how many there are, padded so that they sort: ID~0001.0003. The first part counts the
// event.

// PartMark stands between an id and the number of a part.
const PartMark = '~'

// Trunk returns an id without the number of a part.
func Trunk(id []byte) []byte {
	if before, _, ok := bytes.Cut(id, []byte{PartMark}); ok {
		return before
	}
	return id
}

// PartOf parses the number of a part, from 1, and how many there are; 0 if the row is
// complete.
func PartOf(id []byte) (number, of int) {
	_, after, ok := bytes.Cut(id, []byte{PartMark})
	if !ok {
		return 0, 0
	}
	a, b, _ := bytes.Cut(after, []byte("."))
	number, _ = strconv.Atoi(string(a)) // 0 matches no part
	of, _ = strconv.Atoi(string(b))
	return number, of
}
