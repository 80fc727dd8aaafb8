package onredis

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// client is one client: a caller for each row of a call. It belongs to one goroutine.
type client struct {
	*data
	callers []*link.Caller
	// tx has the commands of a transaction, whose calls are queued.
	tx     link.Caller
	queued []*model.Call
	open   bool
}

// Close does nothing: the connections are shared.
func (k *client) Close() {}

// Do sends a call; in a transaction, it is queued.
func (k *client) Do(ctx context.Context, c *model.Call) error {
	if k.open {
		k.queue(c)
		return nil
	}
	if c.Do == model.Statement {
		return k.statement(ctx, c)
	}
	s := &k.sets[c.Set]
	for len(k.callers) < len(c.Rows) {
		k.callers = append(k.callers, &link.Caller{})
	}
	for i := range c.Rows {
		q := k.callers[i]
		q.Reset()
		s.command(q, c, &c.Rows[i], c.Fields)
		q.Reply.Keep = c.Do.Reads()
	}
	if len(c.Rows) == 1 {
		q := k.callers[0]
		if q.Reply.Keep {
			q.Reply.Into(c.Buf)
		}
		n, err := k.lines.Do(ctx, q)
		if q.Reply.Keep {
			c.Buf = q.Reply.Text
		}
		if err != nil {
			return err
		}
		s.answer(c, &c.Rows[0], &q.Reply, n)
		return nil
	}
	if err := k.lines.DoAll(ctx, k.callers[:len(c.Rows)]); err != nil {
		return err
	}
	for i := range c.Rows {
		s.answer(c, &c.Rows[i], &k.callers[i].Reply, k.callers[i].Reply.N)
	}
	return nil
}

// begin begins a command on a record.
func (s *set) begin(q *link.Caller, command string, row *model.Row) {
	q.Next(command)
	q.Text = append(append(q.Text, s.prefix...), row.Key...)
	q.End()
}

// command appends the command of a call for a row, and what follows from it.
func (s *set) command(q *link.Caller, c *model.Call, row *model.Row, fields []int) {
	switch c.Do {
	case model.Get:
		s.get(q, row, fields)
	case model.Put, model.Insert, model.Update:
		s.put(q, c, row, fields)
	case model.Add:
		s.begin(q, "INCRBY", row)
		q.Num(c.By)
	case model.Delete:
		s.begin(q, "DEL", row)
	case model.Push:
		s.begin(q, "RPUSH", row)
		q.Bytes(row.Vals[0])
		if s.Most > 0 {
			s.begin(q, "LTRIM", row)
			q.Num(-s.Most)
			q.Num(-1)
		}
	case model.Pop:
		s.begin(q, "LPOP", row)
	case model.Range:
		s.elements(q, row, int64(c.Count))
	case model.Include:
		if s.Type == model.Sorted {
			s.begin(q, "ZADD", row)
			q.Num(c.By)
		} else {
			s.begin(q, "SADD", row)
		}
		q.Bytes(row.Vals[0])
	case model.Exclude:
		s.begin(q, s.word("SREM", "ZREM"), row)
		q.Bytes(row.Vals[0])
	case model.Has:
		s.begin(q, s.word("SISMEMBER", "ZSCORE"), row)
		q.Bytes(row.Vals[0])
	case model.Members:
		s.members(q, row)
	case model.Append:
		s.begin(q, "XADD", row)
		if s.Most > 0 {
			q.Add("MAXLEN")
			q.Add("~")
			q.Num(s.Most)
		}
		q.Add("*")
		q.Add("v")
		q.Bytes(row.Vals[0])
	}
}

// word returns the command for a set, or that for a sorted one.
func (s *set) word(plain, sorted string) string {
	if s.Type == model.Sorted {
		return sorted
	}
	return plain
}

func (s *set) get(q *link.Caller, row *model.Row, fields []int) {
	switch {
	case s.Type != model.Hash:
		s.begin(q, "GET", row)
	case fields == nil:
		s.begin(q, "HGETALL", row)
	default:
		s.begin(q, "HMGET", row)
		for _, f := range fields {
			q.Add(s.Fields[f].Name)
		}
	}
}

func (s *set) put(q *link.Caller, c *model.Call, row *model.Row, fields []int) {
	ms := int64(0)
	if c.TTL > 0 {
		ms = max(c.TTL/int64(time.Millisecond), 1)
	}
	if s.Type != model.Hash {
		s.begin(q, "SET", row)
		q.Bytes(row.Vals[0])
		if ms > 0 {
			q.Add("PX")
			q.Num(ms)
		}
		return
	}
	s.begin(q, "HSET", row)
	for i, val := range row.Vals {
		f := i
		if fields != nil {
			f = fields[i]
		}
		q.Add(s.Fields[f].Name)
		q.Bytes(val)
	}
	if ms > 0 {
		s.begin(q, "PEXPIRE", row)
		q.Num(ms)
	}
}

func (s *set) elements(q *link.Caller, row *model.Row, n int64) {
	switch s.Type {
	case model.Sorted:
		s.begin(q, "ZREVRANGE", row)
		q.Num(0)
		q.Num(n - 1)
	case model.Stream:
		s.begin(q, "XREVRANGE", row)
		q.Add("+")
		q.Add("-")
		q.Add("COUNT")
		q.Num(n)
	default:
		s.begin(q, "LRANGE", row)
		q.Num(-n)
		q.Num(-1)
	}
}

func (s *set) members(q *link.Caller, row *model.Row) {
	if s.Type != model.Sorted {
		s.begin(q, "SMEMBERS", row)
		return
	}
	s.begin(q, "ZRANGE", row)
	q.Num(0)
	q.Num(-1)
}

// answer fills in what a row has been answered. n is the number replied.
func (s *set) answer(c *model.Call, row *model.Row, r *link.Reply, n int64) {
	switch c.Do {
	case model.Get:
		s.record(c, row, r)
	case model.Add:
		c.N = n
	case model.Pop:
		row.Vals = row.Vals[:0]
		if row.Found = r.Len() > 0; row.Found {
			var val []byte
			if val, row.Found = r.At(0); row.Found {
				row.Vals = append(row.Vals, val)
			}
		}
	case model.Delete, model.Exclude:
		row.Found = n > 0
	case model.Has:
		row.Found = n > 0 || s.Type == model.Sorted && n >= 0
	case model.Range, model.Members:
		s.list(c, r)
	default:
		row.Found = true
	}
}

// record fills in the values of a record.
func (s *set) record(c *model.Call, row *model.Row, r *link.Reply) {
	row.Vals, row.Found = row.Vals[:0], false
	if s.Type == model.Hash && c.Fields == nil {
		s.all(row, r)
		return
	}
	for i := range r.Len() {
		val, there := r.At(i)
		row.Found = row.Found || there
		row.Vals = append(row.Vals, val)
	}
}

// all fills in all values of a hash, whose fields come in any order.
func (s *set) all(row *model.Row, r *link.Reply) {
	if row.Found = r.Len() > 0; !row.Found {
		return
	}
	for range s.Fields {
		row.Vals = append(row.Vals, nil)
	}
	for i := 0; i+1 < r.Len(); i += 2 {
		name, _ := r.At(i)
		at := i / 2 // usually they come as they were written
		if at >= len(s.Fields) || s.Fields[at].Name != string(name) {
			at = s.field(name)
		}
		if at >= 0 {
			row.Vals[at], _ = r.At(i + 1)
		}
	}
}

func (s *set) field(name []byte) int {
	for i := range s.Fields {
		if s.Fields[i].Name == string(name) {
			return i
		}
	}
	return -1
}

// list fills in elements. Those of a stream come with an id and the name of their field.
func (s *set) list(c *model.Call, r *link.Reply) {
	c.Got = c.Got[:0]
	from, step := 0, 1
	if s.Type == model.Stream {
		from, step = 2, 3
	}
	for i := from; i < r.Len(); i += step {
		val, _ := r.At(i)
		n := len(c.Got)
		if n == cap(c.Got) {
			c.Got = append(c.Got, model.Row{})
		}
		c.Got = c.Got[:n+1]
		c.Got[n].Vals, c.Got[n].Found = append(c.Got[n].Vals[:0], val), true
	}
}

// statement sends a statement. Each question mark in it stands for an argument.
func (k *client) statement(ctx context.Context, c *model.Call) error {
	if len(k.callers) == 0 {
		k.callers = append(k.callers, &link.Caller{})
	}
	q, arg := k.callers[0], 0
	q.Reset()
	for i, word := range k.statements[c.Statement] {
		for {
			before, after, is := strings.Cut(word, "?")
			q.Text = append(q.Text, before...)
			if !is || arg == len(c.Args) {
				break
			}
			q.Text = append(q.Text, c.Args[arg]...)
			arg++
			word = after
		}
		if i == 0 {
			q.Next(string(q.Text))
			q.Text = q.Text[:0]
		} else {
			q.End()
		}
	}
	q.Reply.Into(c.Buf)
	n, err := k.lines.Do(ctx, q)
	c.Buf, c.N, c.Got = q.Reply.Text, n, c.Got[:0]
	return err
}

// Begin begins a transaction.
func (k *client) Begin(context.Context) error {
	k.open, k.queued = true, k.queued[:0]
	k.tx.Multi()
	return nil
}

// queue adds a call to a transaction. Of a hash the fields are named, so that it is known
// how much each command answers.
func (k *client) queue(c *model.Call) {
	s := &k.sets[c.Set]
	fields := c.Fields
	if s.Type == model.Hash && fields == nil {
		fields = s.every()
	}
	for i := range c.Rows {
		s.command(&k.tx, c, &c.Rows[i], fields)
	}
	k.queued = append(k.queued, c)
}

// every returns the indexes of all fields.
func (s *set) every() []int {
	all := make([]int, len(s.Fields))
	for i := range all {
		all[i] = i
	}
	return all
}

// answers returns how many texts the commands of a call on one row answer with.
func (s *set) answers(c *model.Call) int {
	n := 1
	switch {
	case c.Do == model.Get && s.Type == model.Hash && c.Fields == nil:
		n = len(s.Fields)
	case c.Do == model.Get && s.Type == model.Hash:
		n = len(c.Fields)
	case c.Do == model.Push && s.Most > 0, (c.Do == model.Put || c.Do == model.Insert || c.Do == model.Update) && s.Type == model.Hash && c.TTL > 0:
		n = 2
	}
	return n
}

// Commit sends the transaction, and gives each call its answer.
func (k *client) Commit(ctx context.Context) error {
	k.open = false
	k.tx.Exec()
	k.tx.Reply.Keep = true
	if _, err := k.lines.Do(ctx, &k.tx); err != nil {
		return err
	}
	all := 0
	for _, c := range k.queued {
		all += k.sets[c.Set].answers(c) * len(c.Rows)
	}
	at := k.tx.Reply.Len() - all // confirmations come first
	for _, c := range k.queued {
		s := &k.sets[c.Set]
		n := s.answers(c)
		c.Buf = c.Buf[:0]
		for i := range c.Rows {
			k.part(s, c, &c.Rows[i], at, n)
			at += n
		}
	}
	return nil
}

// part gives a row its part of the answers.
func (k *client) part(s *set, c *model.Call, row *model.Row, at, n int) {
	if at < 0 {
		return
	}
	first, there := k.tx.Reply.At(at)
	switch c.Do {
	case model.Get:
		row.Vals, row.Found = row.Vals[:0], false
		for i := range n {
			val, ok := k.tx.Reply.At(at + i)
			from := len(c.Buf)
			c.Buf = append(c.Buf, val...)
			row.Vals, row.Found = append(row.Vals, c.Buf[from:]), row.Found || ok
		}
	case model.Add:
		c.N, _ = strconv.ParseInt(string(first), 10, 64) // a number
	case model.Delete, model.Exclude, model.Has:
		row.Found = string(first) != "0"
	default:
		row.Found = there
	}
}

// Abort forgets what was queued.
func (k *client) Abort(context.Context) { k.open = false }

var _ model.Transactor = (*client)(nil)
