package traffic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
)

// maxLog is how long a call in an AOF may be.
const maxLog = capture.MaxLogLine

// Convert makes a capture of a log: what MONITOR printed, an AOF, the folder or manifest of one
// that has several parts, or a trace of a cache. A file may be packed by zstd. Errors about the log have the code of bad input, name the
// place in it, and leave no file behind.
func Convert(ctx context.Context, log, path string, o capture.Options) (capture.Tally, error) {
	parts, notes, err := partsOf(log)
	if err != nil {
		return capture.Tally{}, err
	}
	s := &source{ctx: ctx, parts: parts}
	defer s.close()
	if err := s.open(); err != nil {
		return capture.Tally{}, err
	}
	if o.Values && s.how == ofTrace {
		return capture.Tally{}, fault.Input(fmt.Errorf("%s has only the sizes of values, so none can be recorded", log), "leave out --values")
	}
	if o.Sample > 1 && !s.connections {
		return capture.Tally{}, fault.Input(fmt.Errorf("%s does not say which connection a call was made on, so none can be sampled", log), "leave out --sample")
	}
	var c raw
	err = s.next(&c)
	if errors.Is(err, io.EOF) {
		return capture.Tally{}, s.Nothing("")
	}
	if err != nil {
		return capture.Tally{}, err
	}
	w, err := capture.Create(path, o.Header(capture.Header{Store: "redis", Source: filepath.Base(log), How: s.how, Started: c.at.UTC(), Timing: s.timing, Notes: notes}), o.Max)
	if err != nil {
		return capture.Tally{}, err
	}
	r := newRecorder(w, o, nil, c.at)
	for err == nil {
		w.Tally.At = max(w.Tally.At, c.at.Sub(r.start).Microseconds())
		if err = r.add(&c); err == nil {
			err = s.next(&c)
		}
	}
	err = s.End(w, err)
	return w.Tally, err
}

// partsOf returns the files that hold the calls of a log, in their order.
func partsOf(log string) (parts, notes []string, err error) {
	info, err := os.Stat(log)
	if err != nil {
		return nil, nil, fault.Code(err, fault.CodeInput)
	}
	manifest := log
	if info.IsDir() {
		found, _ := filepath.Glob(filepath.Join(log, "*.manifest")) // the pattern is right
		if len(found) != 1 {
			return nil, nil, fault.Input(fmt.Errorf("%s has %d manifests of an AOF, and should have one", log, len(found)), "name the manifest, or a file")
		}
		manifest = found[0]
	} else if !strings.HasSuffix(log, ".manifest") {
		return []string{log}, nil, nil
	}
	text, err := infile.Read(infile.State, manifest)
	if err != nil {
		return nil, nil, fault.Code(err, fault.CodeInput)
	}
	bases := 0
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		name, kind := after(f, "file"), after(f, "type")
		if name == "" || name != filepath.Base(name) || !slices.Contains([]string{"b", "i", "h"}, kind) {
			return nil, nil, fault.Input(fmt.Errorf("%s: line %d: this is no line of a manifest", manifest, number), "")
		}
		switch kind {
		case "b":
			bases++
			notes = append(notes, name+" was skipped: it is what was there before the calls, and not calls")
		case "i":
			parts = append(parts, filepath.Join(filepath.Dir(manifest), name))
		}
	}
	if len(parts) == 0 {
		return nil, nil, fault.Input(fmt.Errorf("%s names no file with calls", manifest), "")
	}
	return parts, notes, nil
}

// after returns the word behind another.
func after(words []string, w string) string {
	if i := slices.Index(words, w); i >= 0 && i+1 < len(words) {
		return words[i+1]
	}
	return ""
}

// source reads the calls of files, one file after the other.
type source struct {
	*capture.Log
	ctx    context.Context
	parts  []string
	how    string
	timing capture.Timing
	// connections says that calls tell theirs.
	connections bool
	next        func(*raw) error
	// calls is how many calls of an AOF were read.
	calls int

	parser parser
	aof    aof
	trace  trace
}

func (s *source) close() {
	if s.Log != nil {
		s.Close()
	}
}

// open opens the next file, and finds out what it is.
func (s *source) open() error {
	s.close()
	log, err := capture.OpenLog(s.ctx, s.parts[0])
	if err != nil {
		s.Log = nil
		return err
	}
	if s.Log != nil {
		log.Cut = s.Cut
	}
	s.Log, s.parts, s.calls = log, s.parts[1:], 0
	was, begin := s.how, s.Ahead()
	switch {
	case bytes.HasPrefix(begin, []byte("REDIS")):
		return s.Input("it begins with a snapshot (RDB), behind which the calls cannot be found", "with Redis 7, or after BGREWRITEAOF on it, name the folder appendonlydir")
	case bytes.HasPrefix(begin, []byte("*")), bytes.HasPrefix(begin, []byte("#TS:")), len(begin) == 0 && was == ofAOF:
		s.how, s.next = ofAOF, s.nextInAOF
		s.aof.begin(begin)
		if was == "" {
			s.timing = s.aof.timing
		}
	default:
		if timing, heading := s.trace.begin(begin); timing != "" {
			s.how, s.next, s.timing, s.connections = ofTrace, s.nextInTrace, timing, !heading
			break
		}
		s.how, s.next, s.timing, s.connections = "what MONITOR printed", s.nextLine, capture.Exact, true
	}
	if was != "" && s.how != was {
		return s.Input("it is "+s.how+", and the file before it "+was, "")
	}
	return nil
}

const ofAOF = "an append-only file"

// nextLine reads a call that MONITOR printed.
func (s *source) nextLine(c *raw) error {
	for {
		line, err := s.Line()
		if err != nil && len(line) == 0 {
			return err
		}
		ended := err == nil
		line = bytes.TrimRight(line, "\r\n")
		line, _ = bytes.CutPrefix(line, []byte("+"))
		if len(line) == 0 || string(line) == "OK" {
			continue
		}
		wrong := s.parser.parse(line, c)
		if wrong == nil && len(c.args[0]) > 0 {
			return nil
		}
		if !ended && s.Number > 1 {
			return s.CutAt("line", s.Number)
		}
		if wrong == nil || !ended {
			wrong = errForeign
		}
		return s.At("line", s.Number, wrong)
	}
}

// aof is where in an AOF we are.
type aof struct {
	timing capture.Timing
	now    time.Time
	db     int
	text   []byte
	ends   []int
}

// begin begins with a file, of which the first bytes are known. The databases of the one
// before do not count in it: Redis selects one again. Calls in front of the first time that
// an AOF tells count as made then.
func (a *aof) begin(ahead []byte) {
	a.db = 0
	if a.timing != "" {
		return
	}
	a.timing, a.now = capture.Unknown, time.Unix(0, 0)
	if i := bytes.Index(append([]byte("\n"), ahead...), []byte("\n#TS:")); i >= 0 {
		line, _, _ := bytes.Cut(ahead[i:], []byte("\n"))
		if a.tells(line) {
			a.timing = capture.Seconds
		}
	}
}

// tells takes the time from a line that tells it.
func (a *aof) tells(line []byte) bool {
	n, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("#TS:"))
	if !ok || len(n) > 11 || !whole(n) {
		return false
	}
	sec, _ := strconv.ParseInt(string(n), 10, 64) // they are digits
	a.now = time.Unix(sec, 0)
	return true
}

// nextInAOF reads a call of an AOF.
func (s *source) nextInAOF(c *raw) error {
	for {
		if s.calls++; s.calls%1024 == 0 && s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		err := s.command(c)
		switch {
		case errors.Is(err, io.EOF) && len(s.parts) > 0:
			if err := s.open(); err != nil {
				return err
			}
			continue
		case errors.Is(err, io.EOF):
			return io.EOF
		case errors.Is(err, io.ErrUnexpectedEOF) && len(s.parts) == 0 && s.calls > 1:
			return s.CutAt("call", s.calls)
		case errors.Is(err, io.ErrUnexpectedEOF):
			return s.At("call", s.calls, errors.New("it is cut short"))
		case err != nil:
			return s.At("call", s.calls, err)
		}
		if len(c.args) == 2 && strings.EqualFold(string(c.args[0]), "SELECT") {
			if n, err := strconv.Atoi(string(c.args[1])); err == nil && n >= 0 {
				s.aof.db = n
			}
			continue // calls have the number of their database
		}
		c.at, c.db, c.addr = s.aof.now, s.aof.db, []byte("aof")
		return nil
	}
}

var errAOF = errors.New("this is no call of an AOF")

// command reads annotations and one call. The error is io.EOF where the file ends as it
// should, and io.ErrUnexpectedEOF where it does not.
func (s *source) command(c *raw) error {
	var line []byte
	for {
		var err error
		if line, err = s.Line(); err != nil {
			if errors.Is(err, io.EOF) && len(line) > 0 {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		if line[0] != '#' {
			break
		}
		s.aof.tells(line) // or it is about something else
	}
	n, ok := count(line, '*')
	if !ok || n < 1 || n > 1<<20 {
		return errAOF
	}
	a := &s.aof
	a.text, a.ends = a.text[:0], a.ends[:0]
	for range n {
		line, err := s.Line()
		if err != nil {
			return unexpected(err)
		}
		size, ok := count(line, '$')
		if !ok || size > maxLog-len(a.text) {
			return errAOF
		}
		from := len(a.text)
		for rest := size + 2; rest > 0; { // what is not there takes no memory
			part := min(rest, 64<<10)
			a.text = slices.Grow(a.text, part)
			got, err := io.ReadFull(s.In, a.text[len(a.text):len(a.text)+part])
			a.text = a.text[:len(a.text)+got]
			if err != nil {
				return unexpected(err)
			}
			rest -= part
		}
		if !bytes.HasSuffix(a.text, []byte("\r\n")) {
			return errAOF
		}
		a.text = a.text[:from+size]
		a.ends = append(a.ends, len(a.text))
	}
	c.args = c.args[:0]
	from := 0
	for _, end := range a.ends {
		c.args = append(c.args, a.text[from:end:end])
		from = end
	}
	if len(c.args[0]) == 0 {
		return errAOF
	}
	return nil
}

// count reads the number behind a letter.
func count(line []byte, letter byte) (int, bool) {
	line, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok || len(line) < 2 || len(line) > 11 || line[0] != letter || !whole(line[1:]) {
		return 0, false
	}
	n, err := strconv.Atoi(string(line[1:]))
	return n, err == nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
