package onsql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// statement is one of the user's own. It is safe for use by several goroutines.
type statement struct {
	*model.Step
	operation, text string
	rows            bool // it returns rows
	stmt            atomic.Pointer[sql.Stmt]
}

// answering are the first words of statements that return rows.
var answering = []string{"SELECT", "WITH", "SHOW", "VALUES", "EXPLAIN", "TABLE", "DESCRIBE", "PRAGMA"}

// newStatement translates a statement, in which {product} is the table of a data set.
func newStatement(d *data, o *model.Operation, st *model.Step) *statement {
	s := &statement{Step: st, operation: o.Name}
	text := st.Text
	for i := range d.sets {
		text = strings.ReplaceAll(text, "{"+d.sets[i].Name+"}", d.tables.Quoted(d.sets[i].table))
	}
	s.text = d.tables.Dialect.Text(text)
	upper := strings.ToUpper(text)
	words := strings.FieldsFunc(upper, func(c rune) bool { return (c < 'A' || c > 'Z') && c != '_' })
	s.rows = len(words) > 0 && slices.Contains(answering, words[0]) || slices.Contains(words, "RETURNING")
	return s
}

// prepared returns the statement, which is prepared the first time.
func (s *statement) prepared(ctx context.Context, c sqlstore.Typed) (*sql.Stmt, error) {
	if p := s.stmt.Load(); p != nil {
		return p, nil
	}
	p, err := c.SQL().PrepareContext(ctx, s.text)
	if err != nil {
		return nil, err
	}
	if !s.stmt.CompareAndSwap(nil, p) {
		return s.stmt.Load(), p.Close()
	}
	return p, nil
}

// refusal says that a database does not take a statement, or that it could not be asked.
func (s *statement) refusal(c sqlstore.Typed, err error) error {
	where := "operation " + s.operation
	if s.Where != "" {
		where = s.Where + ": " + where
	}
	err = fmt.Errorf("%s: %s does not take the statement: %w", where, c.Dialect(), err)
	switch c.Classify(err) {
	case store.Unreachable, store.Timeout, store.Overloaded, store.Refused, store.Canceled:
		return fault.Code(err, fault.CodeStore)
	}
	return fault.Input(err, "{NAME} in its text is the table of a data set, whose columns are k and v, n of a counter, or f_FIELD")
}

// statement carries out one of the user's own. Its answer is how many rows it has returned
// or changed, and the first column of the first one.
func (k *client) statement(ctx context.Context, c *model.Call) error {
	st := k.statements[c.Statement]
	k.args = k.args[:0]
	for i, arg := range c.Args {
		switch st.Args[i].Kind {
		case model.ArgNumber, model.ArgRecord:
			n, _ := strconv.ParseInt(string(arg), 10, 64) // of ours
			k.args = append(k.args, n)
		case model.ArgValue:
			k.args = append(k.args, arg)
		default:
			k.args = append(k.args, string(arg))
		}
	}
	c.N, c.Buf = 0, c.Buf[:0]
	p := &k.own[c.Statement]
	if p.text = st.text; p.stmt == nil && k.tx == nil {
		var err error
		if p.stmt, err = st.prepared(ctx, k.conn); err != nil {
			return err
		}
	}
	if !st.rows {
		n, err := k.exec(ctx, p)
		c.N = n
		return err
	}
	return k.query(ctx, p, func() {
		if c.N++; c.N == 1 {
			c.Buf = append(c.Buf, k.raw[0]...)
		}
	})
}
