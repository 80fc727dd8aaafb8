package link

import (
	"fmt"
	"strconv"
)

// Request is a command that is being put together, or several that are sent as one:
// the arguments one after the other in one buffer, which the next use takes again. It
// belongs to one goroutine.
type Request struct {
	// Text are the arguments, one after the other; End ends one.
	Text []byte
	ends []int
	// keyAt is which argument the first key is.
	keyAt int
	// out are the commands as the protocol has them, of which there are count.
	out   []byte
	count int
}

// Reset begins anew.
func (q *Request) Reset() {
	q.Text, q.ends, q.keyAt, q.out, q.count = q.Text[:0], q.ends[:0], 1, q.out[:0], 0
}

// Command begins a command whose first argument is a key.
func (q *Request) Command(name string) {
	q.Reset()
	q.Add(name)
}

// Next begins another command, to be sent with those that there are since Reset. A cluster must have
// all keys of them in one place.
func (q *Request) Next(name string) {
	if len(q.ends) > 0 {
		q.encode()
	}
	q.Text, q.ends = q.Text[:0], q.ends[:0]
	q.Add(name)
}

// End ends the argument that was appended to Text.
func (q *Request) End() { q.ends = append(q.ends, len(q.Text)) }

// Add appends an argument of several parts.
func (q *Request) Add(parts ...string) {
	for _, p := range parts {
		q.Text = append(q.Text, p...)
	}
	q.End()
}

// Bytes appends an argument.
func (q *Request) Bytes(arg []byte) {
	q.Text = append(q.Text, arg...)
	q.End()
}

// Num appends a number as an argument.
func (q *Request) Num(n int64) {
	q.Text = strconv.AppendInt(q.Text, n, 10)
	q.End()
}

// encode writes the command behind those before it.
func (q *Request) encode() {
	out := append(q.out, '*')
	out = append(strconv.AppendInt(out, int64(len(q.ends)), 10), "\r\n"...)
	from := 0
	for _, to := range q.ends {
		out = append(out, '$')
		out = append(strconv.AppendInt(out, int64(to-from), 10), "\r\n"...)
		out = append(append(out, q.Text[from:to]...), "\r\n"...)
		from = to
	}
	q.out = out
	q.count++
}

// wire ends the request and returns what is sent of it.
func (q *Request) wire() []byte {
	q.encode()
	return q.out
}

// key is the first key of the command; none: its name.
func (q *Request) key() []byte {
	i := q.keyAt
	if i >= len(q.ends) {
		i = 0
	}
	from := 0
	if i > 0 {
		from = q.ends[i-1]
	}
	return q.Text[from:q.ends[i]]
}

// args are the arguments for a client library.
func (q *Request) args() []any {
	out := make([]any, len(q.ends))
	from := 0
	for i, to := range q.ends {
		out[i] = q.Text[from:to:to]
		from = to
	}
	return out
}

// Encode writes a request as the protocol has it.
func Encode(args ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}
