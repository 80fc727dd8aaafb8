package wire

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// appendEscaped appends a part of an id with \ and : escaped.
func appendEscaped(dst, part []byte) []byte {
	if bytes.IndexByte(part, ':') < 0 && bytes.IndexByte(part, '\\') < 0 {
		return append(dst, part...)
	}
	for _, c := range part {
		if c == ':' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}

// AppendFullID appends an event's id in Cradle's format: book, scope, start in UTC to
// the nanosecond, id.
func AppendFullID(dst []byte, i *EventID) []byte {
	dst = append(appendEscaped(dst, i.Book), ':')
	dst = append(appendEscaped(dst, i.Scope), ':')
	dst = time.Unix(i.Start.Sec, 0).UTC().AppendFormat(dst, "20060102150405")
	var nanos [10]byte // a 1 and nine digits
	strconv.AppendInt(nanos[:0], int64(i.Start.nanos)+1_000_000_000, 10)
	dst = append(append(dst, nanos[1:]...), ':')
	return appendEscaped(dst, i.ID)
}

// SplitFullID returns the start and the id of an event from its full id.
func SplitFullID(full string) (start int64, id string, ok bool) {
	var parts []string
	var b strings.Builder
	for i := 0; i < len(full); i++ {
		switch {
		case full[i] == '\\' && i+1 < len(full):
			i++
			b.WriteByte(full[i])
		case full[i] == ':':
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(full[i])
		}
	}
	if len(parts) != 3 || len(parts[2]) != 23 {
		return 0, "", false
	}
	at, err := time.Parse("20060102150405", parts[2][:14])
	nanos, err2 := strconv.Atoi(parts[2][14:])
	if err != nil || err2 != nil {
		return 0, "", false
	}
	return at.Unix()*1e9 + int64(nanos), b.String(), true
}
