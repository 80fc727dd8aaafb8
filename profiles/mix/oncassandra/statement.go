package oncassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// statement is one of the user's own. It is never changed.
type statement struct {
	*model.Step
	operation, text string
}

// newStatement makes each {product} in a statement the table of that data set.
func newStatement(d *data, o *model.Operation, st *model.Step) statement {
	text := strings.TrimSpace(st.Text)
	for i := range d.sets {
		text = strings.ReplaceAll(text, "{"+d.sets[i].Name+"}", d.sets[i].name)
	}
	return statement{st, o.Name, text}
}

// preparable are the statements that the driver prepares; others it would just carry out.
var preparable = []string{"SELECT", "INSERT", "UPDATE", "DELETE"}

// readable refuses statements that cannot be prepared.
func readable(text string) error {
	words := strings.Fields(text)
	if len(words) == 0 || !slices.Contains(preparable, strings.ToUpper(words[0])) {
		return fault.Hint(fmt.Errorf("a statement of Cassandra begins with %s", strings.Join(preparable, ", ")), "write one of these, in one line or several")
	}
	return nil
}

// errPrepared ends the carrying out of a statement that was to be prepared only.
var errPrepared = errors.New("it is prepared")

// prepare prepares the statements of the workload; early means that tables may be missing.
func (d *data) prepare(ctx context.Context, early bool) error {
	var errs []error
	for _, s := range d.statements {
		marks := 0
		err := d.conn.Session().Bind(s.text, func(q *gocql.QueryInfo) ([]any, error) {
			marks = len(q.Args)
			return nil, errPrepared
		}).ExecContext(ctx)
		class := d.conn.Classify(err)
		where := "operation " + s.operation
		if s.Where != "" {
			where = s.Where + ": " + where
		}
		switch {
		case errors.Is(err, errPrepared) && marks != len(s.Args):
			errs = append(errs, fault.Input(fmt.Errorf("%s: the statement has %s, and %s", where, units.Plural(marks, "placeholder"), units.Plural(len(s.Args), "argument")), "write a question mark in the text for each of args"))
		case errors.Is(err, errPrepared), early && class == store.Missing:
		case class == store.Unreachable, class == store.Timeout, class == store.Overloaded, class == store.Refused, class == store.Canceled:
			errs = append(errs, fault.Store(fmt.Errorf("%s: prepare the statement: %w", where, err), ""))
		default:
			errs = append(errs, fault.Input(fmt.Errorf("%s: Cassandra does not take the statement: %w", where, err), "{NAME} in its text is the table of a data set, whose columns are k and v, n of a counter, or f_FIELD"))
		}
	}
	return errors.Join(errs...)
}

// statement carries out one of the user's own. Its answer is how many rows it has returned.
func (k *client) statement(ctx context.Context, c *model.Call) error {
	st := &k.statements[c.Statement]
	k.args = k.args[:0]
	for i, arg := range c.Args {
		switch st.Args[i].Kind {
		case model.ArgNumber, model.ArgRecord:
			n, _ := strconv.ParseInt(string(arg), 10, 64) // of ours
			k.args = append(k.args, n)
		case model.ArgText:
			k.args = append(k.args, string(arg))
		default:
			k.args = append(k.args, arg)
		}
	}
	rows := k.conn.Query(st.text, k.args...).Idempotent(false).IterContext(ctx).Scanner()
	for c.N = 0; rows.Next(); {
		c.N++
	}
	return rows.Err()
}
