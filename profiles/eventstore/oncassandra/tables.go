// Package oncassandra is the data layer on Cassandra in two layouts: lean, our own, and
// Cradle's, byte for byte.
package oncassandra

import (
	"context"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
)

// tables is what both layouts on Cassandra share.
type tables struct {
	*cassandra.Set
	o *model.Options
}

// durability says when a write counts as durable, as far as the server reports it.
func (t *tables) durability(ctx context.Context) string {
	ask := func(name string) string {
		var v string
		if err := t.Conn.Session().Query("SELECT value FROM system_views.settings WHERE name = ?", name).ScanContext(ctx, &v); err != nil {
			return "unknown"
		}
		return v
	}
	return "acknowledged at the consistency of the target, commitlog_sync=" + ask("commitlog_sync")
}

// refusal marks an error that no retry can cure: a row larger than the server accepts.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	for _, words := range []string{"Mutation of", "too large", "Request is too big"} {
		if strings.Contains(err.Error(), words) {
			return fmt.Errorf("%w: %w", model.ErrPermanent, err)
		}
	}
	return err
}
