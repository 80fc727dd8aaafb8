package traffic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
)

// mostAgain is how many calls a line of a trace may stand for.
const mostAgain = 1 << 20

const ofTrace = "a trace of a cache, whose operations are the commands of Redis nearest to them"

// trace is where the columns of a trace of a cache are. The zero value is Twitter's, which are
// in a fixed order, and whose keys may have commas in them.
type trace struct {
	// columns are Meta's, by the names in the first line.
	columns []string
	fields  [][]byte
	// zeros stand for data, of which only the size is known.
	zeros []byte
	// again is how often the last call is made once more.
	again int
	// found is what a hit of the last line found, if it says; misses is how many of its
	// calls that are still to come find nothing.
	found  capture.Found
	misses int
}

// The names of Meta's columns that are used. Without those that must be there, it is no trace.
const (
	columnTime, columnKey, columnOp, columnSize, columnCount, columnHits, columnTTL = "op_time", "key", "op", "size", "op_count", "cache_hits", "ttl"
)

// begin recognises a trace by its first line, and says how exactly moments are known; empty: it
// is none. heading says that the line names the columns.
func (t *trace) begin(ahead []byte) (timing capture.Timing, heading bool) {
	line, _, _ := bytes.Cut(ahead, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	if t.twitter(line) {
		return capture.Seconds, false
	}
	var names []string
	for f := range bytes.SplitSeq(line, []byte(",")) {
		names = append(names, string(bytes.TrimSpace(f)))
	}
	for _, must := range []string{columnKey, columnOp, columnSize} {
		if !slices.Contains(names, must) {
			return "", false
		}
	}
	t.columns = names
	if slices.Contains(names, columnTime) {
		return capture.Seconds, true
	}
	return capture.Unknown, true
}

// twitter parts a line of Twitter's: time, key, its size, the size of the value, client,
// operation, time to live.
func (t *trace) twitter(line []byte) bool {
	t.fields = t.fields[:0]
	first, rest, ok := bytes.Cut(line, []byte(","))
	if !ok {
		return false
	}
	for range 5 {
		i := bytes.LastIndexByte(rest, ',')
		if i < 0 {
			return false
		}
		t.fields, rest = append(t.fields, rest[i+1:]), rest[:i]
	}
	t.fields = append(t.fields, rest, first)
	slices.Reverse(t.fields)
	for _, i := range []int{0, 2, 3, 4, 6} {
		if !whole(t.fields[i]) {
			return false
		}
	}
	return len(t.fields[1]) > 0 && len(t.fields[5]) > 0
}

// column returns a field of Meta's; nil: there is none.
func (t *trace) column(name string) []byte {
	if i := slices.Index(t.columns, name); i >= 0 {
		return bytes.TrimSpace(t.fields[i])
	}
	return nil
}

var errTrace = errors.New("this is no line of a trace of a cache")

// parse reads a line.
func (t *trace) parse(line []byte, c *raw) error {
	if t.columns == nil {
		if !t.twitter(line) {
			return errTrace
		}
		f := t.fields
		c.addr = f[4]
		return t.call(c, f[0], f[1], f[5], f[3], f[6])
	}
	t.fields = t.fields[:0]
	for f := range bytes.SplitSeq(line, []byte(",")) {
		t.fields = append(t.fields, f)
	}
	if len(t.fields) != len(t.columns) {
		return fmt.Errorf("it has %d columns, and the first line names %d", len(t.fields), len(t.columns))
	}
	c.addr = []byte("trace")
	if n := t.column(columnCount); len(n) > 0 {
		count, err := number(n, mostAgain)
		if err != nil || count < 1 {
			return fmt.Errorf("%s is %.20q, and should be a number from 1 to %d", columnCount, n, mostAgain)
		}
		t.again = int(count) - 1
	}
	if err := t.call(c, t.column(columnTime), t.column(columnKey), t.column(columnOp), t.column(columnSize), t.column(columnTTL)); err != nil {
		return err
	}
	return t.hits(c)
}

// hits reads how many calls of a line found something. Those that did not are taken to have
// come first: whoever finds nothing in a cache puts it there.
func (t *trace) hits(c *raw) error {
	t.found, t.misses = capture.Found{}, 0
	if n := t.column(columnHits); len(n) > 0 && string(c.args[0]) == "GET" {
		hits, err := number(n, int64(t.again)+1)
		if err != nil {
			return fmt.Errorf("%s is %.20q, and should be a number from 0 to that of the calls, %d", columnHits, n, t.again+1)
		}
		size, _ := number(t.column(columnSize), maxLog) // which call has read, too
		t.found, t.misses = capture.Found{Known: true, Hit: true, Size: int(size)}, t.again+1-int(hits)
	}
	t.answer(c)
	return nil
}

// answer says what the next call of a line found.
func (t *trace) answer(c *raw) {
	c.found = t.found
	if t.misses > 0 {
		t.misses--
		c.found = capture.Found{Known: true}
	}
}

// call makes a call of what a line says.
func (t *trace) call(c *raw, at, key, op, size, ttl []byte) error {
	sec, err1 := number(at, 1<<36)
	n, err2 := number(size, maxLog)
	lives, err3 := number(ttl, 1<<36)
	if len(key) == 0 || len(op) == 0 || err1 != nil || err2 != nil || err3 != nil {
		return errTrace
	}
	if len(t.zeros) < int(n) {
		t.zeros = make([]byte, n)
	}
	value := t.zeros[:n]
	c.at, c.db = time.Unix(sec, 0), 0
	c.args = c.args[:0]
	add := func(args ...[]byte) { c.args = append(c.args, args...) }
	switch name := string(bytes.ToLower(op)); name {
	case "get", "gets", "get_lease":
		add([]byte("GET"), key)
	case "set", "cas", "add", "replace":
		add([]byte("SET"), key, value)
		if lives > 0 {
			add([]byte("EX"), ttl)
		}
		if name == "add" {
			add([]byte("NX"))
		} else if name == "replace" {
			add([]byte("XX"))
		}
	case "append", "prepend":
		add([]byte("APPEND"), key, value)
	case "delete":
		add([]byte("DEL"), key)
	case "incr":
		add([]byte("INCR"), key)
	case "decr":
		add([]byte("DECR"), key)
	default: // under its own name, which Redis may or may not know
		add(op, key)
	}
	return nil
}

// number reads a number up to a limit; an empty text is 0. Meta writes some with a fraction.
func number(text []byte, most int64) (int64, error) {
	if len(text) == 0 {
		return 0, nil
	}
	text, _ = bytes.CutSuffix(text, []byte(".0"))
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err == nil && (n < 0 || n > most) {
		err = strconv.ErrRange
	}
	return n, err
}

// nextInTrace reads a call of a trace of a cache.
func (s *source) nextInTrace(c *raw) error {
	if s.trace.again > 0 {
		s.trace.again--
		s.trace.answer(c)
		return nil
	}
	for {
		line, err := s.Line()
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return err
		}
		if err != nil && s.Cut != "" { // what it was packed with is cut short, and so is the line
			return io.EOF
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 || s.Number == 1 && s.trace.columns != nil {
			continue
		}
		switch wrong := s.trace.parse(line, c); {
		case wrong == nil:
			return nil
		case err != nil && s.Number > 1:
			return s.CutAt("line", s.Number)
		default:
			return s.At("line", s.Number, wrong)
		}
	}
}
