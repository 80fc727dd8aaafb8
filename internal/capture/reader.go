package capture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/perfbench/perfbench/internal/fault"
)

// magic begins every frame of zstd.
var magic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Is reports whether data begin as a capture does.
func Is(data []byte) bool { return bytes.HasPrefix(data, magic) }

// Reader reads the calls of a file one after the other, in bounded memory. It belongs to one
// goroutine.
type Reader struct {
	Header Header
	// Tally is the last one read: at the end, that of all calls.
	Tally Tally

	name  string
	dec   *zstd.Decoder
	lines *bufio.Reader
	// long is room for a line that does not fit into the buffer.
	long   []byte
	number int
	cut    bool
	line   line
}

// NewReader reads the header. The name is for errors, which are one sentence with the line
// and have the code of bad input.
func NewReader(name string, from io.Reader) (*Reader, error) {
	in := bufio.NewReaderSize(from, 64<<10)
	if begin, err := in.Peek(len(magic)); !Is(begin) {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, fault.Input(fmt.Errorf("%s is no capture", name), "perfbench capture makes them")
	}
	dec, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(32<<20), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	r := &Reader{name: name, dec: dec, lines: bufio.NewReaderSize(dec, 256<<10)}
	if err := r.top(); err != nil {
		dec.Close()
		return nil, err
	}
	return r, nil
}

// top reads the header.
func (r *Reader) top() error {
	text, err := r.next()
	if errors.Is(err, io.EOF) {
		return fault.Input(fmt.Errorf("%s: line 1: the file ends before its header does", r.name), "")
	}
	if err != nil {
		return err
	}
	l := &r.line
	switch err := json.Unmarshal(text, l); {
	case err != nil || l.Version == 0 || l.Header == nil:
		return fault.Input(fmt.Errorf("%s: line 1: this is not the header of a capture", r.name), "perfbench capture makes them")
	case l.Version != Version:
		return fault.Input(fmt.Errorf("%s: line 1: the capture has format %d, and this program reads format %d", r.name, l.Version, Version), "use the version of perfbench that made it")
	}
	r.Header = *l.Header
	return nil
}

// Next reads a call. At the end the error is io.EOF, also if the file was cut short.
func (r *Reader) Next(c *Call) error {
	for {
		text, err := r.next()
		if err != nil {
			return err
		}
		l := &r.line
		*l = line{A: l.A[:0], K: l.K[:0]}
		if err := json.Unmarshal(text, l); err != nil {
			return r.wrong("this is no call")
		}
		switch {
		case l.Tally != nil:
			r.Tally = *l.Tally
			continue
		case l.Version != 0:
			return r.wrong("another capture begins here")
		}
		if err := l.check(); err != nil {
			return r.wrong(err.Error())
		}
		c.At, c.Conn, c.DB = time.Duration(l.T)*time.Microsecond, l.C, l.D
		c.Args, c.Keys, c.Found, c.Outcome = append(c.Args[:0], l.A...), append(c.Keys[:0], l.K...), l.found(), l.outcome()
		return nil
	}
}

// next returns the next line, until it is called again.
func (r *Reader) next() ([]byte, error) {
	r.long = r.long[:0]
	for {
		part, err := r.lines.ReadSlice('\n')
		if err == nil && len(r.long) == 0 {
			r.number++
			return part, nil
		}
		r.long = append(r.long, part...)
		switch {
		case len(r.long) > MaxLine+1:
			r.number++
			return nil, r.wrong(fmt.Sprintf("it has more than %d MiB", MaxLine>>20))
		case err == nil:
			r.number++
			return r.long, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF) && len(r.long) > 0:
			r.cut = true
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			r.number++
			return nil, r.wrong("what follows is damaged")
		}
	}
}

// wrong is an error about the line that was just read.
func (r *Reader) wrong(what string) error {
	return fault.Input(fmt.Errorf("%s: line %d: %s", r.name, r.number, what), "")
}

// Cut returns the number of the last whole line if the file ends in the middle of one, as
// after a crash; otherwise 0.
func (r *Reader) Cut() int {
	if r.cut {
		return r.number
	}
	return 0
}

// Close frees what the reader holds.
func (r *Reader) Close() { r.dec.Close() }

// Clone returns a copy of a call that the next one leaves alone.
func (c *Call) Clone() Call {
	o := *c
	o.Args, o.Keys = slices.Clone(c.Args), slices.Clone(c.Keys)
	return o
}
