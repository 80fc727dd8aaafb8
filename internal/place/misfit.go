package place

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/perfbench/perfbench/internal/store"
)

// measure finds out whether our rows go into the tables of others that are there.
func (c *Claim) measure(ctx context.Context, s *Spot) error {
	tabular, ok := c.keep.(store.Tabular)
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

// theirs says whether a part is there and others have made it, or may have.
func (s *Spot) theirs(part string) bool {
	return slices.Contains(s.Found.Parts, part) && (s.Earlier.Shared || !slices.Contains(s.Earlier.Parts, part))
}

// misfit says why the tables of others will not do, "" when they will.
func (s *Spot) misfit() string {
	for _, m := range s.misfits {
		why := m.Read
		if why == "" && !s.Reads {
			why = m.Write
		}
		if why != "" {
			return fmt.Sprintf("the table %s is there and was not made by perfbench, and %s", m.Table, why)
		}
	}
	return ""
}
