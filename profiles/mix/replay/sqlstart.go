package replay

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/statements"
)

// copySnapshot copies the tables that statements name from another database, which somebody has
// filled from a snapshot. It only reads there.
func (r *onSQL) copySnapshot(ctx context.Context, progress func(done, total int64)) error {
	from, err := sqlstore.Open(ctx, r.Snapshot, store.OpenOptions{Threads: 1, Existing: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fault.Field("snapshot", fmt.Errorf("snapshot: %w", r.Snapshot.Scrub(err)))
	}
	defer from.Close() //nolint:errcheck // it was only read
	if from.Database() == "" {
		return fault.Field("snapshot", fault.Input(fmt.Errorf("snapshot: %s names no database", r.Snapshot.Redacted()), "name the one that has the tables: "+r.Snapshot.Redacted()+"/shop"))
	}
	to := sqlstore.NewSession(r.conn, r.schema)
	defer to.Close()
	done, err := sqlstore.Copy(ctx, from, to, func(name string) bool { return r.said.words[name] }, func(rows int64) { progress(rows, rows) })
	if err != nil {
		return fault.Store(fmt.Errorf("snapshot: %w", err), "")
	}
	if done.Tables == 0 {
		return fault.Field("snapshot", fault.Input(fmt.Errorf("snapshot: %s has none of the tables that %s names, such as %s", r.Snapshot.Redacted(), r.Path, strings.Join(r.Tables()[:min(len(r.Tables()), 3)], ", ")),
			"name the database that has them; for a schema of PostgreSQL add ?search_path=SCHEMA"))
	}
	r.start.copied.Store(done.Rows)
	r.start.tables.Store(int64(done.Tables))
	r.start.left.Store(&done.Left)
	return nil
}

// mostDDL is how large a file of DDL may be.
const mostDDL = 64 << 20

// runFile carries out the statements of a file, each of which makes tables and reaches nothing else.
func (r *onSQL) runFile(ctx context.Context) error {
	all, err := readDDL(r.said.dialect, r.Schema)
	if err != nil {
		return err
	}
	to := sqlstore.NewSession(r.conn, r.schema)
	defer to.Close()
	for _, s := range all {
		if _, err := to.Do(ctx, s.Text, nil, false, nil); err != nil {
			return fault.Field("schema", fault.Input(fmt.Errorf("schema: %s: line %d: %w", r.Schema, s.Line, err), ""))
		}
		r.start.tables.Add(1)
	}
	return nil
}

// readDDL reads the statements of a file. Errors are one sentence with the line, and have the code of
// bad input.
func readDDL(d statements.Dialect, path string) ([]statements.Scripted, error) {
	f, err := infile.Open(infile.Recorded, path)
	if err != nil {
		return nil, fault.Field("schema", fault.Code(fmt.Errorf("schema: %w", err), fault.CodeInput))
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, mostDDL+1))
	if err == nil && len(text) > mostDDL {
		err = fmt.Errorf("it has more than %d MiB", mostDDL>>20)
	}
	if err != nil {
		return nil, fault.Field("schema", fault.Input(fmt.Errorf("schema: %s: %w", path, err), ""))
	}
	all, err := statements.Script(d, string(text))
	if err != nil {
		return nil, fault.Field("schema", fault.Input(fmt.Errorf("schema: %s: %w", path, err), "statements that make tables, indexes, views, sequences and types, and INSERT, can be in it"))
	}
	return all, nil
}

// CheckSchema refuses a file of tables that cannot be made.
func (s *Spec) CheckSchema() error {
	_, err := readDDL(s.said.dialect, s.Schema)
	return err
}
