package tx

import (
	"context"

	"github.com/perfbench/perfbench/internal/store"
)

// record writes down that we write to a space. A space that others had filled
// before stays theirs: the record says that it is shared, which is returned too,
// and nobody deletes it.
func record(ctx context.Context, keep store.Keeper, m store.Made) (shared bool, err error) {
	made, err := keep.Made(ctx, m.Namespace)
	if err != nil {
		return false, err
	}
	known := false
	for _, old := range made {
		if old.Space == m.Space {
			known, m.Shared = true, old.Shared
		}
	}
	if !known {
		found, err := keep.Inspect(ctx, m.Space)
		if err != nil {
			return false, err
		}
		m.Shared = found.Exists && found.Size != 0
	}
	return m.Shared, keep.Record(ctx, m)
}

// drop removes a space unless it is shared with others.
func drop(ctx context.Context, keep store.Keeper, sp store.Space) error {
	made, err := keep.Made(ctx, sp.Namespace)
	if err != nil {
		return err
	}
	for _, m := range made {
		if m.Space == sp && m.Shared {
			return nil
		}
	}
	_, err = keep.Drop(ctx, sp, nil)
	return err
}
