package statements

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
)

// mostRecord is how long a record of a log is that is read.
const mostRecord = 64 << 20

var errTooLong = fmt.Errorf("it has more than %d MiB", mostRecord>>20)

// logged is a record of a log of PostgreSQL's, as jsonlog names its fields.
type logged struct {
	Time     string `json:"timestamp"`
	DB       string `json:"dbname"`
	Session  string `json:"session_id"`
	Severity string `json:"error_severity"`
	Message  string `json:"message"`
	Detail   string `json:"detail"`
	Query    string `json:"statement"`
}

// columns of csvlog that are used, and how many it has from PostgreSQL 9.0 on.
const (
	columnTime, columnDB, columnSession, columnSeverity, columnMessage, columnDetail, columnQuery = 0, 2, 5, 11, 13, 14, 19
	fewestColumns                                                                                 = 23
	mostColumns                                                                                   = 40
)

// beginsCSV reports whether a log begins as a csvlog does: with a moment, which has a zone.
func beginsCSV(ahead []byte) bool {
	field, _, ok := bytes.Cut(ahead, []byte(","))
	if _, is := parseTime(string(field)); !ok || !is {
		return false
	}
	line, _, _ := bytes.Cut(ahead, []byte("\n"))
	return bytes.Count(line, []byte(",")) > 11
}

// beginsJSON reports whether a log begins as a jsonlog does.
func beginsJSON(ahead []byte) bool {
	line, _, _ := bytes.Cut(ahead, []byte("\n"))
	return bytes.HasPrefix(line, []byte(`{"timestamp":"`)) && bytes.Contains(line, []byte(`"error_severity":"`))
}

// postgres reads csvlog or jsonlog.
type postgres struct {
	*capture.Log
	read   func(*postgres, *logged) error
	header capture.Header
	// current are the last entries of sessions, of which it is not known yet how they end.
	current map[string]*entry
	record  logged
	fields  []string
}

func newPostgres(l *capture.Log, read func(*postgres, *logged) error, how string) *postgres {
	return &postgres{Log: l, read: read, current: map[string]*entry{}, header: capture.Header{Store: postgresStore, How: how, Timing: capture.Millis}}
}

func (p *postgres) kind() capture.Header { return p.header }

// next reads the next statement. A statement that is logged as it begins is followed by its
// duration, by an error, or by the next one of its session.
func (p *postgres) next() (*entry, error) {
	for {
		r := &p.record
		*r = logged{}
		if err := p.read(p, r); err != nil {
			return nil, err
		}
		at, ok := parseTime(r.Time)
		if !ok {
			return nil, p.At("line", p.Number, errors.New("it begins with no moment"))
		}
		p.zone(r.Time)
		now := p.current[r.Session]
		switch r.Severity {
		case "LOG":
			if e := p.statement(r, at, now); e != nil {
				return e, nil
			}
		case "ERROR", "FATAL", "PANIC":
			if now != nil && (r.Query == "" || same(now.sql, r.Query)) {
				now.outcome = capture.Failed
				delete(p.current, r.Session)
				continue
			}
			if r.Query != "" {
				return &entry{at: at, conn: r.Session, db: r.DB, sql: r.Query, outcome: capture.Failed}, nil
			}
		}
	}
}

// same reports whether two texts are those of one statement.
func same(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }

// mostSessions is of how many sessions at a time the end of their statement is waited for.
const mostSessions = 100_000

// statement reads a statement from a message; nil: it has none. now is the last one of the session.
func (p *postgres) statement(r *logged, at time.Time, now *entry) *entry {
	message := r.Message
	rest, timed := strings.CutPrefix(message, "duration: ")
	if timed {
		number, text, _ := strings.Cut(rest, " ms")
		ms, err := strconv.ParseFloat(number, 64)
		if err != nil || ms < 0 || ms > 1e12 {
			return nil
		}
		message = strings.TrimLeft(text, " ")
		if message == "" { // of what was logged as it began
			if now != nil {
				now.outcome = capture.Succeeded
				delete(p.current, r.Session)
			}
			return nil
		}
		at = at.Add(-time.Duration(ms * float64(time.Millisecond)))
	}
	sql, ok := strings.CutPrefix(message, "statement: ")
	if !ok {
		name, ok := strings.CutPrefix(message, "execute ")
		if !ok || strings.HasPrefix(name, "fetch from ") {
			p.server(message)
			return nil // a part of a statement: parse, bind, more rows
		}
		if _, sql, ok = strings.Cut(name, ": "); !ok {
			return nil
		}
	}
	e := &entry{at: at, conn: r.Session, db: r.DB, sql: sql, bound: parameters(r.Detail)}
	if now != nil {
		now.outcome = capture.Succeeded
		delete(p.current, r.Session)
	}
	if timed {
		e.outcome = capture.Succeeded
		return e
	}
	if len(p.current) >= mostSessions {
		clear(p.current)
	}
	p.current[r.Session] = e
	return e
}

// server takes the version from the message of a server that starts.
func (p *postgres) server(message string) {
	if v, ok := strings.CutPrefix(message, "starting PostgreSQL "); ok && len(v) < 1000 {
		v, _, _ = strings.Cut(v, " ")
		p.header.Server = "PostgreSQL " + v
	}
}

// zone notes that the zone of the log's moments is not known.
func (p *postgres) zone(moment string) {
	zone := moment[strings.LastIndexByte(moment, ' ')+1:]
	if _, known := offset(zone); !known && p.header.Notes == nil {
		p.header.Notes = []string{"moments of the log are in " + zone + ", of which it does not say how far it is from UTC; they are taken as UTC"}
	}
}

// parseTime reads a moment, such as 2026-11-27 23:21:04.038 UTC.
func parseTime(s string) (time.Time, bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 || i == len(s)-1 || len(s) > 60 {
		return time.Time{}, false
	}
	at, err := time.Parse("2006-01-02 15:04:05", s[:i]) // which reads fractions, too
	if err != nil {
		return at, false
	}
	by, _ := offset(s[i+1:])
	return at.Add(-by), true
}

// offset returns how far a zone is from UTC; false: its name does not say it.
func offset(zone string) (time.Duration, bool) {
	if zone == "UTC" || zone == "GMT" || zone == "Z" {
		return 0, true
	}
	for _, layout := range []string{"-07", "-0700", "-07:00"} {
		if t, err := time.Parse(layout, zone); err == nil {
			_, sec := t.Zone()
			return time.Duration(sec) * time.Second, true
		}
	}
	return 0, false
}

// parameters reads what was bound: parameters: $1 = '8', $2 = NULL.
func parameters(detail string) (out []bound) {
	_, rest, ok := strings.Cut(detail, "arameters: ")
	for n := 1; ok && len(out) < 1<<16; n++ {
		rest, ok = strings.CutPrefix(rest, "$"+strconv.Itoa(n)+" = ")
		if !ok {
			break
		}
		if after, null := strings.CutPrefix(rest, "NULL"); null {
			out, rest = append(out, bound{null: true}), after
		} else if strings.HasPrefix(rest, "'") {
			l := lexer{dialect: CQL, in: rest} // which has no escapes
			value := l.literal('\'')
			out, rest = append(out, bound{value: value}), rest[l.at:]
		}
		rest = strings.TrimPrefix(rest, ", ")
	}
	return out
}

var (
	errCSV  = errors.New("this is no line of PostgreSQL's csvlog")
	errJSON = errors.New("this is no line of PostgreSQL's jsonlog")
)

// jsonRecord reads a line of jsonlog.
func (p *postgres) jsonRecord(r *logged) error {
	line, err := p.Line()
	if err != nil && len(line) == 0 {
		return err
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return p.jsonRecord(r)
	}
	if wrong := json.Unmarshal(line, r); wrong != nil || r.Severity == "" || r.Time == "" {
		if err != nil && p.Number > 1 {
			return p.CutAt("line", p.Number)
		}
		return p.At("line", p.Number, errJSON)
	}
	return nil
}

// csvRecord reads a record of csvlog, whose fields may have several lines.
func (p *postgres) csvRecord(r *logged) error {
	first := p.Number + 1
	var record []byte
	quotes := 0
	for open := true; open; {
		line, err := p.Line()
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case err != nil && len(record)+len(line) == 0:
			return io.EOF
		case err != nil && first > 1:
			return p.CutAt("line", first)
		case err != nil:
			return p.At("line", first, errCSV)
		}
		if first == p.Number && !csvMoment(line) {
			return p.At("line", first, errCSV)
		}
		record = append(record, line...)
		if len(record) > mostRecord {
			return p.At("line", first, errTooLong)
		}
		quotes += bytes.Count(line, []byte{'"'})
		open = quotes%2 == 1
	}
	if p.fields = split(p.fields[:0], strings.TrimRight(string(record), "\r\n")); len(p.fields) < fewestColumns || len(p.fields) > mostColumns {
		return p.At("line", first, errCSV)
	}
	f := p.fields
	*r = logged{Time: f[columnTime], DB: f[columnDB], Session: f[columnSession], Severity: f[columnSeverity], Message: f[columnMessage], Detail: f[columnDetail], Query: f[columnQuery]}
	return nil
}

// csvMoment reports whether a line begins with a moment.
func csvMoment(line []byte) bool {
	field, _, ok := bytes.Cut(line, []byte(","))
	_, is := parseTime(string(field))
	return ok && is
}

// split parts the fields of a record, with what is in quotes as it was; nil: it is none.
func split(out []string, record string) []string {
	for {
		if !strings.HasPrefix(record, `"`) {
			field, rest, more := strings.Cut(record, ",")
			if out = append(out, field); !more {
				return out
			}
			record = rest
			continue
		}
		at := 1
		for {
			n := strings.IndexByte(record[at:], '"')
			if n < 0 {
				return nil
			}
			at += n + 1
			if at >= len(record) || record[at] != '"' {
				break
			}
			at++
		}
		out = append(out, strings.ReplaceAll(record[1:at-1], `""`, `"`))
		if at == len(record) {
			return out
		}
		if record[at] != ',' {
			return nil
		}
		record = record[at+1:]
	}
}
