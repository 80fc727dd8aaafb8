package sqlstore

import (
	"context"
	"database/sql"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// Direct carries out prepared statements over connections of the pool in PostgreSQL's own
// protocol: database/sql begins a goroutine for each query, and copies each value twice. It
// belongs to one goroutine. A nil Direct does nothing.
type Direct struct {
	db *sql.DB
	// off means that connections are of another kind, as behind a pooler.
	off     bool
	nums    []byte
	params  [][]byte
	formats []int16
	// results are the formats of what each statement answers.
	results map[string][]int16
}

// NewDirect returns the direct way over a connection's pool; nil: there is none.
func NewDirect(c Typed) *Direct {
	if c.Dialect() != sqltext.Postgres {
		return nil
	}
	return &Direct{db: c.SQL(), results: map[string][]int16{}}
}

// Do carries out a statement, with arguments that are text, bytes or int64, and calls row, unless
// it is nil, with the values of each row, which it must not keep: bytes as they are, all others as
// text. It returns how many rows were changed. done is false if nothing was done, because the way
// is not there: use database/sql.
func (d *Direct) Do(ctx context.Context, text string, args []any, row func(vals [][]byte)) (changed int64, done bool, err error) {
	if d == nil || d.off {
		return 0, false, nil
	}
	c, err := d.db.Conn(ctx)
	if err != nil {
		return 0, true, err
	}
	defer func() { _ = c.Close() }() // it goes back to the pool
	err = c.Raw(func(conn any) error {
		p, is := conn.(*stdlib.Conn)
		if d.off = !is; d.off {
			return nil
		}
		changed, err = d.on(ctx, p.Conn(), text, args, row)
		return err
	})
	if d.off || err != nil && pgconn.SafeToRetry(err) {
		return 0, false, nil
	}
	return changed, true, err
}

// on carries out a statement on a connection.
func (d *Direct) on(ctx context.Context, c *pgx.Conn, text string, args []any, row func(vals [][]byte)) (int64, error) {
	s, err := c.Prepare(ctx, text, text) // which it does once
	if err != nil {
		return 0, err
	}
	results, known := d.results[text]
	if !known {
		for i := range s.Fields {
			format := int16(pgx.TextFormatCode)
			if s.Fields[i].DataTypeOID == pgtype.ByteaOID {
				format = pgx.BinaryFormatCode
			}
			results = append(results, format)
		}
		d.results[text] = results
	}
	d.bind(args)
	r := c.PgConn().ExecPrepared(ctx, s.Name, d.params, d.formats, results)
	for r.NextRow() {
		if row != nil {
			row(r.Values())
		}
	}
	tag, err := r.Close()
	return tag.RowsAffected(), err
}

// bind makes the parameters of a statement.
func (d *Direct) bind(args []any) {
	d.params, d.formats, d.nums = d.params[:0], d.formats[:0], d.nums[:0]
	for _, a := range args {
		format := int16(pgx.TextFormatCode)
		var val []byte
		switch a := a.(type) {
		case []byte:
			val, format = a, pgx.BinaryFormatCode
		case string:
			val = []byte(a)
		case int64:
			from := len(d.nums)
			d.nums = strconv.AppendInt(d.nums, a, 10)
			val = d.nums[from:]
		}
		d.params, d.formats = append(d.params, val), append(d.formats, format)
	}
}
