// Package oncassandra is the data layer on Cassandra in two layouts: lean, our own, and
// Cradle's, byte for byte.
package oncassandra

import (
	"context"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/profiles/eventstore/layer"
)

// tables is what both layouts on Cassandra share: where the tables are, and how they
// are made.
type tables struct {
	o        *layer.Options
	c        cassandra.Typed
	prefix   string // of tables: "perfbench_events_"
	keyspace string
	space    store.Space
	claim    *place.Claim // since look
}

func newTables(o *layer.Options, c cassandra.Typed, bare bool) tables {
	t := tables{o: o, space: o.Keys(), c: c, keyspace: c.KeyspaceFor(o.Namespace)}
	switch {
	case o.Namespace != "":
		t.prefix = cassandra.Name(o.Namespace) + "_events_"
	case !bare:
		t.prefix = "events_"
	}
	return t
}

// text puts the places of tables into a statement: %name is a table.
func (t *tables) text(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		end := i + 1
		for end < len(s) && (s[end] >= 'a' && s[end] <= 'z' || s[end] == '_') {
			end++
		}
		b.WriteString(`"` + t.keyspace + `"."` + t.prefix + s[i+1:end] + `"`)
		i = end - 1
	}
	return b.String()
}

// spaces are where the tables are. Each table is given as its name and what follows it.
func (t *tables) spaces(all [][2]string) []place.Space {
	names := make([]string, len(all))
	for i, def := range all {
		names[i] = t.prefix + def[0]
	}
	return []place.Space{{Space: t.space, Parts: names, Tables: t.needs(all), Params: t.o.Params}}
}

// needs is what the tables must have.
func (t *tables) needs(all [][2]string) map[string]store.Table {
	out := map[string]store.Table{}
	for _, def := range all {
		columns, key, _ := strings.Cut(strings.ReplaceAll(def[1], "\n", " "), ", PRIMARY KEY ")
		key, _, _ = strings.Cut(key, " WITH ")
		key = strings.NewReplacer("(", "", ")", "").Replace(key)
		out[t.prefix+def[0]] = store.Table{Columns: store.Columns(strings.TrimPrefix(columns, "(")), Key: strings.Split(key, ", ")}
	}
	return out
}

// missing lists the tables that are yet to be made, unless one that is there will not
// do.
func (t *tables) missing(ctx context.Context, all [][2]string) (out [][2]string, err error) {
	for _, def := range all {
		got, err := t.c.Columns(ctx, t.keyspace, t.prefix+def[0])
		if err != nil {
			return nil, err
		}
		if t.claim != nil && t.claim.Theirs(t.space, t.prefix+def[0]) {
			continue
		}
		for name := range got {
			if !strings.Contains(def[1], name+" ") {
				return nil, fault.Store(fmt.Errorf("cassandra: the table %s.%s%s has a column %s that is not of this version", t.keyspace, t.prefix, def[0], name),
					"delete it with  perfbench data delete,  or use another --namespace")
			}
		}
		if len(got) == 0 {
			out = append(out, def)
		}
	}
	return out, nil
}

// make makes keyspace and tables.
func (t *tables) make(ctx context.Context, all [][2]string) error {
	if _, err := t.c.EnsureKeyspace(ctx, t.o.Namespace); err != nil {
		return err
	}
	missing, err := t.missing(ctx, all)
	if err != nil {
		return err
	}
	for _, def := range missing {
		if err := t.c.Session().Query(t.text("CREATE TABLE IF NOT EXISTS %" + def[0] + " " + def[1])).ExecContext(ctx); err != nil {
			return fmt.Errorf("create table %s%s: %w", t.prefix, def[0], err)
		}
	}
	return nil
}

// durability says when a write counts as durable, as far as the server tells.
func (t *tables) durability(ctx context.Context) string {
	ask := func(name string) string {
		var v string
		if err := t.c.Session().Query("SELECT value FROM system_views.settings WHERE name = ?", name).ScanContext(ctx, &v); err != nil {
			return "unknown"
		}
		return v
	}
	return "acknowledged at the consistency of the target, commitlog_sync=" + ask("commitlog_sync")
}

// refusal marks an error that no retry mends: a row larger than the server takes.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	for _, words := range []string{"Mutation of", "too large", "Request is too big"} {
		if strings.Contains(err.Error(), words) {
			return fmt.Errorf("%w: %w", layer.ErrPermanent, err)
		}
	}
	return err
}
