package onsql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/profiles/group/model"
)

// mostAsked is how many rows are queried at once.
const mostAsked = 1000

// Present queries which of ids have rows.
func (r *Adapter) Present(ctx context.Context, o *model.Op, ids []string) (map[string]bool, error) {
	t, id := r.textsOf(o), r.ID(o)
	out := make(map[string]bool, len(ids))
	for part := range slices.Chunk(ids, mostAsked) {
		args := make([]any, len(part))
		for i, v := range part {
			args[i] = v
		}
		rows, err := r.db.SQL().QueryContext(ctx, "SELECT "+t.Quote(id)+" FROM "+t.table+" WHERE "+t.Quote(id)+" IN "+t.Rows(1, len(args)), args...)
		if err != nil {
			return nil, fmt.Errorf("look for rows of %s: %w", t.name, err)
		}
		if err := gather(rows, out); err != nil {
			return nil, fmt.Errorf("look for rows of %s: %w", t.name, err)
		}
	}
	return out, nil
}

func gather(rows *sql.Rows, to map[string]bool) error {
	defer rows.Close() // closing twice is harmless; Err reports what went wrong
	var id string
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return err
		}
		to[id] = true
	}
	return rows.Err()
}
