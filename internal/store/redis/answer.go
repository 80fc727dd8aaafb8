package redis

import (
	"context"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// Answer asks every server that accepts writes whether it is there and has loaded its
// data, and a cluster whether it serves a key.
func (c *Conn) Answer(ctx context.Context) error {
	err := c.servers.masters(ctx, func(ctx context.Context, m link.Client) error { return m.Ping(ctx).Err() })
	if err != nil || c.servers.mode != cluster {
		return err
	}
	return c.servers.client.Exists(ctx, KeyOf(store.Space{Name: probeName("")})).Err()
}
