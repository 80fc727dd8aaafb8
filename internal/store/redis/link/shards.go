package link

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	goredis "github.com/redis/go-redis/v9"
)

// Shards are the connections that the clients of a run share.
type Shards struct {
	servers servers
	// Each is how many there are to each server.
	Each int
	mu   sync.Mutex
	// at are the connections to each server, by its address.
	at map[string][]*Shared
	// of are those to the server that holds a shard; nil: not known.
	of []atomic.Pointer[[]*Shared]
	// key is a key of a shard.
	key  func(shard int) string
	lane atomic.Int64
}

// Conns is how many connections callers share to each server: while the
// replies of one are handed out, the server is at work on the requests of the other.
const Conns = 2

// NewShards makes none yet: each is made when it is first used. key is a key of a
// shard, of which there are shards.
func NewShards(client goredis.UniversalClient, shards int, key func(shard int) string) *Shards {
	s := servers{client}
	return &Shards{servers: s, Each: max(min(Conns, s.pool()), 1), at: map[string][]*Shared{}, of: make([]atomic.Pointer[[]*Shared], shards), key: key}
}

// to returns the connections to the server that holds a shard.
func (l *Shards) to(ctx context.Context, shard int) ([]*Shared, error) {
	if p := l.of[shard].Load(); p != nil {
		return *p, nil
	}
	o, err := l.servers.holds(ctx, l.key(shard))
	if err != nil {
		return nil, fmt.Errorf("find the server: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.at[o.Addr]
	for len(list) < l.Each {
		list = append(list, &Shared{dial: func(ctx context.Context) (net.Conn, error) { return dialRaw(ctx, o) }, timeout: readTimeout(o)})
	}
	l.at[o.Addr] = list
	l.of[shard].Store(&list)
	return list, nil
}

// forget has the server of a shard looked for anew: it may be another one by now.
func (l *Shards) forget(ctx context.Context, shard int) {
	if l.servers.reload(ctx) {
		l.of[shard].Store(nil)
	}
}
