package run

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/datagen"
)

// A value of 16 bytes or more can be checked completely when it is read back:
//
//	bytes 0-7    its version: who wrote it, and which of the writer's values of that record it is
//	bytes 8-…    filling that belongs to the key, the field and the version; see datagen.Append
//	the end      zeros, as many as make up the share that can be compressed
//
// A shorter one is filling that belongs to the key and the field.
const (
	versionBytes = 8
	versionFrom  = 16
	digits       = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
)

// version is who wrote a value, in the upper half of 48 bits, and which of the writer's
// values of that record it is. 0 is what was loaded.
type version uint64

const (
	ordinalBits = 24
	mostOrdinal = 1<<ordinalBits - 1
)

func versionOf(origin uint32, ordinal uint32) version {
	return version(origin&mostOrdinal)<<ordinalBits | version(ordinal&mostOrdinal)
}

func (v version) origin() uint32  { return uint32(v >> ordinalBits) }
func (v version) ordinal() uint32 { return uint32(v & mostOrdinal) }

// digitOf is the inverse of digits; 255 for what is none.
var digitOf = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i := range len(digits) {
		t[digits[i]] = byte(i)
	}
	return t
}()

func (v version) append(dst []byte) []byte {
	for i := range versionBytes {
		dst = append(dst, digits[v>>(6*(versionBytes-1-i))&63])
	}
	return dst
}

func readVersion(val []byte) (v version, ok bool) {
	for _, c := range val[:versionBytes] {
		d := digitOf[c]
		if d == 255 {
			return 0, false
		}
		v = v<<6 | version(d)
	}
	return v, true
}

// owned is the owner of a version of a value of n bytes.
func owned(o datagen.Owner, v version, n int) datagen.Owner {
	return o ^ datagen.Owner(v)*0x9e3779b97f4a7c15 ^ datagen.Owner(n)*0xd1b54a32d192ed03
}

// content makes and checks the values of a data set. It is never changed.
type content struct {
	// zeros is the share of a value at its end that can be compressed.
	zeros float64
}

// split returns how many bytes of a value are not zeros at its end.
func (c content) split(n int) int { return n - int(float64(n)*c.zeros) }

// append appends a value of n bytes.
func (c content) append(dst []byte, o datagen.Owner, v version, n int) []byte {
	full := c.split(n)
	if full < versionFrom {
		dst = datagen.Append(dst, o, full)
	} else {
		dst = datagen.Append(v.append(dst), owned(o, v, n), full-versionBytes)
	}
	if full == n {
		return dst
	}
	dst = slices.Grow(dst, n-full)
	for range n - full {
		dst = append(dst, '0')
	}
	return dst
}

var errZeros = errors.New("its end was changed")

// check says what is wrong with a value, and returns its version; false if it is too short
// to have one.
func (c content) check(val []byte, o datagen.Owner) (v version, has bool, err error) {
	full := c.split(len(val))
	if full < versionFrom {
		err = datagen.Check(val[:full], o)
	} else {
		v, has = readVersion(val)
		if !has {
			return 0, false, fmt.Errorf("%q… is no value of ours", val[:versionBytes])
		}
		err = datagen.Check(val[versionBytes:full], owned(o, v, len(val)))
	}
	if err == nil && full < len(val) && bytes.Count(val[full:], []byte{'0'}) != len(val)-full {
		err = errZeros
	}
	return v, has, err
}
