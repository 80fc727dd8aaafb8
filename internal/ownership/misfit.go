package ownership

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/perfbench/perfbench/internal/store"
)

// measure finds out whether our rows fit into existing tables that others made.
func (c *Claim) measure(ctx context.Context, s *Spot) error {
	tabular, ok := store.Has[store.Tabular](c.conn)
	if !ok || s.State != Shared {
		return nil
	}
	tables := s.Tables
	if s.Shape == store.Map {
		tables = map[string]store.Table{"": {}}
	}
	for _, part := range slices.Sorted(maps.Keys(tables)) {
		if part != "" && !s.theirs(part) {
			continue
		}
		m, err := tabular.Misfit(ctx, s.Space.Space, part, tables[part])
		if err != nil {
			return err
		}
		s.misfits = append(s.misfits, m)
	}
	return nil
}

// theirs reports whether a part exists that others have made, or may have made.
func (s *Spot) theirs(part string) bool {
	return slices.Contains(s.Found.Parts, part) && (s.Earlier.Shared || !slices.Contains(s.Earlier.Parts, part))
}

// misfit says why tables made by others cannot be used; "" if they can.
func (s *Spot) misfit() string {
	for _, m := range s.misfits {
		why := m.Read
		if why == "" && !s.Reads {
			why = m.Write
		}
		if why != "" {
			return fmt.Sprintf("the table %s already exists and was not made by perfbench, and %s", m.Table, why)
		}
	}
	return ""
}

// union returns the parts of both lists, each once.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
