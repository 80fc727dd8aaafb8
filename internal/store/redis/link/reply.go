package link

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// Reply is the reply to a call. Its memory is reused for the next one.
type Reply struct {
	// N is the number, or the length in bytes or elements; -1 for nil.
	N int64
	// Keep means that texts are kept; otherwise they are read and discarded.
	Keep bool
	// Text holds the texts, concatenated.
	Text []byte
	// ends are the ends of the texts in Text; ^end for nil.
	ends []int
}

// reset clears the reply for the next one.
func (r *Reply) reset() { r.N, r.Text, r.ends = 0, r.Text[:0], r.ends[:0] }

// Into makes the texts of the next reply be appended to buf, which may grow.
func (r *Reply) Into(buf []byte) { r.Keep, r.Text = true, buf }

// Len returns how many texts there are, counting nested lists as flattened.
func (r *Reply) Len() int { return len(r.ends) }

// At returns the i-th text; false for nil.
func (r *Reply) At(i int) ([]byte, bool) {
	from, to := 0, r.ends[i]
	if i > 0 {
		from = max(r.ends[i-1], ^r.ends[i-1])
	}
	if to < 0 {
		return nil, false
	}
	return r.Text[from:to:to], true
}

// end ends a text, or notes a nil.
func (r *Reply) end(there bool) {
	at := len(r.Text)
	if !there {
		at = ^at
	}
	r.ends = append(r.ends, at)
}

// respError is an error reply of the server. It implements go-redis's interface for
// those, so that it is classified in the same way.
type respError string

// Error returns the reply.
func (e respError) Error() string { return string(e) }

// RedisError marks an error as a reply of the server.
func (respError) RedisError() {}

// readAll reads n replies. N is that of the last. An error reply is returned after all
// have been read, any other error at once.
func (r *Reply) readAll(in *bufio.Reader, n int) error {
	r.reset()
	var first error
	for range n {
		number, err := r.read(in)
		if err != nil && !isReply(err) {
			return err
		}
		if first == nil {
			first = err
		}
		r.N = number
	}
	return first
}

// read reads one reply, or an element of one.
func (r *Reply) read(in *bufio.Reader) (int64, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 3 {
		return 0, strange(line)
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '-':
		return 0, respError(string(text))
	case '+':
		r.keep(text)
		return 0, nil
	case '_': // of the newer protocol, like those that follow
		if r.Keep {
			r.end(false)
		}
		return -1, nil
	case ',', '#', '(':
		r.keep(text)
		return 0, nil
	case '$', '*', ':', '%', '~':
	default:
		return 0, strange(line)
	}
	n, ok := parse(text)
	if !ok {
		return 0, strange(line)
	}
	kind := line[0]
	switch kind {
	case ':':
		r.keep(text)
		return n, nil
	case '$':
		return n, r.bulk(in, n)
	}
	elements := n
	if kind == '%' {
		elements = 2 * n // keys and values
	}
	var first error
	for range elements {
		if _, err := r.read(in); err != nil {
			if !isReply(err) {
				return n, err
			}
			first = err
		}
	}
	return n, first
}

func (r *Reply) keep(text []byte) {
	if r.Keep {
		r.Text = append(r.Text, text...)
		r.end(true)
	}
}

// bulk reads the n bytes of a text, and the line end that follows.
func (r *Reply) bulk(in *bufio.Reader, n int64) (err error) {
	switch {
	case n < 0:
		if r.Keep {
			r.end(false)
		}
		return nil
	case !r.Keep:
		_, err = in.Discard(int(n) + 2)
		return err
	}
	from := len(r.Text)
	if need := from + int(n); need > cap(r.Text) {
		grown := make([]byte, need, max(need, 2*cap(r.Text)))
		copy(grown, r.Text)
		r.Text = grown
	} else {
		r.Text = r.Text[:need]
	}
	if _, err = io.ReadFull(in, r.Text[from:]); err == nil {
		_, err = in.Discard(2)
	}
	r.end(true)
	return err
}

// parse parses a number without copying its text.
func parse(text []byte) (int64, bool) {
	if len(text) == 0 || len(text) > 18 {
		n, err := strconv.ParseInt(string(text), 10, 64)
		return n, err == nil
	}
	minus := text[0] == '-'
	if minus {
		text = text[1:]
	}
	n := int64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if minus {
		n = -n
	}
	return n, len(text) > 0
}

func strange(line []byte) error { return fmt.Errorf("a reply begins with %q", line) }

// convert converts a reply as returned by go-redis.
func (r *Reply) convert(v any) {
	r.reset()
	r.N = r.add(v)
}

func (r *Reply) add(v any) int64 {
	switch v := v.(type) {
	case nil:
		if r.Keep {
			r.end(false)
		}
		return -1
	case string: // a text counts by its length, as it does on our own connections
		r.keep([]byte(v))
		return int64(len(v))
	case int64:
		r.keep(strconv.AppendInt(nil, v, 10))
		return v
	case []any:
		for _, e := range v {
			r.add(e)
		}
		return int64(len(v))
	case map[any]any:
		for k, e := range v {
			r.add(k)
			r.add(e)
		}
		return int64(2 * len(v))
	}
	r.keep(fmt.Append(nil, v))
	return 0
}
