package traffic

import (
	"bufio"
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

	"github.com/klauspost/compress/zstd"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
)

// maxLog is how long a line of a log may be, and a call in an AOF.
const maxLog = 512 << 20

// Convert makes a capture of a log: what MONITOR printed, an AOF, the folder or manifest of one
// that has several parts, or a trace of a cache. A file may be packed by zstd. Errors about the log have the code of bad input, name the
// place in it, and leave no file behind.
func Convert(ctx context.Context, log, path string, o Options) (capture.Tally, error) {
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
	var c raw
	err = s.next(&c)
	if errors.Is(err, io.EOF) && s.cut != "" {
		return capture.Tally{}, s.input(s.cut, "")
	}
	if errors.Is(err, io.EOF) {
		return capture.Tally{}, fault.Input(fmt.Errorf("%s has no calls in it", log), "")
	}
	if err != nil {
		return capture.Tally{}, err
	}
	h := capture.Header{
		Store: "redis", Source: filepath.Base(log), How: s.how, Started: c.at.UTC(), Timing: s.timing,
		Values: o.Values, Anonymised: o.Disguise != nil, Notes: notes,
	}
	if o.Sample > 1 {
		if !s.connections {
			return capture.Tally{}, fault.Input(fmt.Errorf("%s does not say which connection a call was made on, so none can be sampled", log), "leave out --sample")
		}
		h.Sample = o.Sample
	}
	w, err := capture.Create(path, h, o.Max)
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
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if s.cut != "" {
		w.Leave(leftCut, 1)
		w.Tally.Notes = append(w.Tally.Notes, s.cut)
	}
	err = r.end("the log was read to its end", err)
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
	ctx    context.Context
	parts  []string
	name   string
	file   *os.File
	in     *bufio.Reader
	how    string
	timing capture.Timing
	// connections says that calls tell theirs.
	connections bool
	next        func(*raw) error
	// number is that of the line, or of the call in an AOF.
	number int
	// cut says that the last call was cut short.
	cut string

	parser parser
	long   []byte
	aof    aof
	trace  trace
	// unpacks unpacks the file; nil: it is not packed.
	unpacks *zstd.Decoder
}

func (s *source) close() {
	if s.unpacks != nil {
		s.unpacks.Close()
		s.unpacks = nil
	}
	if s.file != nil {
		_ = s.file.Close() // it was only read
	}
}

// open opens the next file, and finds out what it is.
func (s *source) open() error {
	s.close()
	s.name, s.parts, s.number = s.parts[0], s.parts[1:], 0
	f, err := infile.Open(infile.Recorded, s.name)
	if err != nil {
		return fault.Code(err, fault.CodeInput)
	}
	s.file, s.in = f, bufio.NewReaderSize(f, 256<<10)
	begin, err := s.in.Peek(5)
	if capture.Is(begin) {
		if err := s.unpack(); err != nil {
			return err
		}
		begin, err = s.in.Peek(len(topOfCapture))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	was := s.how
	switch {
	case string(begin) == topOfCapture, string(begin) == otherTop:
		return s.input("it is a capture already", "perfbench capture --show shows what is in it")
	case bytes.HasPrefix(begin, []byte("REDIS")):
		return s.input("it begins with a snapshot (RDB), behind which the calls cannot be found", "with Redis 7, or after BGREWRITEAOF on it, name the folder appendonlydir")
	case bytes.HasPrefix(begin, []byte("*")), bytes.HasPrefix(begin, []byte("#TS:")), len(begin) == 0 && was == ofAOF:
		s.how, s.next = ofAOF, s.nextInAOF
		ahead, _ := s.in.Peek(s.in.Size()) // what there is of it
		s.aof.begin(ahead)
		if was == "" {
			s.timing = s.aof.timing
		}
	default:
		ahead, _ := s.in.Peek(s.in.Size()) // what there is of it
		if timing, heading := s.trace.begin(ahead); timing != "" {
			s.how, s.next, s.timing, s.connections = ofTrace, s.nextInTrace, timing, !heading
			break
		}
		s.how, s.next, s.timing, s.connections = "what MONITOR printed", s.nextLine, capture.Exact, true
	}
	if was != "" && s.how != was {
		return s.input("it is "+s.how+", and the file before it "+was, "")
	}
	return nil
}

const ofAOF = "an append-only file"

// What a capture begins with, when it has been unpacked: its keys may be in any order.
const topOfCapture, otherTop = `{"header":{`, `{"perfbench`

// input is an error about the file.
func (s *source) input(what, hint string) error {
	return fault.Input(fmt.Errorf("%s: %s", s.name, what), hint)
}

// nextLine reads a call that MONITOR printed.
func (s *source) nextLine(c *raw) error {
	for {
		line, err := s.line()
		if err != nil && len(line) == 0 {
			return err
		}
		s.number++
		if s.number%1024 == 0 && s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		ended := err == nil
		line = bytes.TrimRight(line, "\r\n")
		line, _ = bytes.CutPrefix(line, []byte("+"))
		if len(line) == 0 || string(line) == "OK" {
			continue
		}
		switch err := s.parser.parse(line, c); {
		case err == nil && len(c.args[0]) > 0:
			return nil
		case !ended:
			if s.number > 1 {
				s.cut = fmt.Sprintf("line %d is cut short, and was left out", s.number)
				return io.EOF
			}
			return s.at("line", errForeign)
		case err == nil:
			err = errForeign
			return s.at("line", err)
		default:
			return s.at("line", err)
		}
	}
}

// at is an error about the line or call that was just read.
func (s *source) at(what string, err error) error {
	return fault.Input(fmt.Errorf("%s: %s %d: %w", s.name, what, s.number, err), "a log is what redis-cli monitor printed, an AOF, or a trace of a cache")
}

// line returns the next line with its end, until it is called again.
func (s *source) line() ([]byte, error) {
	s.long = s.long[:0]
	for {
		part, err := s.in.ReadSlice('\n')
		if err == nil && len(s.long) == 0 {
			return part, nil
		}
		s.long = append(s.long, part...)
		if len(s.long) > maxLog {
			s.number++
			return nil, s.at("line", errForeign)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return s.long, err
		}
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
		if s.number++; s.number%1024 == 0 && s.ctx.Err() != nil {
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
		case errors.Is(err, io.ErrUnexpectedEOF) && len(s.parts) == 0 && s.number > 1:
			s.cut = fmt.Sprintf("call %d is cut short, and was left out", s.number)
			return io.EOF
		case errors.Is(err, io.ErrUnexpectedEOF):
			return s.at("call", errors.New("it is cut short"))
		case err != nil:
			return s.at("call", err)
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
		if line, err = s.line(); err != nil {
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
		line, err := s.line()
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
			got, err := io.ReadFull(s.in, a.text[len(a.text):len(a.text)+part])
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
