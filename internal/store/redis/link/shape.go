package link

import (
	"context"

	"github.com/perfbench/perfbench/internal/store"
)

// sender sends the calls on a structure.
type sender struct {
	lines *Lines
	key   string
	at    Caller
	more  []*Caller
}

// begin begins a command on the structure.
func (s *sender) begin(command string) *Caller {
	s.at.Command(command)
	s.at.Add(s.key)
	s.at.Reply.Keep = false
	return &s.at
}

// do sends the command, and returns the number replied.
func (s *sender) do(ctx context.Context) (int64, error) { return s.lines.Do(ctx, &s.at) }

// some sends the command, and reports whether the number replied is above 0.
func (s *sender) some(ctx context.Context) (bool, error) {
	n, err := s.do(ctx)
	return err == nil && n > 0, err
}

// there sends the command, and reports whether the reply was not nil.
func (s *sender) there(ctx context.Context) (bool, error) {
	n, err := s.do(ctx)
	return err == nil && n >= 0, err
}

// each sends n commands together.
func (s *sender) each(ctx context.Context, n int, command func(c *Caller, i int)) error {
	for len(s.more) < n {
		s.more = append(s.more, &Caller{})
	}
	for i, c := range s.more[:n] {
		command(c, i)
	}
	if n == 1 {
		_, err := s.lines.Do(ctx, s.more[0])
		return err
	}
	return s.lines.DoAll(ctx, s.more[:n])
}

// keys appends the keys of entries as arguments.
func keys(q *Caller, es []store.Entry) {
	for _, e := range es {
		q.Bytes(e.Key)
	}
}

// List is a list, which also serves as a queue.
type List struct{ sender }

// NewList returns the list under a key.
func NewList(lines *Lines, key string) *List { return &List{sender{lines: lines, key: key}} }

// Push appends the values of entries, with RPUSH.
func (l *List) Push(ctx context.Context, es []store.Entry) error {
	q := l.begin("RPUSH")
	for _, e := range es {
		q.Bytes(e.Val)
	}
	_, err := l.do(ctx)
	return err
}

// Remove removes the first element that equals val, with LREM; false if there is none.
func (l *List) Remove(ctx context.Context, val []byte) (bool, error) {
	q := l.begin("LREM")
	q.Num(1)
	q.Bytes(val)
	return l.some(ctx)
}

// Index reads an element, with LINDEX; false if there is none.
func (l *List) Index(ctx context.Context, i int64) (bool, error) {
	l.begin("LINDEX").Num(i)
	return l.there(ctx)
}

// Pop removes the first element, with LPOP; false if there is none.
func (l *List) Pop(ctx context.Context) (bool, error) {
	l.begin("LPOP")
	return l.there(ctx)
}

// Set is a set, whose members are the keys of entries.
type Set struct{ sender }

// NewSet returns the set under a key.
func NewSet(lines *Lines, key string) *Set { return &Set{sender{lines: lines, key: key}} }

// Add adds members, with SADD.
func (s *Set) Add(ctx context.Context, es []store.Entry) error {
	keys(s.begin("SADD"), es)
	_, err := s.do(ctx)
	return err
}

// Remove removes members, with SREM; false if none existed.
func (s *Set) Remove(ctx context.Context, es []store.Entry) (bool, error) {
	keys(s.begin("SREM"), es)
	return s.some(ctx)
}

// Has reports whether a member exists, with SISMEMBER.
func (s *Set) Has(ctx context.Context, member []byte) (bool, error) {
	s.begin("SISMEMBER").Bytes(member)
	return s.some(ctx)
}

// Count returns how many of the members exist, with SMISMEMBER.
func (s *Set) Count(ctx context.Context, es []store.Entry) (there int64, err error) {
	q := s.begin("SMISMEMBER")
	keys(q, es)
	q.Reply.Keep = true
	if _, err := s.do(ctx); err != nil {
		return 0, err
	}
	for i := range q.Reply.Len() {
		if yes, _ := q.Reply.At(i); string(yes) == "1" {
			there++
		}
	}
	return there, nil
}

// Sorted is a sorted set, whose members are the keys of entries.
type Sorted struct{ sender }

// NewSorted returns the sorted set under a key.
func NewSorted(lines *Lines, key string) *Sorted {
	return &Sorted{sender{lines: lines, key: key}}
}

// Add adds members with their scores, with ZADD.
func (s *Sorted) Add(ctx context.Context, es []store.Entry, scores []int64) error {
	q := s.begin("ZADD")
	for i, e := range es {
		q.Num(scores[i])
		q.Bytes(e.Key)
	}
	_, err := s.do(ctx)
	return err
}

// Remove removes members, with ZREM; false if none existed.
func (s *Sorted) Remove(ctx context.Context, es []store.Entry) (bool, error) {
	keys(s.begin("ZREM"), es)
	return s.some(ctx)
}

// Has reports whether a member has a score, with ZSCORE.
func (s *Sorted) Has(ctx context.Context, member []byte) (bool, error) {
	s.begin("ZSCORE").Bytes(member)
	return s.there(ctx)
}

// Count returns how many of the members exist, with ZMSCORE.
func (s *Sorted) Count(ctx context.Context, es []store.Entry) (int64, error) {
	q := s.begin("ZMSCORE")
	keys(q, es)
	return s.counted(ctx)
}

// counted sends a command that is answered with a list, and returns how many of its
// elements are not nil.
func (s *sender) counted(ctx context.Context) (there int64, err error) {
	s.at.Reply.Keep = true
	if _, err := s.do(ctx); err != nil {
		return 0, err
	}
	for i := range s.at.Reply.Len() {
		if _, yes := s.at.Reply.At(i); yes {
			there++
		}
	}
	return there, nil
}
