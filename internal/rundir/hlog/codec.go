package hlog

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The HdrHistogram V2 compressed encoding, written and read with reused buffers:
// the library's own takes a millisecond and a megabyte per histogram, which a
// journal of many operations would pay three times each per second.
//
//	base64( cookie, length, zlib( cookie, payload length, offset 0, digits,
//	        lowest, highest, ratio 1.0, payload ) ), all big endian
//
// The payload is a row of zig-zag LEB128 numbers: a count, or minus the length of
// a run of empty buckets.
const (
	cookieOuter = 0x1c849304 | 0x10
	cookieInner = 0x1c849303 | 0x10
	headerBytes = 40
)

// Encoder encodes intervals. It may be used by one goroutine at a time.
type Encoder struct {
	raw, packed []byte
	out         bytes.Buffer
	z           *zlib.Writer
}

// encode appends the encoded histogram to dst.
func (e *Encoder) encode(dst []byte, h *hdrhistogram.Histogram) ([]byte, error) {
	s := h.Export()
	e.raw = append(e.raw[:0], make([]byte, headerBytes)...)
	e.raw = appendCounts(e.raw, s.Counts)
	be := binary.BigEndian
	be.PutUint32(e.raw[0:], cookieInner)
	be.PutUint32(e.raw[4:], uint32(len(e.raw)-headerBytes))
	be.PutUint32(e.raw[12:], uint32(s.SignificantFigures))
	be.PutUint64(e.raw[16:], uint64(s.LowestTrackableValue))
	be.PutUint64(e.raw[24:], uint64(s.HighestTrackableValue))
	be.PutUint64(e.raw[32:], math.Float64bits(1))
	e.out.Reset()
	e.out.Write(make([]byte, 8))
	if e.z == nil {
		e.z = zlib.NewWriter(&e.out)
	} else {
		e.z.Reset(&e.out)
	}
	_, err := e.z.Write(e.raw)
	if err := errors.Join(err, e.z.Close()); err != nil {
		return dst, err
	}
	e.packed = e.out.Bytes()
	be.PutUint32(e.packed[0:], cookieOuter)
	be.PutUint32(e.packed[4:], uint32(len(e.packed)-8))
	return base64.StdEncoding.AppendEncode(dst, e.packed), nil
}

func appendCounts(dst []byte, counts []int64) []byte {
	n := len(counts)
	for n > 0 && counts[n-1] == 0 {
		n--
	}
	for i := 0; i < n; {
		if counts[i] != 0 {
			dst = appendZigZag(dst, counts[i])
			i++
			continue
		}
		from := i
		for i < n && counts[i] == 0 {
			i++
		}
		if i-from == 1 {
			dst = append(dst, 0)
		} else {
			dst = appendZigZag(dst, int64(from-i))
		}
	}
	return dst
}

// appendZigZag writes v in at most nine bytes: unlike in plain LEB128, the ninth holds
// eight bits.
func appendZigZag(dst []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for range 8 {
		if u < 0x80 {
			return append(dst, byte(u))
		}
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

// zigZag reads a number written by appendZigZag and returns how many bytes it took; 0
// bytes if b ends too early.
func zigZag(b []byte) (int64, int) {
	var u uint64
	for i := range min(len(b), 9) {
		if i == 8 {
			u |= uint64(b[i]) << 56
			return int64(u>>1) ^ -int64(u&1), 9
		}
		u |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return int64(u>>1) ^ -int64(u&1), i + 1
		}
	}
	return 0, 0
}

// ErrCorrupt means that a log contains something other than our histograms.
var ErrCorrupt = errors.New("not an encoded histogram")

// decoder may be used by one goroutine at a time.
type decoder struct {
	packed []byte
	raw    bytes.Buffer
	z      io.ReadCloser
}

// add decodes a histogram and adds its counts to those of sum, which must have the
// geometry of measure.NewHistogram; other geometries are rejected.
func (d *decoder) add(sum *hdrhistogram.Snapshot, text []byte) error {
	var err error
	if d.packed, err = base64.StdEncoding.AppendDecode(d.packed[:0], text); err != nil || len(d.packed) < 8 {
		return ErrCorrupt
	}
	be := binary.BigEndian
	if be.Uint32(d.packed)&^0xf0 != cookieOuter&^0xf0 || int64(be.Uint32(d.packed[4:])) > int64(len(d.packed)-8) {
		return ErrCorrupt
	}
	if err := d.inflate(d.packed[8:], headerBytes+9*len(sum.Counts)); err != nil {
		return err
	}
	raw := d.raw.Bytes()
	if len(raw) < headerBytes || be.Uint32(raw)&^0xf0 != cookieInner&^0xf0 ||
		int64(be.Uint32(raw[4:])) != int64(len(raw)-headerBytes) ||
		int64(be.Uint32(raw[12:])) != sum.SignificantFigures ||
		be.Uint64(raw[16:]) != uint64(sum.LowestTrackableValue) ||
		be.Uint64(raw[24:]) != uint64(sum.HighestTrackableValue) {
		return ErrCorrupt
	}
	return addCounts(sum.Counts, raw[headerBytes:])
}

func (d *decoder) inflate(packed []byte, limit int) error {
	src := bytes.NewReader(packed)
	var err error
	if d.z == nil {
		d.z, err = zlib.NewReader(src)
	} else {
		err = d.z.(zlib.Resetter).Reset(src, nil)
	}
	if err != nil {
		d.z = nil
		return ErrCorrupt
	}
	d.raw.Reset()
	if _, err := d.raw.ReadFrom(io.LimitReader(d.z, int64(limit)+1)); err != nil {
		return ErrCorrupt
	}
	return nil
}

func addCounts(counts []int64, b []byte) error {
	for i := 0; len(b) > 0; {
		v, n := zigZag(b)
		if n == 0 || v == math.MinInt64 {
			return ErrCorrupt
		}
		b = b[n:]
		switch {
		case v < 0 && -v <= int64(len(counts)-i):
			i += int(-v)
		case v >= 0 && i < len(counts):
			counts[i] += v
			i++
		default:
			return ErrCorrupt
		}
	}
	return nil
}
