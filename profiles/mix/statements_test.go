package mix

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/replay"
)

// said is a recorded statement on a connection: its text without values, and these.
func said(at time.Duration, conn int, text string, values ...string) capture.Call {
	verb := text
	for i := range text {
		if text[i] == ' ' {
			verb = text[:i]
			break
		}
	}
	c := capture.Call{At: at, Conn: int64(conn), Args: []capture.Arg{capture.TextArg(verb), capture.TextArg(text)}}
	for _, v := range values {
		if v == "NULL" {
			c.Args = append(c.Args, capture.Arg{Kind: capture.Null})
			continue
		}
		c.Args = append(c.Args, capture.TextArg(v))
	}
	return c
}

// clients is how many connections a recorded shop has, payments how many transactions each.
const clients, payments = 6, 20

// statementsOf is what a shop asks a database: transactions of several connections at a time, each
// of which would see or wait for the others' if they shared one; what was bound; what fails; and
// what a replay leaves out.
func statementsOf(t testing.TB, store string) string {
	t.Helper()
	var calls []capture.Call
	at := time.Duration(0)
	add := func(conn int, text string, values ...string) {
		at += 50 * time.Microsecond
		calls = append(calls, said(at, conn, text, values...))
	}
	mark := func(n int) string {
		return map[bool]string{true: "$" + strconv.Itoa(n), false: "?"}[store == "postgres"]
	}
	for i := range payments {
		for c := 1; c <= clients; c++ {
			add(c, "BEGIN")
		}
		for c := 1; c <= clients; c++ {
			add(c, "UPDATE account SET sum = sum + "+mark(1)+" WHERE id = "+mark(2), strconv.Itoa(c), "1")
		}
		for c := 1; c <= clients; c++ {
			add(c, "INSERT INTO payment (client, number, note) VALUES (?, ?, '?')", strconv.Itoa(c), strconv.Itoa(i), `it's \ "so"`)
			add(c, map[bool]string{true: "COMMIT", false: "ROLLBACK"}[i%2 == 0])
		}
		add(1, "SELECT number, note FROM payment WHERE client = ? ORDER BY number", "1")
	}
	add(1, "INSERT INTO payment (client, number, note) VALUES (?, ?, '?')", "1", "0", "twice")
	add(2, "SELECT * FROM nowhere")
	add(3, "DROP DATABASE shop")
	add(3, "SELECT * FROM other.payment")
	add(3, "TRUNCATE payment")
	add(4, "BEGIN")
	add(4, "DELETE FROM payment") // and then it has gone
	return recorded(t, capture.Header{Store: store, Values: true}, calls...)
}

const shopSchema = `-- the tables of a shop
SET standard_conforming_strings = on;
CREATE TABLE account (id int PRIMARY KEY, sum int NOT NULL);
CREATE TABLE payment (client int, number int, note varchar(40), PRIMARY KEY (client, number));
INSERT INTO account VALUES (1, 0), (2, 0);
`

func schemaFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.sql")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return "schema=" + path
}

// database opens a server of a test.
func database(t testing.TB, store string, srv *labtest.Server) *sql.DB {
	t.Helper()
	driver, url := "pgx", srv.URL()
	if store == "mysql" {
		driver, url = "mysql", "pb@tcp("+srv.Addr()+")/perfbench"
	}
	db, err := sql.Open(driver, url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func serverOf(t *testing.T, store string) *labtest.Server {
	if store == "mysql" {
		return labtest.MariaDB(t)
	}
	return labtest.Postgres(t)
}

// Statements are made as they were recorded, in a schema of the run's own: those of a connection in
// their order, its transactions whole, however many threads make them; what reaches out is left out.
func TestStatementsAreMadeAgain(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"postgres", "mysql"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			if store == "mysql" {
				tier.Full(t, "the case postgres")
			}
			srv := serverOf(t, store)
			db := database(t, store, srv)
			for _, text := range []string{"CREATE TABLE payment (client int)", "INSERT INTO payment VALUES (7)"} { // somebody else's
				_, err := db.ExecContext(t.Context(), text)
				require.NoError(t, err)
			}
			file := statementsOf(t, store)
			c := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{file}, Errors: true, Set: []string{"namespace=again", schemaFile(t, shopSchema)}, Out: t.TempDir()}
			for name, made := range map[string]func(*testing.T) *session.Concluded{
				"folded":      func(t *testing.T) *session.Concluded { return c.With("threads=2", "speed=unlimited").Run(t) },
				"as recorded": func(t *testing.T) *session.Concluded { return c.With("speed=2").Run(t) },
				"three workers": func(t *testing.T) *session.Concluded {
					tier.Full(t, "the case folded")
					return c.With("speed=unlimited").Together(t, 3)
				},
			} {
				t.Run(name, func(t *testing.T) {
					o := made(t)
					require.NoError(t, o.Err)
					assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
					f := profiletest.Facts[replay.Facts](t, o)
					assert.EqualValues(t, payments*(clients*4+1)+4, f.Replay.Made)
					assert.Equal(t, map[string]int64{
						"about the server itself, or another database": 1, "names another schema or database": 1, "changes or maintains tables (DDL)": 1,
					}, f.Replay.LeftOut)
					var sum, rows, others int
					var note string
					require.NoError(t, db.QueryRowContext(t.Context(), "SELECT sum FROM again_replay.account WHERE id = 1").Scan(&sum))
					assert.Equal(t, payments/2*(1+2+3+4+5+6), sum, "what was rolled back is not there")
					require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*), max(note) FROM again_replay.payment").Scan(&rows, &note))
					assert.Equal(t, payments/2*clients, rows, "a transaction whose connection went was given up")
					assert.Equal(t, `it's \ "so"`, note)
					require.NoError(t, db.QueryRowContext(t.Context(), "SELECT client FROM payment").Scan(&others))
					assert.Equal(t, 7, others)
					failed := int64(0)
					for _, op := range o.Run.Operations {
						failed += op.Errors
					}
					assert.EqualValues(t, 2, failed, "the key that is there twice, and the table that is not")
				})
			}
		})
	}
}

func TestWhatStatementsCannotBeMadeAgainWith(t *testing.T) {
	t.Parallel()
	srv := labtest.Postgres(t)
	full, sizes := statementsOf(t, "postgres"), recorded(t, capture.Header{Store: "postgres"}, capture.Call{Conn: 1, Args: []capture.Arg{capture.TextArg("SELECT"), capture.TextArg("SELECT * FROM t WHERE id = ?"), {Kind: capture.Name, ID: 5, Size: 3}}})
	for name, tt := range map[string]struct {
		file string
		set  []string
		want string
	}{
		"no tables":   {full, nil, "nothing says what these are like"},
		"no values":   {sizes, nil, "has no values of its statements"},
		"by key":      {full, []string{"order=key"}, "statements have no keys"},
		"foreign":     {full, []string{schemaFile(t, "CREATE TABLE a (b int);\nDROP DATABASE shop;\n")}, "line 2"},
		"elsewhere":   {full, []string{schemaFile(t, "CREATE TABLE a (b int);\n\nINSERT INTO x.a VALUES (1);\n")}, "line 3: it names another schema"},
		"cut short":   {full, []string{schemaFile(t, "CREATE TABLE a (b int);\nINSERT INTO a VALUES ('x")}, "line 2: a literal has no end"},
		"wrong":       {full, []string{schemaFile(t, "CREATE TABLE a (b int);\nCREATE TABLE b (c nonsense);\n")}, "line 2"},
		"another":     {full, []string{"snapshot=redis://localhost"}, "is no PostgreSQL"},
		"no database": {full, []string{"snapshot=" + srv.URL() + "?search_path=nowhere"}, "has none of the tables"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{tt.file}, Set: append([]string{"namespace=not"}, tt.set...)}.Start(context.WithoutCancel(t.Context()), t)
			require.ErrorContains(t, err, tt.want)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err), "%v", err)
		})
	}
	_, err := profiletest.Case{Profile: Profile(), Target: "memory:", Files: []string{full}, Set: []string{"ddl=on"}}.Start(context.WithoutCancel(t.Context()), t)
	require.ErrorContains(t, err, "can only be made again on PostgreSQL")
}

// inquiries is what many connections ask at a time, of which some answers follow from time and
// chance.
func inquiries(t testing.TB, store string, many int) string {
	t.Helper()
	var calls []capture.Call
	at := time.Duration(0)
	add := func(conn int, text string, values ...string) {
		at += 20 * time.Microsecond
		calls = append(calls, said(at, conn, text, values...))
	}
	for i := range many {
		c, id := i%20+1, strconv.Itoa(i)
		add(c, "SELECT id, name FROM product WHERE id = ?", id)
		switch i % 10 {
		case 0:
			add(c, "BEGIN")
			add(c, "UPDATE product SET stock = stock - ? WHERE id = ?", "1", id)
			add(c+1, "SELECT sum(stock), count(*) FROM product")
			add(c, "INSERT INTO purchase (product, at) VALUES (?, now())", id)
			add(c, map[bool]string{true: "COMMIT", false: "ROLLBACK"}[i%20 == 0])
		case 1:
			add(c, "SELECT id, product FROM purchase")
			add(c, "SELECT * FROM purchase ORDER BY id")
			add(c, "SELECT now()")
		case 2:
			add(c, "SELECT name FROM product WHERE stock > ? ORDER BY id DESC LIMIT ?", "5", "10")
			add(c, "SELECT id FROM product WHERE stock > ? LIMIT ?", "5", "3")
			add(c, "INSERT INTO product (id, name, stock) VALUES (?, '?', ?)", "0", "there already", "1")
		}
	}
	return recorded(t, capture.Header{Store: store, Values: true}, calls...)
}

// stocked fills the tables that these ask for.
func stocked(t testing.TB, store string, db *sql.DB, many int) {
	t.Helper()
	counted := "id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
	if store == "mysql" {
		counted = "id int AUTO_INCREMENT PRIMARY KEY"
	}
	run := func(text string, args ...any) {
		_, err := db.ExecContext(t.Context(), text, args...)
		require.NoError(t, err)
	}
	run("CREATE TABLE kind (id int PRIMARY KEY, name varchar(20) NOT NULL)")
	run("CREATE TABLE product (id int PRIMARY KEY, name varchar(60) NOT NULL, stock int DEFAULT 10, kind int DEFAULT 1, FOREIGN KEY (kind) REFERENCES kind (id))")
	run("CREATE INDEX product_stock ON product (stock)")
	run("CREATE TABLE purchase (" + counted + ", product int, at timestamp NULL, raw " + map[string]string{"postgres": "bytea", "mysql": "blob"}[store] + ")")
	run("CREATE TABLE unasked (id int)")
	run("INSERT INTO kind VALUES (1, 'it''s')")
	for i := range many {
		run(fmt.Sprintf("INSERT INTO product (id, name, stock) VALUES (%d, 'p%d', %d)", i, i, i%13))
	}
	run("INSERT INTO purchase (product, at) VALUES (3, '2026-01-02 03:04:05')")
	run("INSERT INTO purchase (product, raw) VALUES (4, " + map[string]string{"postgres": `'\x00ff27'`, "mysql": "X'00ff27'"}[store] + ")")
}

// A replay begins with a copy of the tables that its statements name. Answers are the same on the
// same server, and each row that is another is found.
func TestAnswersToStatementsAreCompared(t *testing.T) {
	t.Parallel()
	const many = 100
	for _, store := range []string{"postgres", "mysql"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			if store == "postgres" {
				tier.Full(t, "the case mysql")
			}
			srv := serverOf(t, store)
			db := database(t, store, srv)
			stocked(t, store, db, many)
			file, kept := inquiries(t, store, many), filepath.Join(t.TempDir(), "old.answers")
			c := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{file}, Set: []string{"speed=unlimited", "snapshot=" + srv.URL()}, Out: t.TempDir(), Errors: true}
			o := c.With("keep-answers=" + kept).Run(t)
			require.NoError(t, o.Err)
			f := profiletest.Facts[replay.Facts](t, o)
			assert.EqualValues(t, 3, f.Replay.Tables, "kind is referred to, and unasked is not")
			assert.EqualValues(t, many+3, f.Replay.Copied)
			answers := func() *workload.Answers {
				f := profiletest.Facts[replay.Facts](t, c.With("expect-answers="+kept, "namespace=other").Run(t))
				require.NotNil(t, f.Replay.Answers)
				return f.Replay.Answers
			}
			a := answers()
			assert.Zero(t, a.Differ, "%+v", a)
			assert.Equal(t, f.Replay.Calls, a.Compared)
			assert.EqualValues(t, 2*many/10+many/10, a.Kinds, "the time, and what has it in it")

			_, err := db.ExecContext(t.Context(), "UPDATE product SET name = concat(name, '!') WHERE id IN (3, 17, 44, 95)")
			require.NoError(t, err)
			a = answers()
			assert.EqualValues(t, 4, a.Differ, "%+v", a)
			require.NotEmpty(t, a.Examples)
			assert.Contains(t, a.Examples[0], "SELECT id, name FROM product WHERE id = ?")
			assert.Contains(t, a.Examples[0], "1 row; before, as many, but others")
			var there int
			require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM purchase").Scan(&there))
			assert.Equal(t, 2, there, "the snapshot is only read")
		})
	}
}

// A dry run lists what is made, and not what is left out, also where only some statements of a verb
// are.
func TestADryRunListsTheStatementsThatAreMade(t *testing.T) {
	file := recorded(t, capture.Header{Store: "mysql", Values: true},
		said(0, 1, "SELECT a FROM t"), said(1, 1, "SELECT a FROM other.t"), said(2, 1, "SELECT b FROM t"), said(3, 1, "DELETE FROM other.t"))
	p, err := profiletest.Case{Profile: Profile(), Target: "mysql://nobody", Files: []string{file}, Set: []string{schemaFile(t, "CREATE TABLE t (a int, b int)")}}.Prepare(t.Context(), t)
	require.NoError(t, err)
	assert.Contains(t, p.Plan.Writes[0], ": SELECT 100 %; on t")
	assert.Equal(t, []string{"50 % of the statements: SELECT a FROM t", "50 % of the statements: SELECT b FROM t"}, p.Plan.Writes[1:3])
}
