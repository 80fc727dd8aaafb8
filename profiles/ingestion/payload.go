package ingestion

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
)

// A value of 16 bytes or more can be checked when it is read back:
//
//	bytes 0-3      number of the share that wrote it, from 0, little-endian
//	bytes 4-7      number of the run, from 0; the top bit set in warm-up
//	bytes 8-(n-5)  random
//	bytes (n-4)-n  CRC-32C of everything before
//
// A shorter one is entirely random. All entries of a share and run have the same value,
// as in the original.
const (
	headerBytes  = 8
	trailerBytes = 4
	checkedFrom  = 16
	warmupRun    = 1 << 31
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// generator makes values. It belongs to one worker.
type generator struct {
	seed [32]byte
	rnd  rand.ChaCha8
}

func newGenerator(seed int64, m string) *generator {
	g := &generator{}
	binary.LittleEndian.PutUint64(g.seed[:], uint64(seed))
	binary.LittleEndian.PutUint32(g.seed[8:], crc32.ChecksumIEEE([]byte(m)))
	return g
}

// fill returns the value of a share and run, using buf if it is large enough.
func (g *generator) fill(buf []byte, share, run uint32, size int) []byte {
	buf = slices.Grow(buf[:0], size)[:size]
	binary.LittleEndian.PutUint32(g.seed[16:], share)
	binary.LittleEndian.PutUint32(g.seed[20:], run)
	g.rnd.Seed(g.seed)
	_, _ = g.rnd.Read(buf) // never fails
	if size < checkedFrom {
		return buf
	}
	binary.LittleEndian.PutUint32(buf, share)
	binary.LittleEndian.PutUint32(buf[4:], run)
	at := size - trailerBytes
	binary.LittleEndian.PutUint32(buf[at:], crc32.Checksum(buf[:at], castagnoli))
	return buf
}

// checkValue returns what is wrong with a value that a share should have written.
func checkValue(val []byte, share uint32) error {
	if len(val) < checkedFrom {
		return nil
	}
	at := len(val) - trailerBytes
	if crc32.Checksum(val[:at], castagnoli) != binary.LittleEndian.Uint32(val[at:]) {
		return errors.New("its checksum does not match")
	}
	if got := binary.LittleEndian.Uint32(val); got != share {
		return fmt.Errorf("it was written by loader %d and not by %d", got+1, share+1)
	}
	return nil
}
