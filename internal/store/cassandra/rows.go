package cassandra

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/store"
)

// Where nodes make no conditional writes, everyone who wants the lease writes a row of their
// own and then reads all of them, both at quorum: of two who do so at the same time, at least
// one sees the other. Who sees another that wants the lease takes its row back, and tries
// again later; who sees one that has it is denied. So never two have it, and a row expires
// with its holder.

// bid is a row of somebody who has the lease, or wants it.
type bid struct {
	store.Lease
	Held bool `json:"held,omitempty"`
}

// attempts is how often a bid is made while others want the lease, too.
const attempts = 20

// bidKey is the key of the row of a lease.
func bidKey(l store.Lease) []byte { return []byte(store.LeaseKey + "\x00" + l.Token) }

// quorum is the consistency of bids.
func (k *cluster) quorum(stmt string, args ...any) *gocql.Query {
	level := gocql.Quorum
	if k.opts.consistency == gocql.LocalQuorum {
		level = gocql.LocalQuorum
	}
	return k.own.Query(stmt, args...).Consistency(level)
}

// bids returns the rows of those who have the lease or want it.
func (ls *Leases) bids(ctx context.Context, made *table) (out []bid, err error) {
	iter := ls.cluster.quorum("SELECT k, v FROM " + made.full()).IterContext(ctx)
	var key, text []byte
	for iter.Scan(&key, &text) {
		if bytes.HasPrefix(key, []byte(store.LeaseKey+"\x00")) {
			var b bid
			if json.Unmarshal(text, &b) == nil {
				out = append(out, b)
			}
		}
		key, text = nil, nil
	}
	return out, iter.Close()
}

func (ls *Leases) bid(ctx context.Context, made *table, b bid, seconds int) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return ls.cluster.quorum("INSERT INTO "+made.full()+" (k, v) VALUES (?, ?) USING TTL ?", bidKey(b.Lease), text, seconds).ExecContext(ctx)
}

func (ls *Leases) withdraw(ctx context.Context, made *table, l store.Lease) error {
	return ls.cluster.quorum("DELETE FROM "+made.full()+" WHERE k = ?", bidKey(l)).ExecContext(ctx)
}

// outbid asks for the lease for l in place of old, which may be nobody's, and returns who has
// it then.
func (ls *Leases) outbid(ctx context.Context, made *table, old, l store.Lease, seconds int) (store.Lease, store.Hold, error) {
	for try := 1; ; try++ {
		before, err := ls.bids(ctx, made)
		if err != nil {
			return l, store.Denied, err
		}
		how := store.Taken
		for _, b := range before {
			switch {
			case b.Held && b.Lease == l:
				how = store.Renewed
			case b.Held && b.Lease != old:
				return b.Lease, store.Denied, nil
			}
		}
		if err := ls.bid(ctx, made, bid{l, how == store.Renewed}, seconds); err != nil {
			return l, store.Denied, err
		}
		all, err := ls.bids(ctx, made)
		if err != nil {
			return l, store.Denied, err
		}
		rival := false
		for _, b := range all {
			if b.Token == l.Token || b.Lease == old {
				continue
			}
			if b.Held {
				return b.Lease, store.Denied, ls.withdraw(ctx, made, l)
			}
			rival = true
		}
		if how == store.Renewed {
			return l, how, nil
		}
		if !rival {
			return l, how, ls.bid(ctx, made, bid{l, true}, seconds)
		}
		if err := ls.withdraw(ctx, made, l); err != nil || try == attempts {
			return l, store.Denied, err
		}
		if err := store.Pause(ctx, time.Duration(rand.Int64N(int64(try)*int64(50*time.Millisecond)))); err != nil { //nolint:gosec // no secret
			return l, store.Denied, err
		}
	}
}

// swapBids replaces the lease old.
func (ls *Leases) swapBids(ctx context.Context, made *table, old, l store.Lease, seconds int) (bool, error) {
	all, err := ls.bids(ctx, made)
	if err != nil {
		return false, err
	}
	there := false
	for _, b := range all {
		there = there || b.Held && b.Lease == old
	}
	switch {
	case !there:
		return false, nil
	case old.Token == l.Token: // its own row
		return true, ls.bid(ctx, made, bid{l, true}, seconds)
	}
	_, how, err := ls.outbid(ctx, made, old, l, seconds)
	if err != nil || how == store.Denied {
		return false, err
	}
	return true, ls.withdraw(ctx, made, old)
}
