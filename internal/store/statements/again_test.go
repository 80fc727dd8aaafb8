package statements

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
)

// A replay has a schema or database of its own. What names another one is left out, also in a literal
// that a server takes as a name, and in doubt.
func TestStatementsThatReachOut(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT o.id, c.name FROM orders o JOIN client c ON c.id = o.client":     false,
		"SELECT * FROM public.orders":                                            false, // the name of the schema is left out
		"SELECT * FROM other.orders":                                             true,
		"UPDATE orders SET a = 1 FROM other.t WHERE t.id = orders.id":            true,
		"DELETE FROM \"Other\".\"t\"":                                            true,
		"SELECT other.f(1)":                                                      true,
		"WITH gone AS (DELETE FROM other.t RETURNING id) SELECT * FROM gone":     true,
		"INSERT INTO t (a, b) VALUES (1, 'x.y')":                                 false,
		"SELECT nextval('orders_id_seq')":                                        false,
		"SELECT nextval('other.orders_id_seq')":                                  true,
		"SELECT nextval('public.orders_id_seq')":                                 true, // a literal is sent as it is
		"SELECT setval('\"public\".\"Seq\"'::regclass, 7)":                       true,
		"SELECT * FROM visit WHERE region = 'north.west'":                        false, // no regclass
		"INSERT INTO t (a) VALUES " + strings.Repeat("(1), ", mostWords) + "(1)": true,  // nobody has looked at its end
	} {
		s, err := takeApart(Postgres, sql)
		require.NoError(t, err, sql)
		args := []capture.Arg{capture.TextArg(s.verb), capture.TextArg(s.text)}
		for _, v := range s.values {
			args = append(args, capture.TextArg(v))
		}
		m := Mean(&capture.Header{Store: postgresStore})(&capture.Call{Args: args})
		assert.Equal(t, want, m.LeftOut == ofElsewhere, "%.60s: %s", sql, m.LeftOut)
	}
	m := Mean(&capture.Header{Store: mysqlStore})(&capture.Call{Args: []capture.Arg{capture.TextArg("UPDATE"), capture.TextArg("UPDATE `shop`.`orders` SET a = ?")}})
	assert.Equal(t, ofElsewhere, m.LeftOut)
}

// A dump names the schema that it is of, in its names and in those that are literals.
func TestAScriptIsMadeAtHome(t *testing.T) {
	all, err := Script(Postgres, `SET search_path = '';
CREATE SEQUENCE public.a_seq;
CREATE TABLE public.a (id int DEFAULT nextval('public.a_seq'::regclass), note text DEFAULT 'public.house');
INSERT INTO public.a (note) VALUES ('it''s at public.house');
`)
	require.NoError(t, err)
	var texts []string
	for _, s := range all {
		texts = append(texts, strings.TrimSpace(s.Text))
	}
	require.Len(t, texts, 3)
	assert.Equal(t, "CREATE SEQUENCE a_seq", texts[0])
	assert.Equal(t, "CREATE TABLE a (id int DEFAULT nextval('a_seq'::regclass), note text DEFAULT 'public.house')", texts[1])
	assert.Equal(t, "INSERT INTO a (note) VALUES ('it''s at public.house')", texts[2])

	for _, script := range []string{
		"CREATE TABLE a (id int DEFAULT nextval('other.a_seq'));", "CREATE VIEW v AS SELECT * FROM other.t;", "INSERT INTO other.t VALUES (1);",
		"CREATE TABLE a (id int DEFAULT nextval('\"Other\".a_seq'::regclass));",
	} {
		_, err := Script(Postgres, script)
		require.ErrorContains(t, err, "line 1: it names another schema or database", script)
	}
}

// What a server is set to is no answer to what it was asked.
func TestWhatIsOfTheServerPasses(t *testing.T) {
	for sql, want := range map[string]bool{"SELECT @@datadir": true, "SELECT @@session.auto_increment_increment": true, "SELECT @total + 1": false, "SELECT a FROM t WHERE b = '@@c'": false} {
		assert.Equal(t, want, FormOf(MySQL, sql).Passing, sql)
	}
}
