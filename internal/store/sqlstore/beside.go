package sqlstore

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"
)

// beside runs statements that are not part of the work: records, the lease, and queries
// about the server. It counts those on data, so that Usage can leave them out.
type beside struct {
	db *sql.DB
	n  *atomic.Int64
}

func (b beside) count(text string) {
	switch verb, _, _ := strings.Cut(text, " "); verb {
	case "SELECT", "INSERT", "UPDATE", "DELETE":
		b.n.Add(1)
	}
}

func (b beside) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	b.count(text)
	return b.db.QueryRowContext(ctx, text, args...)
}

func (b beside) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	b.count(text)
	return b.db.QueryContext(ctx, text, args...)
}

func (b beside) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	b.count(text)
	return b.db.ExecContext(ctx, text, args...)
}
