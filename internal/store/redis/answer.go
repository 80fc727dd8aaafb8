package redis

import (
	"context"

	goredis "github.com/redis/go-redis/v9"
)

// Answer asks every server that accepts writes whether it is there and has loaded its
// data, and a cluster whether it serves a key.
func (c *Conn) Answer(ctx context.Context) error {
	err := c.masters(ctx, func(ctx context.Context, m *goredis.Client) error { return m.Ping(ctx).Err() })
	if err != nil || c.cluster == nil {
		return err
	}
	return c.client.Exists(ctx, probeKey("")).Err()
}
