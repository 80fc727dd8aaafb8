package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/perfbench/perfbench/internal/fault"
)

// frame is how many bytes are written together at most, before they are compressed.
const frame = 4 << 20

// ErrFull means that the file has as many bytes as it may.
var ErrFull = errors.New("the capture has as many bytes as it may")

// Why calls are not recorded.
const (
	LeftTooLarge = "too large"
)

// Writer writes a file. It belongs to one goroutine.
type Writer struct {
	// Tally is what was recorded so far. The caller counts connections and what it leaves
	// out, and says how long it has gone on; the writer counts calls.
	Tally Tally

	f    *os.File
	enc  *zstd.Encoder
	max  int64
	size int64
	// lines are whole lines that are not in the file yet; out is room for what they become.
	lines, out []byte
	fresh      bool // something is not in the file yet
}

// Create makes a file that is not there yet, for its owner alone, with at most max bytes; 0
// means any number. Errors have the code of bad input if the file is there.
func Create(path string, h Header, max int64) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fault.Input(fmt.Errorf("%s is there already", path), "name another file, or delete this one")
	}
	if err != nil {
		return nil, err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w := &Writer{f: f, enc: enc, max: max, Tally: Tally{Left: map[string]int64{}}, fresh: true}
	top, err := json.Marshal(map[string]any{"perfbench_capture": Version, "header": h})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w.lines = append(append(w.lines, top...), '\n')
	if err := w.Flush(); err != nil {
		return nil, errors.Join(err, w.Discard())
	}
	return w, nil
}

// Add records a call. ErrFull means that this was the last one.
func (w *Writer) Add(c *Call) error {
	before := len(w.lines)
	w.lines = c.append(w.lines)
	if len(w.lines)-before > MaxLine {
		w.lines = w.lines[:before]
		w.Leave(LeftTooLarge, 1)
		return nil
	}
	w.Tally.Calls++
	w.fresh = true
	if len(w.lines) >= frame {
		return w.Flush()
	}
	return nil
}

// Leave counts calls that are not recorded.
func (w *Writer) Leave(why string, n int64) {
	w.Tally.Left[why] += n
	w.fresh = true
}

// Flush puts into the file what was recorded, with the tally. ErrFull means that there is
// room for no more.
func (w *Writer) Flush() error {
	if !w.fresh {
		return nil
	}
	tally, err := json.Marshal(map[string]any{"tally": w.Tally})
	if err != nil {
		return err
	}
	w.lines = append(append(w.lines, tally...), '\n')
	w.out = w.enc.EncodeAll(w.lines, w.out[:0])
	w.lines, w.fresh = w.lines[:0], false
	n, err := w.f.Write(w.out)
	w.size += int64(n)
	if err == nil && w.max > 0 && w.size >= w.max {
		return ErrFull
	}
	return err
}

// Bytes returns how many bytes the file has.
func (w *Writer) Bytes() int64 { return w.size }

// Left returns what was not recorded so far, by why.
func (w *Writer) Left() map[string]int64 { return maps.Clone(w.Tally.Left) }

// Close writes what is missing, with what ended the recording, and closes the file.
func (w *Writer) Close(ended string) error {
	w.Tally.Ended, w.fresh = ended, true
	err := w.Flush()
	if errors.Is(err, ErrFull) {
		err = nil
	}
	return errors.Join(err, w.enc.Close(), w.f.Sync(), w.f.Close())
}

// Discard closes the file and deletes it.
func (w *Writer) Discard() error {
	return errors.Join(w.enc.Close(), w.f.Close(), os.Remove(w.f.Name()))
}
