package tx

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// links are the connections that the clients of a run share.
type links struct {
	servers servers
	// each is how many there are to each server.
	each int
	mu   sync.Mutex
	// at are the connections to each server, by its address.
	at map[string][]*link
	// of are those to the server that holds a shard; nil: not known.
	of []atomic.Pointer[[]*link]
	// key is a key of a shard.
	key  func(shard int) string
	lane atomic.Int64
}

// sharedConns is how many connections clients share to each server: while the
// replies of one are handed out, the server is at work on the requests of the other.
const sharedConns = 2

func newLinks(s servers, shards int, key func(shard int) string) *links {
	return &links{servers: s, each: max(min(sharedConns, s.pool()), 1), at: map[string][]*link{}, of: make([]atomic.Pointer[[]*link], shards), key: key}
}

// to returns the connections to the server that holds a shard.
func (l *links) to(ctx context.Context, shard int) ([]*link, error) {
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
	for len(list) < l.each {
		list = append(list, &link{dial: func(ctx context.Context) (net.Conn, error) { return dialRaw(ctx, o) }, timeout: readTimeout(o)})
	}
	l.at[o.Addr] = list
	l.of[shard].Store(&list)
	return list, nil
}

// forget has the server of a shard looked for anew: it may be another one by now.
func (l *links) forget(ctx context.Context, shard int) {
	if l.servers.reload(ctx) {
		l.of[shard].Store(nil)
	}
}
