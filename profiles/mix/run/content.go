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
const versionFrom = datagen.VersionedFrom

// content makes and checks the values of a data set. It is never changed.
type content struct {
	// zeros is the share of a value at its end that can be compressed.
	zeros float64
}

// split returns how many bytes of a value are not zeros at its end.
func (c content) split(n int) int { return n - int(float64(n)*c.zeros) }

// append appends a value of n bytes.
func (c content) append(dst []byte, o datagen.Owner, v datagen.Version, n int) []byte {
	full := c.split(n)
	if full < versionFrom {
		dst = datagen.Append(dst, o, full)
	} else {
		dst = datagen.Append(v.Append(dst), o.At(v, n), full-datagen.VersionBytes)
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
func (c content) check(val []byte, o datagen.Owner) (v datagen.Version, has bool, err error) {
	full := c.split(len(val))
	if full < versionFrom {
		err = datagen.Check(val[:full], o)
	} else {
		v, has = datagen.ReadVersion(val)
		if !has {
			return 0, false, fmt.Errorf("%q… is no value of ours", val[:datagen.VersionBytes])
		}
		err = datagen.Check(val[datagen.VersionBytes:full], o.At(v, len(val)))
	}
	if err == nil && full < len(val) && bytes.Count(val[full:], []byte{'0'}) != len(val)-full {
		err = errZeros
	}
	return v, has, err
}
