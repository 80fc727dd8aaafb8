package redis

import (
	"fmt"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// call holds what one call needs, and is reused for the next one.
type call struct {
	link.Caller
	// key is the key of space. It is cached because a worker's next call is usually
	// about the same space.
	space store.Space
	key   string
	ready bool
	// hash is the key of a call that names it more than once.
	hash []byte
	// more are for calls to several servers at once.
	more []*link.Caller
}

func (m *Maps) acquire(s store.Space) *call {
	l := m.calls.Get().(*call)
	if !l.ready || l.space != s {
		l.space, l.key, l.ready = s, KeyOf(s), true
	}
	return l
}

// release returns a call for reuse.
func (m *Maps) release(l *call) {
	l.Reply.Keep = false
	m.calls.Put(l)
}

// group appends the key of a group as an argument.
func group(q *link.Request, key string, name []byte) {
	q.Text = append(append(append(append(q.Text, key...), ":{"...), name...), '}')
	q.End()
}

// failed adds to err which operation failed on what. The key is that of the space, not
// of the group, to keep the number of distinct messages small.
func failed(op string, l *call, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", op, l.key, err)
}
