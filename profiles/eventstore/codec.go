package eventstore

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs of stored content, as they are numbered in rows.
const (
	codecNone byte = iota
	codecLZ4
	codecZlib
	codecZstd
)

var codecs = map[string]byte{"none": codecNone, "lz4": codecLZ4, "zlib": codecZlib, "zstd": codecZstd}

// lz4Head opens content compressed by LZ4 as Cradle writes it; an int32 with the
// uncompressed length follows, then one raw block.
var lz4Head = []byte{0, 'L', 'Z', '4'}

// compressor compresses content. It belongs to one goroutine and is reused.
type compressor struct {
	codec byte
	lz4   *lz4Encoder
	zlib  *zlib.Writer
	zstd  *zstd.Encoder
}

// newCompressor makes a compressor for a codec.
func newCompressor(codec byte) (*compressor, error) {
	c := &compressor{codec: codec}
	var err error
	switch codec {
	case codecLZ4:
		c.lz4 = new(lz4Encoder)
	case codecZstd:
		c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	}
	return c, err
}

// sink makes an append of a writer.
type sink struct{ b []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.b = append(s.b, p...)
	return len(p), nil
}

// append compresses raw and appends it to dst.
func (c *compressor) append(dst, raw []byte) ([]byte, error) {
	switch c.codec {
	case codecLZ4:
		if need := len(dst) + 8 + lz4Bound(len(raw)); cap(dst) < need {
			dst = append(make([]byte, 0, need), dst...)
		}
		dst = be.AppendUint32(append(dst, lz4Head...), uint32(len(raw)))
		return c.lz4.append(dst, raw), nil
	case codecZlib:
		s := &sink{dst}
		if c.zlib == nil {
			c.zlib = zlib.NewWriter(s)
		} else {
			c.zlib.Reset(s)
		}
		_, err := c.zlib.Write(raw)
		return s.b, errors.Join(err, c.zlib.Close())
	case codecZstd:
		return c.zstd.EncodeAll(raw, dst), nil
	}
	return append(dst, raw...), nil
}

var zstdReaders = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(1<<30))
})

// expand appends what was compressed to dst.
func expand(codec byte, dst, data []byte) ([]byte, error) {
	switch codec {
	case codecLZ4:
		if len(data) < 8 || !bytes.Equal(data[:4], lz4Head) {
			return nil, fmt.Errorf("%w: no LZ4 content", errContent)
		}
		told := int(int32(be.Uint32(data[4:])))
		if told < 0 || told > len(data)*256 {
			return nil, fmt.Errorf("%w: LZ4 content of %d bytes from %d", errContent, told, len(data))
		}
		at := len(dst)
		dst = append(dst, make([]byte, told)...)
		n, err := lz4.UncompressBlock(data[8:], dst[at:])
		if err == nil && n != told {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, fmt.Errorf("%w: LZ4: %w", errContent, err)
		}
		return dst, nil
	case codecZlib:
		r, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errContent, err)
		}
		s := &sink{dst}
		if _, err := io.Copy(s, r); err != nil {
			return nil, fmt.Errorf("%w: %w", errContent, err)
		}
		return s.b, r.Close()
	case codecZstd:
		r, err := zstdReaders()
		if err != nil {
			return nil, err
		}
		return r.DecodeAll(data, dst)
	}
	return append(dst, data...), nil
}

// codecOf tells the codec of a Cradle blob that is said to be compressed.
func codecOf(data []byte) byte {
	switch {
	case bytes.HasPrefix(data, lz4Head):
		return codecLZ4
	case len(data) > 3 && be.Uint32(data) == 0x28B52FFD:
		return codecZstd
	}
	return codecZlib
}
