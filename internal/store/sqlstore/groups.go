package sqlstore

import (
	"context"

	"github.com/perfbench/perfbench/internal/store"
)

// groupedTable returns the table of a space that is kept by groups.
func (c *Conn) groupedTable(s store.Space) (*table, error) {
	s.Grouped = true
	return c.tableOf(s)
}

// PutGroup stores one entry in one group, reading the old value.
func (c *Conn) PutGroup(ctx context.Context, s store.Space, group, key, val []byte) error {
	t, err := c.groupedTable(s)
	if err != nil {
		return err
	}
	return wrap("put in a group", t, c.put(ctx, t, val, bytesOf(group), bytesOf(key)))
}

// PutGroups stores the entries of several groups as PutAll does.
func (c *Conn) PutGroups(ctx context.Context, s store.Space, gs []store.Group) error {
	t, err := c.groupedTable(s)
	if err != nil {
		return err
	}
	var rows []row
	for _, g := range gs {
		for _, e := range g.Entries {
			rows = append(rows, row{bytesOf(g.Name), bytesOf(e.Key), bytesOf(e.Val)})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return wrap("put groups", t, c.putRows(ctx, t, rows))
}

// GetGroup reads the values of keys in one group.
func (c *Conn) GetGroup(ctx context.Context, s store.Space, group []byte, keys [][]byte) ([][]byte, error) {
	t, err := c.groupedTable(s)
	if err != nil {
		return nil, err
	}
	out, err := c.getRows(ctx, t, keys, bytesOf(group))
	return out, wrap("get from a group", t, err)
}
