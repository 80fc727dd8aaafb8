package statements

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
)

var (
	errGeneral = errors.New("this is no line of the general log of MariaDB or MySQL")
	errSlow    = errors.New("this is no line of the slow log of MariaDB or MySQL")
	errMixed   = errors.New("this is a line of the slow log, and those before it are of the general log")
)

// heading reports whether a line is one of the three that a server writes when it opens a log.
// The first has its version.
func heading(line string, server *string) bool {
	if name, rest, ok := strings.Cut(line, ", Version: "); ok && strings.HasSuffix(line, "started with:") {
		version, _, _ := strings.Cut(rest, " ")
		number, _, _ := strings.Cut(version, "-")
		if strings.Contains(version, "MariaDB") || strings.Contains(name, "mariadbd") {
			*server = "MariaDB " + number
		} else {
			*server = "MySQL " + number
		}
		return true
	}
	return strings.HasPrefix(line, "Tcp port: ") || strings.HasPrefix(line, "Time") && strings.HasSuffix(line, "Argument")
}

// firstOf returns the first line of a log behind what the server writes when it opens it.
func firstOf(ahead []byte) (line string, any bool) {
	var server string
	for part := range bytes.Lines(ahead) {
		if line = trimmed(part); !heading(line, &server) {
			return line, any
		}
		any = true
	}
	return "", any
}

func trimmed(line []byte) string { return string(bytes.TrimRight(line, "\r\n")) }

// beginsGeneral reports whether a log begins as a general log does.
func beginsGeneral(ahead []byte) bool {
	line, headed := firstOf(ahead)
	_, ok := (&general{}).event(line)
	return ok || headed && line == ""
}

// beginsSlow reports whether a log begins as a slow log does.
func beginsSlow(ahead []byte) bool {
	line, _ := firstOf(ahead)
	return beginsEntry(line)
}

// general reads the general log: a line for each thing that a connection does, and further ones
// where a statement has several.
type general struct {
	*capture.Log
	server string
	timing capture.Timing
	now    time.Time
	// ahead is what begins on the line that was read last, if there is one.
	ahead *event
	dbs   map[string]string
}

// event is what a line of the general log says.
type event struct {
	at         time.Time
	conn, what string
	text       string
}

func (g *general) kind() capture.Header {
	return capture.Header{Store: mysqlStore, Server: g.server, How: "the general log of MariaDB or MySQL", Timing: g.timing}
}

// does are the things that a connection does, as the log names them.
var does = words("Query Execute Prepare Connect Quit Ping Statistics Refresh Debug Kill Sleep Daemon Error Fetch Time Shutdown")

// event reads a line; false: nothing begins on it.
func (g *general) event(line string) (e event, ok bool) {
	moment, rest, ok := strings.Cut(line, "\t")
	if !ok {
		return e, false
	}
	e.at = g.now
	if moment != "" {
		at, exact, ok := parseMoment(moment)
		if !ok {
			return e, false
		}
		e.at = at
		if g.timing = capture.Seconds; exact {
			g.timing = capture.Exact
		}
	}
	rest = strings.TrimLeft(rest, "\t ")
	n := strings.IndexByte(rest, ' ')
	if n <= 0 || !isNumber(rest[:n]) {
		return e, false
	}
	e.conn = rest[:n]
	e.what, e.text, ok = strings.Cut(rest[n+1:], "\t")
	if !ok || !does[e.what] && !strings.Contains("|Init DB|Field List|Create DB|Drop DB|Change user|Close stmt|Reset stmt|Long Data|Set option|Binlog Dump|Register Slave|Register Replica|Reset Connection|Reset connection|Table Dump|Connect Out|Processlist|Bulk execute|Delayed insert|Binlog Dump GTID|", "|"+e.what+"|") {
		return e, false
	}
	return e, true
}

func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= 20
}

// parseMoment reads a moment of a log: of MariaDB the second, of MySQL the microsecond.
func parseMoment(s string) (at time.Time, exact, ok bool) {
	s = strings.TrimSpace(s)
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at.UTC(), true, true
	}
	for _, layout := range []string{"060102 15:04:05", "060102  15:04:05", "060102 _5:04:05"} {
		if at, err := time.Parse(layout, strings.Replace(s, "  ", " 0", 1)); err == nil {
			return at, false, true
		}
	}
	return at, false, false
}

// begin begins with the first moment that the log has: what stands in front of it is taken to be
// as old.
func (g *general) begin() {
	g.dbs, g.now, g.timing = map[string]string{}, time.Unix(0, 0).UTC(), capture.Unknown
	for line := range bytes.Lines(g.Ahead()) {
		if e, ok := g.event(trimmed(line)); ok && e.at != g.now {
			g.now = e.at
			return
		}
	}
}

// next reads the next statement.
func (g *general) next() (*entry, error) {
	if g.dbs == nil {
		g.begin()
	}
	for {
		e, err := g.whole()
		if err != nil {
			return nil, err
		}
		switch e.what {
		case "Connect":
			g.known(e.conn, after(e.text, " on ", " using "))
		case "Init DB":
			g.known(e.conn, e.text)
		case "Quit":
			delete(g.dbs, e.conn)
		case "Query":
			if l := len("execute"); len(e.text) > l && strings.EqualFold(e.text[:l], "execute") && isSpace(e.text[l]) && !strings.EqualFold(strings.TrimSpace(e.text[l:min(len(e.text), l+11)]), "immediate") {
				continue // what it executes has a line of its own
			}
			fallthrough
		case "Execute":
			return &entry{at: e.at, conn: e.conn, db: g.dbs[e.conn], sql: e.text}, nil
		}
	}
}

// known notes the database of a connection.
func (g *general) known(conn, db string) {
	if len(g.dbs) >= mostSessions {
		clear(g.dbs)
	}
	if len(db) < 1000 {
		g.dbs[conn] = db
	}
}

// after returns what stands between two texts.
func after(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return strings.TrimSpace(s)
}

// whole reads what a connection does, with all of its lines.
func (g *general) whole() (*event, error) {
	e := g.ahead
	g.ahead = nil
	from := g.Number
	var more strings.Builder // the lines of e behind its first
	done := func() *event {
		e.text += more.String()
		return e
	}
	for {
		line, err := g.Line()
		if err != nil && len(line) == 0 {
			if e != nil && errors.Is(err, io.EOF) {
				return done(), nil
			}
			return nil, err
		}
		text := trimmed(line)
		next, begins := g.event(text)
		if err != nil { // it has no end, so more of it may be missing
			err = g.CutAt("line", g.Number)
			if begins && e != nil {
				return done(), nil
			}
			return nil, err
		}
		switch {
		case begins:
			g.now = next.at
			if e != nil {
				g.ahead = &next
				return done(), nil
			}
			e, from = &next, g.Number
		case heading(text, &g.server):
			if e != nil {
				return done(), nil
			}
		case beginsEntry(text):
			return nil, g.At("line", g.Number, errMixed)
		case e == nil:
			return nil, g.At("line", g.Number, errGeneral)
		default:
			more.WriteByte('\n')
			if more.WriteString(text); more.Len() > mostRecord {
				return nil, g.At("line", from, errTooLong)
			}
		}
	}
}

// beginsEntry reports whether an entry of the slow log begins with a line.
func beginsEntry(line string) bool {
	return strings.HasPrefix(line, "# Time: ") || strings.HasPrefix(line, "# User@Host: ")
}

// slow reads the slow log: lines that begin with #, and then a statement with its semicolon.
type slow struct {
	*capture.Log
	server string
	exact  bool
	now    time.Time
	// ahead is the first line of the next entry.
	ahead string
	// db is the database of the entries that name none.
	db string
}

func (s *slow) kind() capture.Header {
	timing := capture.Seconds
	if s.exact {
		timing = capture.Exact
	}
	return capture.Header{Store: mysqlStore, Server: s.server, How: "the slow log of MariaDB or MySQL", Timing: timing}
}

// next reads the next statement.
func (s *slow) next() (*entry, error) {
	for {
		e, err := s.entry()
		if err != nil || e != nil {
			return e, err
		}
	}
}

// line returns the next line, without its end. The error is io.EOF behind the last one.
func (s *slow) line() (text string, ended bool, err error) {
	if text = s.ahead; text != "" {
		s.ahead = ""
		return text, true, nil
	}
	line, err := s.Line()
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return "", false, err
	}
	return trimmed(line), err == nil, nil
}

// entry reads an entry; nil: it has no statement.
func (s *slow) entry() (*entry, error) {
	e := &entry{}
	started := false
	var sql strings.Builder
	first := 0
	for {
		text, ended, err := s.line()
		switch {
		case errors.Is(err, io.EOF) && !started:
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, s.CutAt("line", max(first, s.Number))
		case err != nil:
			return nil, err
		}
		if first == 0 {
			first = s.Number
		}
		switch {
		case !started && heading(text, &s.server):
			first = 0
		case beginsEntry(text) && sql.Len() == 0:
			started = true
			s.about(e, text)
		case !started:
			if !ended && first > 1 {
				return nil, s.CutAt("line", s.Number)
			}
			return nil, s.At("line", s.Number, errSlow)
		case sql.Len() == 0 && strings.HasPrefix(text, "# administrator command: "):
			return nil, nil
		case sql.Len() == 0 && strings.HasPrefix(text, "# "):
			s.about(e, text)
		case sql.Len() == 0 && strings.HasPrefix(text, "use ") && strings.HasSuffix(text, ";"):
			s.db = strings.Trim(text[4:len(text)-1], "` ")
		case sql.Len() == 0 && strings.HasPrefix(text, "SET timestamp=") && strings.HasSuffix(text, ";"):
			s.stamp(text[len("SET timestamp=") : len(text)-1])
		default:
			if sql.Len() > 0 {
				sql.WriteByte('\n')
			}
			if sql.WriteString(text); sql.Len() > mostRecord {
				return nil, s.At("line", first, errTooLong)
			}
			if !strings.HasSuffix(text, ";") {
				continue
			}
			if whole, err := s.ends(sql.String()); err != nil || whole {
				e.at, e.db, e.sql = s.now, s.db, sql.String()
				return e, err
			}
		}
	}
}

// ends reports whether a statement ends with what was read: an entry follows, or nothing. What a
// procedure is made of, and texts, may have lines with a semicolon at their end.
func (s *slow) ends(sql string) (bool, error) {
	line, err := s.Line()
	if err != nil && len(line) == 0 {
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		return false, err
	}
	s.ahead = trimmed(line)
	if beginsEntry(s.ahead) || heading(s.ahead, &s.server) {
		return true, nil
	}
	l := lexer{dialect: MySQL, in: sql}
	var first part
	for {
		t, ok := l.next()
		if !ok {
			break
		}
		if t.kind == word && len(first) == 0 {
			first = append(first, strings.ToUpper(t.src))
		}
	}
	if !l.doubtful && first.verb() != "CREATE" && first.verb() != "ALTER" && first.verb() != "BEGIN" {
		return false, s.At("line", s.Number, errSlow)
	}
	return false, nil
}

// about reads what a line says of an entry.
func (s *slow) about(e *entry, line string) {
	if moment, ok := strings.CutPrefix(line, "# Time: "); ok {
		if at, exact, ok := parseMoment(moment); ok {
			s.now, s.exact = at, exact
		}
		return
	}
	if user, ok := strings.CutPrefix(line, "# User@Host: "); ok {
		if _, id, ok := strings.Cut(user, " Id: "); ok {
			e.conn = strings.TrimSpace(id)
		}
		return
	}
	f := strings.Fields(line)
	for i := 1; i+1 < len(f); i++ {
		switch value := f[i+1]; f[i] {
		case "Thread_id:", "Id:":
			e.conn = value
		case "Schema:":
			if s.db = value; strings.HasSuffix(value, ":") { // it is the next word
				s.db = ""
			}
		case "Query_time:":
			if n, err := strconv.ParseFloat(value, 64); err == nil && n >= 0 && n < 1e9 && s.exact {
				s.now = s.now.Add(-time.Duration(n * float64(time.Second)))
			}
		case "Errno:", "Last_errno:":
			if e.outcome = capture.Failed; value == "0" {
				e.outcome = capture.Succeeded
			}
		}
	}
}

// stamp takes the second at which an entry was written, where its moment is not known better.
func (s *slow) stamp(text string) {
	if sec, err := strconv.ParseInt(text, 10, 64); err == nil && !s.exact && sec > 0 && sec < 1<<36 {
		s.now = time.Unix(sec, 0).UTC()
	}
}
