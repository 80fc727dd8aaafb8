package statements

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
)

var errFQL = errors.New("this is no line of fqltool dump")

// fql reads what fqltool dump prints.
type fql struct{ *capture.Log }

// beginsFQL reports whether a log begins as fqltool dump does.
func beginsFQL(ahead []byte) bool { return bytes.HasPrefix(ahead, []byte(typeIs)) }

// What lines begin with.
const (
	typeIs, startIs, batchIs, queryIs, valuesAre = "Type: ", "Query start time: ", "Batch type: ", "Query: ", "Values: "
	single, batch                                = "single-query", "batch"
	separator, repeated, truncated               = "-----", "........", "... truncated"
)

func (f *fql) kind() capture.Header {
	return capture.Header{Store: cassandraStore, How: "fqltool dump", Timing: capture.Millis}
}

// read is an entry as far as it was read.
type read struct {
	entry
	kind string
	// of is the kind of a batch.
	of      string
	queries []string
	bound   []bound
	// least is how many values there are at the next line between two: one is behind the first
	// that has two before it, and an empty value prints nothing else.
	least int
}

// next reads the next statement, or the next batch as one.
func (f *fql) next() (*entry, error) {
	r := read{}
	first := 0
	values := false // its values are read
	var query []string
	size := 0 // of all queries
	for {
		line, err := f.Line()
		text := trimmed(line)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case err != nil && first == 0 && len(line) == 0:
			return nil, io.EOF
		case err != nil && first <= 1 && !values:
			return nil, f.At("line", f.Number, errors.New("it is cut short"))
		case err != nil:
			return nil, f.CutAt("line", first)
		case first == 0 && text == "":
			continue
		case first == 0:
			kind, ok := strings.CutPrefix(text, typeIs)
			if !ok || kind != single && kind != batch {
				return nil, f.At("line", f.Number, errFQL)
			}
			first, r.kind = f.Number, kind
		case query != nil && text != strings.TrimSpace(valuesAre) && text != valuesAre:
			if size += len(text); size > mostRecord || len(query) > 1<<20 {
				return nil, f.At("line", first, errTooLong)
			}
			query = append(query, text)
		case query != nil:
			r.queries, query, values = append(r.queries, strings.Join(query, "\n")), nil, true
		case strings.HasPrefix(text, queryIs):
			query, values = []string{text[len(queryIs):]}, false
			r.least = len(r.bound) + 2
		case values && text == "":
			return r.done(), nil
		case values:
			if !r.value(text) {
				return nil, f.At("line", f.Number, errFQL)
			}
		case strings.HasPrefix(text, startIs):
			ms, err := strconv.ParseInt(text[len(startIs):], 10, 64)
			if err != nil || ms < 0 || ms > 1<<43 {
				return nil, f.At("line", f.Number, errors.New("its moment is none"))
			}
			r.at = time.UnixMilli(ms).UTC()
		case strings.HasPrefix(text, batchIs):
			r.of = text[len(batchIs):]
		case strings.HasPrefix(text, "Protocol version: "), strings.HasPrefix(text, "Generated timestamp:"), strings.HasPrefix(text, "Generated nowInSeconds:"):
		default:
			return nil, f.At("line", f.Number, errFQL)
		}
	}
}

// value reads a line of the values: sixteen bytes of one, or what is between two.
func (r *read) value(line string) bool {
	last := len(r.bound) - 1
	switch {
	case line == separator:
		if len(r.bound) < r.least {
			r.bound = append(r.bound, bound{})
		}
		r.least++
		return true
	case line == repeated && last >= 0:
		r.bound[last].longer = true // the line before is there again, it is not said how often
		return true
	case line == truncated && last >= 0:
		r.bound[last].longer = true
		return true
	case line == "null":
		r.bound = append(r.bound, bound{null: true})
		return true
	case len(line) < 11 || !isOffset(line[:8]):
		return false
	}
	at, _ := strconv.ParseInt(line[:8], 16, 64) // they are digits
	if at == 0 {
		r.bound = append(r.bound, bound{})
		last++
	}
	if last < 0 {
		return false
	}
	b := &r.bound[last]
	if b.longer && int64(len(b.value)) < at {
		b.again(int(at))
	}
	for i := range 16 { // each is a space and two digits, with one more space in the middle
		from := 8 + 3*i + i/8
		if from+3 > len(line) || line[from+1] == ' ' {
			break
		}
		var one [1]byte
		if n, err := hex.Decode(one[:], []byte(line[from+1:from+3])); err != nil || n != 1 {
			return false
		}
		b.value += string(one[:])
	}
	return true
}

// again fills in the lines that were left out because they are as the one before.
func (b *bound) again(to int) {
	if n := len(b.value); n >= 16 && to <= 1<<20 {
		b.value += strings.Repeat(b.value[n-16:], (to-n)/16)
		b.longer = len(b.value) != to
	}
}

func isOffset(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// done puts the entry together.
func (r *read) done() *entry {
	e := r.entry
	e.conn, e.bound = "fql", r.bound
	switch {
	case r.kind == single && len(r.queries) > 0:
		e.sql = r.queries[0]
	default:
		var b strings.Builder
		b.WriteString("BATCH")
		if r.of != "" && r.of != "LOGGED" {
			b.Reset()
			b.WriteString("BATCH " + r.of)
		}
		for _, q := range r.queries {
			b.WriteString("; " + strings.TrimRight(strings.TrimSpace(q), ";"))
		}
		e.sql = b.String()
	}
	return &e
}
