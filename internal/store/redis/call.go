package redis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
)

// bin is an argument of bytes. Its pointer goes into an interface without an
// allocation, which a []byte does not.
type bin []byte

// MarshalBinary returns the bytes themselves.
func (b *bin) MarshalBinary() ([]byte, error) { return *b, nil }

// call is what one call needs, kept for the next one.
type call struct {
	args []any
	bins []bin
	buf  []byte
	// key is the key of space, kept because a worker's next call is mostly about
	// the same space.
	space store.Space
	key   string
	ready bool
	// hash is the key that this call is about: key, or that of one group.
	hash string
}

func (c *Conn) take(s store.Space) *call {
	l := c.calls.Get().(*call)
	if !l.ready || l.space != s {
		l.space, l.key, l.ready = s, KeyOf(s), true
	}
	return l
}

// give puts a call back, holding on to nothing that belongs to the caller.
func (c *Conn) give(l *call) {
	clear(l.bins)
	clear(l.args)
	c.calls.Put(l)
}

// room makes space for n arguments of bytes. What it returns stays in place until
// the next call of room.
func (l *call) room(n int) []bin {
	l.bins = slices.Grow(l.bins[:0], n)[:n]
	return l.bins
}

// A command that is not tried again by the cluster's client, redirections
// excepted, whatever its error.
type (
	onceStatus struct{ *goredis.StatusCmd }
	onceInt    struct{ *goredis.IntCmd }
	onceSlice  struct{ *goredis.SliceCmd }
)

// NoRetry says that a failure is final.
func (onceStatus) NoRetry() bool { return true }

// NoRetry says that a failure is final.
func (onceInt) NoRetry() bool { return true }

// NoRetry says that a failure is final.
func (onceSlice) NoRetry() bool { return true }

// tooSmall says whether a value did not fit into the buffer, and its size. The
// connection stays usable: the library has read the value and thrown it away.
func tooSmall(err error) (size int, yes bool) {
	const prefix = "redis: buffer too small: need "
	if err == nil || !strings.HasPrefix(err.Error(), prefix) {
		return 0, false
	}
	_, err = fmt.Sscanf(err.Error()[len(prefix):], "%d", &size)
	return size, err == nil
}

// watermark is the largest number seen.
type watermark struct{ n atomic.Int64 }

func (w *watermark) raise(n int) {
	for {
		old := w.n.Load()
		if int64(n) <= old || w.n.CompareAndSwap(old, int64(n)) {
			return
		}
	}
}

// firstBuffer is the size that buffers have before larger values were seen.
const firstBuffer = 16 << 10

// fit returns b with room for the largest value seen and its end of line.
func (w *watermark) fit(b []byte) []byte {
	n := max(int(w.n.Load())+2, firstBuffer)
	if cap(b) < n {
		b = make([]byte, n)
	}
	return b[:cap(b)]
}

// failed says on what an operation failed. The key is that of the space, not of
// the group, so that the number of distinct messages stays small.
func failed(op string, l *call, err error) error {
	if err == nil || errors.Is(err, goredis.Nil) {
		return err
	}
	return fmt.Errorf("%s %s: %w", op, l.key, err)
}
