package wire

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs of stored content, as they are numbered in rows.
const (
	None byte = iota
	LZ4
	Zlib
	Zstd
)

// Codecs are all codecs by name.
var Codecs = map[string]byte{"none": None, "lz4": LZ4, "zlib": Zlib, "zstd": Zstd}

// lz4Head is the beginning of content compressed with LZ4 in Cradle's format; an int32
// with the uncompressed length follows, then one raw block.
var lz4Head = []byte{0, 'L', 'Z', '4'}

// Compressor compresses content. It belongs to one goroutine and is reused.
type Compressor struct {
	codec byte
	lz4   *lz4Encoder
	zlib  *zlib.Writer
	zstd  *zstd.Encoder
}

// NewCompressor returns a compressor for a codec.
func NewCompressor(codec byte) (*Compressor, error) {
	c := &Compressor{codec: codec}
	var err error
	switch codec {
	case LZ4:
		c.lz4 = new(lz4Encoder)
	case Zstd:
		c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	}
	return c, err
}

// sink turns a writer into an append.
type sink struct{ b []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.b = append(s.b, p...)
	return len(p), nil
}

// Append compresses raw and appends it to dst.
func (c *Compressor) Append(dst, raw []byte) ([]byte, error) {
	switch c.codec {
	case LZ4:
		dst = slices.Grow(dst, 8+lz4Bound(len(raw)))
		dst = be.AppendUint32(append(dst, lz4Head...), uint32(len(raw)))
		return c.lz4.append(dst, raw), nil
	case Zlib:
		s := &sink{dst}
		if c.zlib == nil {
			c.zlib = zlib.NewWriter(s)
		} else {
			c.zlib.Reset(s)
		}
		_, err := c.zlib.Write(raw)
		return s.b, errors.Join(err, c.zlib.Close())
	case Zstd:
		return c.zstd.EncodeAll(raw, dst), nil
	}
	return append(dst, raw...), nil
}

var zstdReaders = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(1<<30))
})

// Expand decompresses data and appends the result to dst.
func Expand(codec byte, dst, data []byte) ([]byte, error) {
	switch codec {
	case LZ4:
		if len(data) < 8 || !bytes.Equal(data[:4], lz4Head) {
			return nil, fmt.Errorf("%w: no LZ4 content", ErrContent)
		}
		told := int(int32(be.Uint32(data[4:])))
		if told < 0 || told > len(data)*256 {
			return nil, fmt.Errorf("%w: LZ4 content of %d bytes from %d", ErrContent, told, len(data))
		}
		at := len(dst)
		dst = append(dst, make([]byte, told)...)
		n, err := lz4.UncompressBlock(data[8:], dst[at:])
		if err == nil && n != told {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, fmt.Errorf("%w: LZ4: %w", ErrContent, err)
		}
		return dst, nil
	case Zlib:
		r, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrContent, err)
		}
		s := &sink{dst}
		if _, err := io.Copy(s, r); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrContent, err)
		}
		return s.b, r.Close()
	case Zstd:
		r, err := zstdReaders()
		if err != nil {
			return nil, err
		}
		return r.DecodeAll(data, dst)
	}
	return append(dst, data...), nil
}

// CodecOf returns the codec of a Cradle blob that is marked as compressed.
func CodecOf(data []byte) byte {
	switch {
	case bytes.HasPrefix(data, lz4Head):
		return LZ4
	case len(data) > 3 && be.Uint32(data) == 0x28B52FFD:
		return Zstd
	}
	return Zlib
}
