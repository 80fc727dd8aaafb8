package capture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
)

const (
	// MaxLogLine is how long a line of a log may be.
	MaxLogLine = 512 << 20
	// mostPacked is how much memory a packed log may ask for to be unpacked: as much as zstd itself
	// grants.
	mostPacked = 128 << 20
)

// LeftCut is why a call is not recorded with which a log ends in its middle.
const LeftCut = "cut short"

// Log reads a log, of any length, that calls are read from. zstd may have packed it. It belongs to
// one goroutine.
type Log struct {
	Name string
	// In is the text of the log.
	In *bufio.Reader
	// Number is that of the line that was read last.
	Number int
	// Cut says what is missing at the end; empty: nothing, as far as is known.
	Cut string

	ctx  context.Context
	file *os.File
	long []byte
	// unpacks unpacks the file; nil: it is not packed.
	unpacks *zstd.Decoder
}

// OpenLog opens a log, until ctx ends. Errors about the file have the code of bad input.
func OpenLog(ctx context.Context, name string) (*Log, error) {
	f, err := infile.Open(infile.Recorded, name)
	if err != nil {
		return nil, fault.Code(err, fault.CodeInput)
	}
	l := &Log{Name: name, In: bufio.NewReaderSize(f, 256<<10), ctx: ctx, file: f}
	if err := l.begin(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// What a capture begins with, when it has been unpacked: its keys may be in any order.
const topOfCapture, otherTop = `{"header":{`, `{"perfbench`

// begin unpacks the log if it is packed, and refuses a capture.
func (l *Log) begin() error {
	begin, err := l.In.Peek(len(magic))
	if Is(begin) {
		d, err := zstd.NewReader(l.In, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostPacked))
		if err != nil {
			return err
		}
		l.unpacks = d
		l.In = bufio.NewReaderSize(&unpacked{d, l}, 256<<10)
		begin, err = l.In.Peek(len(topOfCapture))
		if string(begin) == topOfCapture || string(begin) == otherTop {
			return l.Input("it is a capture already", "perfbench capture --show shows what is in it")
		}
		return unlessEOF(err)
	}
	return unlessEOF(err)
}

func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Close frees what the log holds.
func (l *Log) Close() {
	if l.unpacks != nil {
		l.unpacks.Close()
	}
	_ = l.file.Close() // it was only read
}

// Ahead returns what comes next of the log, as much of it as fits into memory at hand.
func (l *Log) Ahead() []byte {
	ahead, _ := l.In.Peek(l.In.Size()) // what there is of it
	return ahead
}

// Line returns the next line with its end, until it is called again. With the last line, which
// may have no end, the error is io.EOF.
func (l *Log) Line() ([]byte, error) {
	if l.Number%1024 == 1023 && l.ctx.Err() != nil {
		return nil, context.Cause(l.ctx)
	}
	l.long = l.long[:0]
	for {
		part, err := l.In.ReadSlice('\n')
		if err == nil && len(l.long) == 0 {
			l.Number++
			return part, nil
		}
		l.long = append(l.long, part...)
		if len(l.long) > MaxLogLine {
			l.Number++
			return nil, l.At("line", l.Number, fmt.Errorf("it has more than %d MiB", MaxLogLine>>20))
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if len(l.long) > 0 {
				l.Number++
			}
			return l.long, err
		}
	}
}

// Input is an error about the log.
func (l *Log) Input(what, hint string) error {
	return fault.Input(fmt.Errorf("%s: %s", l.Name, what), hint)
}

// At is an error about a place in the log: a line, or a call.
func (l *Log) At(what string, number int, err error) error {
	return fault.Input(fmt.Errorf("%s: %s %d: %w", l.Name, what, number, err), "perfbench capture --help lists the logs that can be read")
}

// CutAt says that what has this number is cut short, and ends the log.
func (l *Log) CutAt(what string, number int) error {
	l.Cut = fmt.Sprintf("%s %d is cut short, and was left out", what, number)
	return io.EOF
}

// Nothing is the error that a log is refused with which had ended before its first call.
func (l *Log) Nothing(hint string) error {
	if l.Cut != "" {
		return l.Input(l.Cut, "")
	}
	return l.Input("it has no calls in it", hint)
}

// End ends a capture of the log. err is what the reading ended with; io.EOF is no error.
func (l *Log) End(w *Writer, err error) error {
	if l.Cut != "" {
		w.Leave(LeftCut, 1)
		w.Tally.Notes = append(w.Tally.Notes, l.Cut)
	}
	return w.End("the log was read to its end", unlessEOF(err))
}

// unpacked is what is in a packed log.
type unpacked struct {
	d *zstd.Decoder
	l *Log
}

// Read reads what there is. A log that was cut short ends there.
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.d.Read(p)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		u.l.Cut = "the packed log is cut short"
		return n, io.EOF
	}
	return n, u.l.Input(fmt.Sprintf("it cannot be unpacked: %v", err), "zstd -dc shows it")
}
