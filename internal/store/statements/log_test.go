package statements

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/capturetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// calls are those of a capture, a line each: milliseconds, connection and database, outcome, and
// the arguments behind the command; sizes in brackets.
func calls(t *testing.T, path string) ([]string, *capture.Reader) {
	t.Helper()
	return capturetest.Lines(t, path, func(c *capture.Call) string {
		line := fmt.Sprintf("%d %d/%d%s", c.At.Milliseconds(), c.Conn, c.DB, [...]string{"", " ok", " failed"}[c.Outcome])
		for _, a := range c.Args[1:] {
			switch a.Kind {
			case capture.Text:
				line += " | " + a.Text
			case capture.Null:
				line += " | null"
			default:
				line += fmt.Sprintf(" | [%d]", a.Size)
			}
		}
		return line
	})
}

func converted(t *testing.T, log string, o capture.Options) (string, capture.Tally, error) {
	t.Helper()
	return capturetest.Converted(t, Convert, log, o)
}

// csvLine is a line of csvlog.
func csvLine(ms int, session, severity, message, detail, query string) string {
	q := func(s string) string {
		if s == "" {
			return ""
		}
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return fmt.Sprintf("2026-11-27 23:21:%02d.%03d UTC,\"pb\",\"shop\",7,\"127.0.0.1:1\",%s,1,\"idle\",2026-11-27 23:21:04 UTC,3/2,0,%s,00000,%s,%s,,,,,%s,,,\"psql\",\"client backend\",,0\n",
		ms/1000, ms%1000, session, severity, q(message), q(detail), q(query))
}

// jsonLine is the same of jsonlog.
func jsonLine(ms int, session, severity, message, detail, query string) string {
	text := fmt.Sprintf(`{"timestamp":"2026-11-27 23:21:%02d.%03d UTC","user":"pb","dbname":"shop","session_id":%q,"error_severity":%q,"message":%q`, ms/1000, ms%1000, session, severity, message)
	if detail != "" {
		text += fmt.Sprintf(`,"detail":%q`, detail)
	}
	if query != "" {
		text += fmt.Sprintf(`,"statement":%q`, query)
	}
	return text + ",\"query_id\":0}\n"
}

// ofPostgres is what a server logs, in either form.
func ofPostgres(line func(ms int, session, severity, message, detail, query string) string) string {
	return line(0, "m", "LOG", "starting PostgreSQL 15.18 (Debian) on x86_64", "", "") +
		line(100, "a", "LOG", "statement: INSERT INTO t VALUES (1, 'two\nlines, \"q\"');", "", "") + // log_statement
		line(110, "a", "LOG", "duration: 9.5 ms", "", "") +
		line(120, "b", "LOG", "execute <unnamed>: SELECT $1 + 1, $2, $3", "parameters: $1 = '8', $2 = NULL, $3 = 'it''s, $4 = '", "") +
		line(130, "a", "LOG", "statement: SELECT 2/0", "", "") +
		line(131, "a", "ERROR", "division by zero", "", "SELECT 2/0") +
		line(140, "b", "LOG", "execute fetch from S_1/C_2: SELECT 1", "", "") +
		line(150, "b", "ERROR", "syntax error", "", "SELEC 1") + // as it was parsed
		line(900, "c", "LOG", "duration: 800.000 ms  statement: SELECT 'slow'", "", "") + // log_min_duration_statement
		line(901, "c", "LOG", "duration: 0.1 ms  parse P_0: SELECT 7", "", "") +
		line(901, "c", "LOG", "duration: 0.1 ms  bind P_0: SELECT 7", "", "") +
		line(902, "c", "LOG", "duration: 1.000 ms  execute P_0: SELECT 7", "", "") +
		line(910, "b", "LOG", "statement: CREATE USER x PASSWORD 'hunter2'", "", "") +
		line(920, "b", "LOG", "statement: COMMIT", "", "")
}

const ofMariaDBGeneral = `mariadbd, Version: 10.11.19-MariaDB-0+deb12u1-log (Debian 12). started with:
Tcp port: 45432  Unix socket: /run/s
Time		    Id Command	Argument
261127 23:21:10	     3 Connect	root@localhost on shop using Socket
		     3 Query	select 1
		     4 Connect	root@localhost on  using Socket
		     4 Query	insert into t values (1,'o''brien
two	lines "q" \'x\'')
		     3 Query	prepare p from 'select * from t where id=?'
		     3 Prepare	select * from t where id=?
		     3 Query	execute p using @a
		     3 Execute	select * from t where id=1
261127 23:21:12	     4 Init DB	crm
		     4 Query	set password for root@localhost = password('hunter2')
		     4 Query	select 2
		     4 Quit	
`

const ofMySQLGeneral = "/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:\nTcp port: 3306  Unix socket: /run/s\nTime                 Id Command    Argument\n" +
	"2026-11-27T23:21:10.000100Z\t    8 Connect\troot@localhost on shop using TCP/IP\n2026-11-27T23:21:10.500100Z\t    8 Query\tSELECT \"a\nb\"\n2026-11-27T23:21:10.750100Z\t    8 Field List\tt\n2026-11-27T23:21:11.000100Z\t    8 Query\tSELECT 1\n"

const ofMariaDBSlow = `# Time: 261127 23:21:10
# User@Host: root[root] @ localhost []
# Thread_id: 3  Schema:   QC_hit: No
# Query_time: 0.000130  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 0
# Rows_affected: 0  Bytes_sent: 58
SET timestamp=1795821670;
select 1;
# User@Host: root[root] @ localhost []
# Thread_id: 4  Schema: shop  QC_hit: No
# Query_time: 0.004902  Lock_time: 0.000083  Rows_sent: 0  Rows_examined: 0
use ` + "`shop`" + `;
SET timestamp=1795821672;
insert into t values (1,'two;
# lines; of it;
');
# User@Host: root[root] @ localhost []
# Thread_id: 4  Schema: shop  QC_hit: No
# Query_time: 0.002969  Lock_time: 0.000629  Rows_sent: 0  Rows_examined: 0
SET timestamp=1795821672;
create procedure pp() begin select 1;
select 2; end;
# User@Host: root[root] @ localhost []
# Thread_id: 4  Schema: shop  QC_hit: No
# administrator command: Quit;
`

const ofMySQLSlow = `/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:
Tcp port: 3306  Unix socket: /run/s
Time                 Id Command    Argument
# Time: 2026-11-27T23:21:12.000000Z
# User@Host: root[root] @ localhost []  Id:     8
# Query_time: 2.000000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0 Thread_id: 8 Errno: 0 Killed: 0
use shop;
SET timestamp=1795821670;
select sleep(2);
# Time: 2026-11-27T23:21:11.000000Z
# User@Host: root[root] @ localhost []  Id:     9
# Query_time: 0.500000  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0 Thread_id: 9 Errno: 1146 Killed: 0
SET timestamp=1795821670;
select * from nowhere;
`

const ofFQL = `Type: single-query
Query start time: 1795821670000
Protocol version: 5
Generated timestamp:-9223372036854775808
Generated nowInSeconds:1795821670
Query: SELECT * FROM ks.t WHERE id = ?
 AND name = ? AND x = 7
Values: 
00000000 00 00 00 01                                      ····             
00000000 61 62 63 64 65 66 67 68  69 6A 6B 6C 6D 6E 6F 70 abcdefgh ijklmnop
00000010 71                                               q                
-----

Type: batch
Query start time: 1795821670250
Protocol version: 5
Generated timestamp:-9223372036854775808
Generated nowInSeconds:1795821670
Batch type: UNLOGGED
Query: INSERT INTO ks.t (id) VALUES (?)
Values: 
00000000 00 00 00 02                                      ····             
Query: DELETE FROM ks.t WHERE id = 3;
Values: 

Type: single-query
Query start time: 1795821670300
Protocol version: 5
Generated timestamp:-9223372036854775808
Generated nowInSeconds:1795821670
Query: UPDATE ks.t SET b = ?
Values: 
00000000 61 61 61 61 61 61 61 61  61 61 61 61 61 61 61 61 aaaaaaaa aaaaaaaa
........
00000030 62                                               b                

Type: single-query
Query start time: 1795821670320
Protocol version: 5
Generated timestamp:-9223372036854775808
Generated nowInSeconds:1795821670
Query: INSERT INTO shop.orders (id, state, note, raw) VALUES (?, ?, ?, ?)
Values: 
00000000 00 00 00 08                                      ····             
-----
00000000 62 65 74 77 65 65 6E                             between          
-----
-----

`

func TestLogsBecomeCalls(t *testing.T) {
	postgres := []string{
		"0 1/0 ok | INSERT INTO t VALUES (?, '?') | 1 | two\nlines, \"q\"",
		"0 2/0 ok | SELECT '?' | slow",
		"20 3/0 ok | SELECT $1 + ?, $2, $3 | 1 | 8 | null | it's, $4 = ",
		"30 1/0 failed | SELECT ?/? | 2 | 0",
		"50 3/0 failed | SELEC ? | 1",
		"801 2/0 ok | SELECT ? | 7",
		"820 3/0 | COMMIT",
	}
	for name, tt := range map[string]struct {
		log, server string
		timing      capture.Timing
		want        []string
		left        map[string]int64
	}{
		"csvlog":  {ofPostgres(csvLine), "PostgreSQL 15.18", capture.Millis, postgres, map[string]int64{leftSecret: 1}},
		"jsonlog": {ofPostgres(jsonLine), "PostgreSQL 15.18", capture.Millis, postgres, map[string]int64{leftSecret: 1}},
		"general log of MariaDB": {ofMariaDBGeneral, "MariaDB 10.11.19", capture.Seconds, []string{
			"0 1/0 | select ? | 1",
			"0 2/1 | insert into t values (?,'?') | 1 | o'brien\ntwo\tlines \"q\" 'x'",
			"0 1/0 | prepare p from '?' | select * from t where id=?",
			"0 1/0 | select * from t where id=? | 1",
			"2000 2/2 | select ? | 2",
		}, map[string]int64{leftSecret: 1}},
		"general log of MySQL": {ofMySQLGeneral, "MySQL 8.0.36", capture.Exact, []string{"0 1/0 | SELECT '?' | a\nb", "500 1/0 | SELECT ? | 1"}, nil},
		"slow log of MariaDB": {ofMariaDBSlow, "", capture.Seconds, []string{
			"0 1/0 | select ? | 1",
			"2000 2/1 | insert into t values (?,'?') | 1 | two;\n# lines; of it;\n",
			"2000 2/1 | create procedure pp() begin select ?; select ?; end | 1 | 2",
		}, nil},
		"slow log of MySQL": {ofMySQLSlow, "MySQL 8.0.36", capture.Exact, []string{"0 1/0 ok | select sleep(?) | 2", "500 2/0 failed | select * from nowhere"}, nil},
		"fqltool dump": {ofFQL, "", capture.Millis, []string{
			"0 1/0 | SELECT * FROM ks.t WHERE id = $1 AND name = $2 AND x = ? | 7 | \x00\x00\x00\x01 | abcdefghijklmnopq",
			"250 1/0 | BATCH UNLOGGED; INSERT INTO ks.t (id) VALUES ($1); DELETE FROM ks.t WHERE id = ? | 3 | \x00\x00\x00\x02",
			"300 1/0 | UPDATE ks.t SET b = $1 | " + strings.Repeat("a", 48) + "b",
			"320 1/0 | INSERT INTO shop.orders (id, state, note, raw) VALUES ($1, $2, $3, $4) | \x00\x00\x00\x08 |  | between | ",
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			log := tt.log
			path, tally, err := converted(t, log, capture.Options{Values: true})
			require.NoError(t, err)
			got, r := calls(t, path)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.server, r.Header.Server)
			assert.Equal(t, tt.timing, r.Header.Timing)
			assert.Len(t, tally.Left, len(tt.left))
			assert.Equal(t, tt.left[leftSecret], tally.Left[leftSecret])
			assert.Empty(t, r.Cut())

			enc, err := zstd.NewWriter(nil)
			require.NoError(t, err)
			defer enc.Close() //nolint:errcheck // all is encoded
			path, _, err = converted(t, string(enc.EncodeAll([]byte(log), nil)), capture.Options{})
			require.NoError(t, err)
			hidden, _ := calls(t, path)
			assert.Len(t, hidden, len(tt.want), "packed")
			for _, line := range hidden {
				assert.Regexp(t, `^\d+ \d/\d[a-z ]* \| [^|]*( \| (\[\d+\]|null))*$`, line, "sizes only")
			}
		})
	}
}

// What was written without a time is as old as what follows it.
func TestAGeneralLogThatBeginsWithoutATime(t *testing.T) {
	path, _, err := converted(t, "\t\t     3 Query\tselect 1\n261127 23:21:10\t     3 Query\tselect 2\n", capture.Options{})
	require.NoError(t, err)
	got, r := calls(t, path)
	assert.Equal(t, []string{"0 1/0 | select ? | [1]", "0 1/0 | select ? | [1]"}, got)
	assert.Equal(t, time.Date(2026, 11, 27, 23, 21, 10, 0, time.UTC), r.Header.Started)
}

func TestMomentsOfZones(t *testing.T) {
	at, _, ok := parseMoment("261127  3:21:12")
	require.True(t, ok)
	assert.Equal(t, "2026-11-27T03:21:12Z", at.Format(time.RFC3339), "an hour of one digit")
	for zone, want := range map[string]string{"UTC": "23:21:04", "+03": "20:21:04", "-0330": "02:51:04", "CET": "23:21:04"} {
		at, ok := parseTime("2026-11-27 23:21:04.5 " + zone)
		require.True(t, ok, zone)
		assert.Equal(t, want, at.Format(time.TimeOnly), zone)
	}
	path, _, err := converted(t, strings.ReplaceAll(csvLine(1, "a", "LOG", "statement: SELECT 1", "", ""), "UTC", "CET"), capture.Options{})
	require.NoError(t, err)
	_, r := calls(t, path)
	require.Len(t, r.Header.Notes, 1)
	assert.Contains(t, r.Header.Notes[0], "are in CET")
}

// Nothing that stood in quotes, and no number, is in a capture without values, or in one that is
// anonymised.
func TestAnonymisedStatements(t *testing.T) {
	log := csvLine(1, "a", "LOG", `statement: SELECT 'Erika Mustermann', 4711081500, E'O\'Hara', $$free text$$ FROM t /* by Erika */`, "", "") +
		csvLine(2, "a", "LOG", "execute x: SELECT $1, 'Erika Mustermann'", "parameters: $1 = 'erika@example.org'", "") +
		csvLine(3, "a", "ERROR", "value too long: Mustermann", "Key (name)=(Mustermann)", "INSERT INTO t VALUES ('Mustermann')") +
		csvLine(4, "a", "LOG", `statement: SELECT 'a\', 'Mustermann'`, "", "")
	d := capture.NewDisguise([]byte("k"), "")
	for name, o := range map[string]capture.Options{"sizes": {}, "anonymised sizes": {Disguise: d}, "anonymised values": {Disguise: d, Values: true}} {
		path, tally, err := converted(t, log, o)
		require.NoError(t, err)
		got, r := calls(t, path)
		text := fmt.Sprintf("%v %+v %+v", got, r.Header, tally)
		for _, secret := range []string{"Erika", "Mustermann", "erika", "4711081500", "Hara", "free"} {
			assert.NotContains(t, text, secret, name)
		}
		assert.Len(t, got, 3, name)
		assert.Equal(t, map[string]int64{errDoubtful.Error(): 1}, tally.Left, name)
		assert.Equal(t, o.Disguise != nil, r.Header.Anonymised)
	}
	path, _, err := converted(t, log, capture.Options{Disguise: d, Values: true})
	require.NoError(t, err)
	got, _ := calls(t, path)
	assert.Equal(t, "0 1/0 ok | SELECT '?', ?, E'?', '?' FROM t | "+d.Text("Erika Mustermann")+" | "+d.Text("4711081500")+" | "+d.Text("O'Hara")+" | "+d.Text("free text"), got[0], "the same text becomes the same one")
	_, _, err = converted(t, log, capture.Options{Disguise: capture.NewDisguise([]byte("k"), ":")})
	require.ErrorContains(t, err, "has statements and no keys")
}

func TestSampleOfSessions(t *testing.T) {
	var log strings.Builder
	for i := range 1000 {
		log.WriteString(csvLine(i, fmt.Sprint("s", i%100), "LOG", "statement: SELECT 1", "", ""))
	}
	_, tally, err := converted(t, log.String(), capture.Options{Sample: 10})
	require.NoError(t, err)
	assert.EqualValues(t, 1000, tally.Calls+tally.Left[capture.LeftSample])
	assert.Equal(t, tally.Calls, 10*tally.Connections)
	_, _, err = converted(t, ofFQL, capture.Options{Sample: 10})
	require.ErrorContains(t, err, "none can be sampled")
}

// Logs are written as statements end. What ends more than the limit later than others that began
// after it is recorded late, and said to be.
func TestStatementsInTheOrderOfTheirBeginning(t *testing.T) {
	var log strings.Builder
	for i := range 2 * mostWaiting {
		log.WriteString(csvLine(20_000+i, "a", "LOG", "duration: 0.000 ms  statement: SELECT 1", "", ""))
	}
	log.WriteString(csvLine(20_000+2*mostWaiting, "a", "LOG", "duration: 9.900 ms  statement: SELECT 'last'", "", "")) // less precise than its duration
	log.WriteString(csvLine(50_000, "b", "LOG", "duration: 30000.000 ms  statement: SELECT 2", "", ""))
	path, tally, err := converted(t, log.String(), capture.Options{})
	require.NoError(t, err)
	got, _ := calls(t, path)
	assert.Len(t, got, 2*mostWaiting+2)
	assert.Contains(t, got[len(got)-1], "SELECT '?'", "the order of a session is kept")
	assert.Contains(t, tally.Notes, "1 statement took so long as to be recorded later than it began")
}

func TestBadLogsAreRefusedInOneSentence(t *testing.T) {
	ok, json := csvLine(1, "a", "LOG", "statement: SELECT 1", "", ""), jsonLine(1, "a", "LOG", "statement: SELECT 1", "", "")
	for name, tt := range map[string]struct{ log, want string }{
		"nothing logged":             {csvLine(1, "a", "LOG", "checkpoint", "", ""), "log: it has no calls in it"},
		"nothing logged, general":    {"Time\t\t    Id Command\tArgument\n", "log: it has no calls in it"},
		"a foreign line in csvlog":   {ok + "hello\n" + ok, "log: line 2: this is no line of PostgreSQL's csvlog"},
		"jsonlog in csvlog":          {ok + json, "log: line 2: this is no line of PostgreSQL's csvlog"},
		"too few columns":            {ok + "2026-11-27 23:21:04.038 UTC,a,b\n" + ok, "log: line 2: this is no line of PostgreSQL's csvlog"},
		"csvlog in jsonlog":          {json + ok + json, "log: line 2: this is no line of PostgreSQL's jsonlog"},
		"a moment that is none":      {json + strings.Replace(json, "2026-11", "2026-13", 1), "log: line 2: it begins with no moment"},
		"slow log in a general log":  {ofMariaDBGeneral + ofMariaDBSlow, "log: line 17: this is a line of the slow log, and those before it are of the general log"},
		"a foreign line in slow log": {strings.Replace(ofMariaDBSlow, "select 1;\n", "select 1;\nhello\n", 1), "log: line 8: this is no line of the slow log of MariaDB or MySQL"},
		"general log in a slow log":  {ofMariaDBSlow + ofMySQLGeneral[strings.Index(ofMySQLGeneral, "2026"):], "log: line 25: this is no line of the slow log of MariaDB or MySQL"},
		"a foreign line in fqltool":  {strings.Replace(ofFQL, "Batch type", "batch type", 1), "log: line 19: this is no line of fqltool dump"},
		"a foreign value in fqltool": {strings.Replace(ofFQL, "00000010 71", "hello", 1), "log: line 11: this is no line of fqltool dump"},
		"csvlog in fqltool":          {ofFQL + ok, "log: line 50: this is no line of fqltool dump"},
		"fqltool in csvlog":          {ok + ofFQL, "log: line 2: this is no line of PostgreSQL's csvlog"},
		"fqltool in jsonlog":         {json + ofFQL, "log: line 2: this is no line of PostgreSQL's jsonlog"},
		"general log in csvlog":      {ok + ofMariaDBGeneral, "log: line 2: this is no line of PostgreSQL's csvlog"},
		"csvlog in slow log":         {ofMariaDBSlow + ok, "log: line 25: this is no line of the slow log of MariaDB or MySQL"},
		"bytes in jsonlog":           {json + "\x00\xff\x00\xff\n" + json, "log: line 2: this is no line of PostgreSQL's jsonlog"},
		"another kind in fqltool":    {ofFQL + "Type: prepare\n", "log: line 50: this is no line of fqltool dump"},
	} {
		path, _, err := converted(t, tt.log, capture.Options{})
		require.Error(t, err, name)
		assert.Equal(t, tt.want, strings.TrimPrefix(err.Error(), filepath.Dir(path)+"/"), name)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), name)
		assert.NoFileExists(t, path, name)
	}
}

// A record that has no end is not read into memory until there is none left.
func TestRecordsWithoutAnEndAreRefused(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestBadLogsAreRefusedInOneSentence has everything that is no larger than a test")
	ok, long := csvLine(1, "a", "LOG", "statement: SELECT 1", "", ""), strings.Repeat("SELECT 1,\n", 7<<20)
	for name, tt := range map[string]struct{ log, want string }{
		"a line of csvlog":   {ok + strings.Repeat("x", 70<<20) + "\n" + ok, "log: line 2: this is no line of PostgreSQL's csvlog"},
		"a text in csvlog":   {ok + strings.Replace(ok, "SELECT 1", long, 1), "log: line 2: it has more than 64 MiB"},
		"a query in fqltool": {ofFQL + strings.Replace(ofFQL, "SELECT *", long, 1), "log: line 50: it has more than 64 MiB"},
		"a general log":      {ofMariaDBGeneral + long, "log: line 16: it has more than 64 MiB"},
		"a slow log":         {strings.Replace(ofMariaDBSlow, "select 1;", long, 1), "log: line 1: it has more than 64 MiB"},
	} {
		path, _, err := converted(t, tt.log, capture.Options{})
		require.Error(t, err, name)
		assert.Equal(t, tt.want, strings.TrimPrefix(err.Error(), filepath.Dir(path)+"/"), name)
		assert.NoFileExists(t, path, name)
	}
}

// A log may end anywhere: what is whole is recorded, and what is not is counted, or the log is
// refused.
func TestLogsAreCutShortAnywhere(t *testing.T) {
	tier.Slow(t, tier.Computes)
	for name, log := range map[string]string{
		"csvlog": ofPostgres(csvLine), "jsonlog": ofPostgres(jsonLine), "general": ofMariaDBGeneral, "slow": ofMariaDBSlow, "fqltool": ofFQL,
	} {
		path, _, err := converted(t, log, capture.Options{})
		require.NoError(t, err)
		all, _ := calls(t, path)
		seen := 0
		for n := 1; n < len(log); n += 7 {
			path, tally, err := converted(t, log[:n], capture.Options{})
			if err != nil {
				assert.Equal(t, fault.CodeInput, fault.CodeOf(err), "%s cut at %d: %v", name, n, err)
				assert.NoFileExists(t, path)
				continue
			}
			got, _ := calls(t, path)
			assert.LessOrEqual(t, len(got), len(all), "%s cut at %d", name, n)
			if tally.Left[capture.LeftCut] > 0 {
				seen++
				assert.Regexp(t, `^line \d+ is cut short, and was left out$`, tally.Notes[len(tally.Notes)-1])
			}
		}
		assert.Positive(t, seen, name)
	}
}

func TestWhatIsNoLogOfStatementsIsNotRecognised(t *testing.T) {
	dir := t.TempDir()
	for i, text := range []string{"", "hello\n", "1700000000.000100 [0 127.0.0.1:5001] \"GET\" \"a\"\n", "*1\r\n$4\r\nPING\r\n", "0,k,1,2,3,get,0\n", "key,op,size\nk,GET,0\n", "{}\n"} {
		path := filepath.Join(dir, fmt.Sprint(i))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		assert.False(t, Recognises(t.Context(), path), text)
		_, err := Convert(t.Context(), path, filepath.Join(dir, "x"), capture.Options{})
		require.ErrorContains(t, err, "it is no log of statements")
	}
	assert.False(t, Recognises(t.Context(), dir))
	assert.False(t, Recognises(t.Context(), filepath.Join(dir, "missing")))
}

func TestReadingEndsWithItsContext(t *testing.T) {
	var log strings.Builder
	for i := range 5000 {
		log.WriteString(csvLine(i, "a", "LOG", "checkpoint", "", ""))
	}
	dir := t.TempDir()
	from := filepath.Join(dir, "log")
	require.NoError(t, os.WriteFile(from, []byte(log.String()), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Convert(ctx, from, filepath.Join(dir, "x"), capture.Options{})
	require.ErrorIs(t, err, context.Canceled)
}
