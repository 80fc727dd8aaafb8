package link

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// Entries are entries with a key each: the name of the structure followed by the
// entry's own key, as a hash tag so that they spread over a cluster.
type Entries struct {
	sender
	spread bool
	// ttl is in milliseconds; 0: forever.
	ttl int64
}

func entries(lines *Lines, key string, spread bool, ttl time.Duration) Entries {
	return Entries{sender{lines: lines, key: key}, spread, ttl.Milliseconds()}
}

// one begins a command on an entry.
func (s *Entries) one(c *Caller, command string, key []byte) *Caller {
	c.Command(command)
	s.name(c, key)
	c.Reply.Keep = false
	return c
}

// name appends the key of an entry as an argument.
func (s *Entries) name(c *Caller, key []byte) {
	c.Text = append(append(append(append(c.Text, s.key...), ":{"...), key...), '}')
	c.End()
}

// Remove removes an entry, with UNLINK; false if there was none.
func (s *Entries) Remove(ctx context.Context, key []byte) (bool, error) {
	s.one(&s.at, "UNLINK", key)
	return s.some(ctx)
}

// Buckets are entries of which each is a STRING.
type Buckets struct{ Entries }

// NewBuckets returns buckets whose keys begin with key; spread means that they are on
// several servers.
func NewBuckets(lines *Lines, key string, spread bool, ttl time.Duration) *Buckets {
	return &Buckets{entries(lines, key, spread, ttl)}
}

// set writes the SET command.
func (s *Buckets) set(c *Caller, e store.Entry) {
	s.one(c, "SET", e.Key).Bytes(e.Val)
	if s.ttl > 0 {
		c.Add("PX")
		c.Num(s.ttl)
	}
}

// Put stores an entry and makes the server return the old value, with SET and GET.
func (s *Buckets) Put(ctx context.Context, e store.Entry) error {
	s.set(&s.at, e)
	s.at.Add("GET")
	_, err := s.do(ctx)
	return err
}

// Set stores an entry.
func (s *Buckets) Set(ctx context.Context, e store.Entry) error {
	s.set(&s.at, e)
	_, err := s.do(ctx)
	return err
}

// SetAll stores entries with MSET or, if they are on several servers or expire, with a
// SET for each, sent together.
func (s *Buckets) SetAll(ctx context.Context, es []store.Entry) error {
	if s.spread || s.ttl > 0 {
		return s.each(ctx, len(es), func(c *Caller, i int) { s.set(c, es[i]) })
	}
	s.at.Command("MSET")
	s.at.Reply.Keep = false
	for _, e := range es {
		s.name(&s.at, e.Key)
		s.at.Bytes(e.Val)
	}
	_, err := s.do(ctx)
	return err
}

// Get reads an entry into buf.
func (s *Buckets) Get(ctx context.Context, key, buf []byte) ([]byte, bool, error) {
	own := s.at.Reply.Text
	s.one(&s.at, "GET", key).Reply.Into(buf)
	there, err := s.there(ctx)
	buf, s.at.Reply.Text = s.at.Reply.Text, own
	return buf, there, err
}

// Count reads entries and returns how many of them exist, with MGET or, if they are on
// several servers, with a GET for each, sent together.
func (s *Buckets) Count(ctx context.Context, es []store.Entry) (there int64, err error) {
	if !s.spread {
		s.at.Command("MGET")
		for _, e := range es {
			s.name(&s.at, e.Key)
		}
		return s.counted(ctx)
	}
	err = s.each(ctx, len(es), func(c *Caller, i int) { s.one(c, "GET", es[i].Key) })
	for _, c := range s.more[:len(es)] {
		if err == nil && c.Reply.N >= 0 {
			there++
		}
	}
	return there, err
}

// Hashes are entries of which each is a HASH, with the value in the field v.
type Hashes struct{ Entries }

// NewHashes returns hashes whose keys begin with key.
func NewHashes(lines *Lines, key string, ttl time.Duration) *Hashes {
	return &Hashes{entries(lines, key, true, ttl)}
}

// Set stores entries with HSET and, if they expire, PEXPIRE, all sent together.
func (s *Hashes) Set(ctx context.Context, es []store.Entry) error {
	per := 1
	if s.ttl > 0 {
		per = 2
	}
	return s.each(ctx, per*len(es), func(c *Caller, i int) {
		e := es[i/per]
		if i%per == 1 {
			s.one(c, "PEXPIRE", e.Key).Num(s.ttl)
			return
		}
		s.one(c, "HSET", e.Key).Add("v")
		c.Bytes(e.Val)
	})
}

// Get reads an entry, with HGETALL.
func (s *Hashes) Get(ctx context.Context, key, buf []byte) ([]byte, bool, error) {
	s.one(&s.at, "HGETALL", key).Reply.Into(s.at.Reply.Text)
	there, err := s.some(ctx)
	r := &s.at.Reply
	for i := 0; there && i+1 < r.Len(); i += 2 {
		if field, _ := r.At(i); string(field) == "v" {
			val, _ := r.At(i + 1)
			buf = append(buf[:0], val...)
		}
	}
	return buf, there, err
}

// Count reads entries and returns how many of them exist, with HGETALL for each, sent
// together.
func (s *Hashes) Count(ctx context.Context, es []store.Entry) (there int64, err error) {
	err = s.each(ctx, len(es), func(c *Caller, i int) { s.one(c, "HGETALL", es[i].Key) })
	for _, c := range s.more[:len(es)] {
		if err == nil && c.Reply.N > 0 {
			there++
		}
	}
	return there, err
}
