package redis

import (
	"context"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// holdWatched is holdScript on servers without scripts.
func (ls *Leases) holdWatched(ctx context.Context, key, text string, ttl time.Duration) (how store.Hold, now string, err error) {
	for {
		c := ls.servers.client
		taken, err := c.SetNX(ctx, key, text, ttl).Result()
		if err != nil {
			return store.Denied, "", err
		}
		if taken {
			return store.Taken, text, nil
		}
		still, err := ls.ifStill(ctx, key, text, func(p goredis.Pipeliner) error { return p.PExpire(ctx, key, ttl).Err() })
		if err != nil {
			return store.Denied, "", err
		}
		if still {
			return store.Renewed, text, nil
		}
		if now, err = c.Get(ctx, key).Result(); err == nil && now != text {
			return store.Denied, now, nil
		}
		if err != nil && !errors.Is(err, goredis.Nil) { // it may have expired just now
			return store.Denied, "", err
		}
	}
}

// ifStill carries out a command in a transaction if the key has that text, and until then
// nobody writes to it; false if it has another.
func (ls *Leases) ifStill(ctx context.Context, key, text string, then func(goredis.Pipeliner) error) (bool, error) {
	for {
		still := false
		err := link.Watch(ctx, ls.servers.client, func(tx goredis.Cmdable) error {
			now, err := tx.Get(ctx, key).Result()
			if err != nil || now != text {
				return err
			}
			if _, err = tx.TxPipelined(ctx, then); err == nil {
				still = true
			}
			return err
		}, key)
		switch {
		case errors.Is(err, goredis.TxFailedErr):
			continue
		case errors.Is(err, goredis.Nil):
			err = nil
		}
		return still, err
	}
}

// registerWatched is registerScript on servers without scripts.
func (ls *Leases) registerWatched(ctx context.Context, key, text string, taken bool, ttl time.Duration) error {
	for {
		err := link.Watch(ctx, ls.servers.client, func(tx goredis.Cmdable) error {
			all, err := tx.HKeys(ctx, register).Result()
			if err != nil {
				return err
			}
			left, err := tx.PTTL(ctx, register).Result()
			if err != nil {
				return err
			}
			_, err = tx.TxPipelined(ctx, func(p goredis.Pipeliner) error {
				for _, other := range all {
					if taken && other != key {
						p.HSet(ctx, register, other, text)
					}
				}
				p.HSetNX(ctx, register, key, "")
				if left < ttl {
					p.PExpire(ctx, register, ttl)
				}
				return nil
			})
			return err
		}, register)
		if !errors.Is(err, goredis.TxFailedErr) {
			return err
		}
	}
}
