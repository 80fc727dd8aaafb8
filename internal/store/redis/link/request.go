package link

import (
	"fmt"
	"strconv"
)

// Request is one command being assembled, or several that are sent together, encoded
// for the protocol in a buffer that is reused. It belongs to one goroutine.
type Request struct {
	// Text is the argument being assembled; End ends it.
	Text []byte
	// out holds the commands; where the last one begins there is room for its head.
	out []byte
	// ends are where the arguments of the last command begin and end in out.
	ends []int
	// from is where out begins, last where the last command does, after its room.
	from, last int
	// keyAt is the index of the first key among the arguments; count is how many
	// commands have their head.
	keyAt, count int
	// where is the key that decides where a transaction is sent; empty if there is
	// none.
	where []byte
}

// room is the space reserved for the head of a command: a star, a number and a line
// end.
const room = 16

// Reset empties the request.
func (q *Request) Reset() {
	q.Text, q.out, q.ends, q.from, q.last, q.keyAt, q.count = q.Text[:0], q.out[:0], q.ends[:0], 0, 0, 1, 0
	q.where = q.where[:0]
}

// Command begins a command whose first argument is a key.
func (q *Request) Command(name string) {
	q.Reset()
	q.Add(name)
}

// Next begins another command, to be sent along with those added since Reset.
func (q *Request) Next(name string) {
	if len(q.ends) > 0 {
		q.head()
		q.ends = q.ends[:0]
	}
	q.Add(name)
}

// begin begins an argument of n bytes.
func (q *Request) begin(n int) {
	if len(q.ends) == 0 {
		var space [room]byte
		q.out = append(q.out, space[:]...)
		q.last = len(q.out)
	}
	q.out = append(strconv.AppendInt(append(q.out, '$'), int64(n), 10), "\r\n"...)
	q.ends = append(q.ends, len(q.out))
}

// end ends an argument.
func (q *Request) end() {
	q.ends = append(q.ends, len(q.out))
	q.out = append(q.out, "\r\n"...)
}

// End ends the argument that was appended to Text.
func (q *Request) End() {
	q.Bytes(q.Text)
	q.Text = q.Text[:0]
}

// Add appends an argument of several parts.
func (q *Request) Add(parts ...string) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	q.begin(n)
	for _, p := range parts {
		q.out = append(q.out, p...)
	}
	q.end()
}

// Bytes appends an argument.
func (q *Request) Bytes(arg []byte) {
	q.begin(len(arg))
	q.out = append(q.out, arg...)
	q.end()
}

// Num appends a number as an argument.
func (q *Request) Num(n int64) {
	q.Text = strconv.AppendInt(q.Text[:0], n, 10)
	q.End()
}

// KeyAt says which argument of the command is its first key, where that is not the one after
// its name. It is called before Do.
func (q *Request) KeyAt(i int) { q.keyAt = i }

// head writes the head of the last command next to it. It goes in front of the first
// command; later commands are moved down so that they follow the one before without a
// gap.
func (q *Request) head() {
	var b [room]byte
	text := append(strconv.AppendInt(append(b[:0], '*'), int64(len(q.ends)/2), 10), "\r\n"...)
	at := q.last - len(text)
	if q.count == 0 {
		q.from = at
	} else if gap := at - (q.last - room); gap > 0 {
		q.out = append(q.out[:at-gap+len(text)], q.out[q.last:]...)
		for i := range q.ends {
			q.ends[i] -= gap
		}
		at -= gap
		q.last = at + len(text)
	}
	copy(q.out[at:], text)
	q.count++
}

// wire completes the request and returns the bytes to send.
func (q *Request) wire() []byte {
	q.head()
	return q.out[q.from:]
}

// arg returns an argument of the last command.
func (q *Request) arg(i int) []byte { return q.out[q.ends[2*i]:q.ends[2*i+1]:q.ends[2*i+1]] }

// key returns the first key of the command, or that of the transaction; if there is
// none, its name.
func (q *Request) key() []byte {
	if len(q.where) > 0 {
		return q.where
	}
	if 2*q.keyAt < len(q.ends) {
		return q.arg(q.keyAt)
	}
	return q.arg(0)
}

// args returns the arguments in the form that go-redis takes.
func (q *Request) args() []any {
	out := make([]any, len(q.ends)/2)
	for i := range out {
		out[i] = q.arg(i)
	}
	return out
}

// Encode encodes a request for the protocol.
func Encode(args ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}
