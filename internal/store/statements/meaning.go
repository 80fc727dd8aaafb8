package statements

import (
	"strings"

	"github.com/perfbench/perfbench/internal/capture"
)

// Why a replay leaves statements out.
const (
	ofServer   = "about the server itself, or another database"
	ofTables   = "changes or maintains tables (DDL)"
	ofSession  = "about the connection, or what the server is set to"
	ofFiles    = "reads or writes data that the log does not have"
	ofOthers   = "calls what the log does not have"
	ofMessages = "messages, which others would hear"
	ofStranger = "a statement that is not known"
)

// verbs says why statements are left out; empty: they are not.
var verbs = map[string]string{
	"SELECT": "", "INSERT": "", "UPDATE": "", "DELETE": "", "MERGE": "", "REPLACE": "", "VALUES": "", "TABLE": "", "BATCH": "",
	"BEGIN": "", "START": "", "COMMIT": "", "END": "", "ROLLBACK": "", "ABORT": "", "SAVEPOINT": "", "RELEASE": "",
	"LOCK": "", "UNLOCK": "", "EXPLAIN": "", "DECLARE": "", "FETCH": "", "MOVE": "", "CLOSE": "",
	"SET": ofSession, "RESET": ofSession, "SHOW": ofSession, "DISCARD": ofSession, "USE": ofSession, "DESCRIBE": ofSession, "DESC": ofSession, "HELP": ofSession,
	"CREATE": ofTables, "ALTER": ofTables, "DROP": ofTables, "TRUNCATE": ofTables, "RENAME": ofTables, "COMMENT": ofTables, "REINDEX": ofTables, "CLUSTER": ofTables,
	"REFRESH": ofTables, "ANALYZE": ofTables, "VACUUM": ofTables, "OPTIMIZE": ofTables, "REPAIR": ofTables, "CHECK": ofTables, "CHECKSUM": ofTables,
	"COPY": ofFiles, "LOAD": ofFiles, "IMPORT": ofFiles, "HANDLER": ofOthers,
	"PREPARE": ofOthers, "EXECUTE": ofOthers, "DEALLOCATE": ofOthers, "CALL": ofOthers, "DO": ofOthers,
	"LISTEN": ofMessages, "NOTIFY": ofMessages, "UNLISTEN": ofMessages,
	"SHUTDOWN": ofServer, "RESTART": ofServer, "KILL": ofServer, "FLUSH": ofServer, "PURGE": ofServer, "CHANGE": ofServer, "STOP": ofServer, "INSTALL": ofServer, "UNINSTALL": ofServer,
	"GRANT": ofServer, "REVOKE": ofServer, "CHECKPOINT": ofServer, "BACKUP": ofServer, "CLONE": ofServer, "XA": ofServer, "CACHE": ofServer, "BINLOG": ofServer,
	"REASSIGN": ofServer, "SECURITY": ofServer, "LIST": ofServer, "ADD": ofServer,
}

// objects are what CREATE, ALTER and DROP may be about; true: it is more than a table and what
// belongs to it.
var objects = map[string]bool{
	"TABLE": false, "INDEX": false, "VIEW": false, "SEQUENCE": false, "TRIGGER": false, "FUNCTION": false, "PROCEDURE": false, "TYPE": false, "AGGREGATE": false, "MATERIALIZED": false,
	"DATABASE": true, "SCHEMA": true, "KEYSPACE": true, "USER": true, "ROLE": true, "GROUP": true, "TABLESPACE": true, "SERVER": true, "EXTENSION": true, "SUBSCRIPTION": true,
	"PUBLICATION": true, "SYSTEM": true, "EVENT": true, "LOGFILE": true, "LANGUAGE": true, "FOREIGN": true, "INSTANCE": true, "RESOURCE": true, "OWNED": true, "DEFAULT": true, "UNDO": true,
}

// Mean says what a recorded statement means to its store.
func Mean(h *capture.Header) func(*capture.Call) capture.Meaning {
	d := DialectOf(h.Store)
	return func(c *capture.Call) (m capture.Meaning) {
		if len(c.Args) < 2 || c.Args[1].Kind != capture.Text {
			return capture.Meaning{LeftOut: ofStranger} // no recorder writes it
		}
		m.Form = formOf(c.Args[1].Text)
		parts := partsOf(d, c.Args[1].Text)
		for _, p := range parts {
			if m.LeftOut == "" {
				m.LeftOut = p.apart(d)
			}
		}
		if m.LeftOut == "" || m.LeftOut == ofTables {
			if d != CQL && reaches(d, parts, c.Args[2:]) {
				m.LeftOut = ofElsewhere
			}
		}
		return m
	}
}

// NotAgain says why no statement of a kind of store, as headers of captures name it, can be made
// again; empty: they can.
func NotAgain(store string) string {
	if store != cassandraStore {
		return ""
	}
	return "what Cassandra was asked cannot be made again: its full query log says neither in which keyspace a statement was made nor on which connection"
}

// MakesTables reports whether a statement is left out because it makes or changes tables, which a
// replay may be told to do nevertheless.
func MakesTables(leftOut string) bool { return leftOut == ofTables }

// DialectOf returns the dialect of a kind of store, as headers of captures name it.
func DialectOf(store string) Dialect {
	switch store {
	case mysqlStore:
		return MySQL
	case cassandraStore:
		return CQL
	}
	return Postgres
}

// Stores, as headers of captures name them.
const (
	postgresStore  = "postgres"
	mysqlStore     = "mysql"
	cassandraStore = "cassandra"
)

// apart says why a replay leaves a statement out; empty: it does not.
func (p part) apart(d Dialect) string {
	verb := p.verb()
	why, ok := verbs[verb]
	second := ""
	if len(p) > 1 {
		second = p[1]
	}
	switch {
	case !ok:
		return ofStranger
	case verb == "SET" && second == "TRANSACTION":
		return ""
	case verb == "SET" && p.has(func(w string) bool { return w == "GLOBAL" || w == "PERSIST" || w == "PERSIST_ONLY" }),
		verb == "START" && second != "TRANSACTION", verb == "LOCK" && second == "INSTANCE",
		why == "" && p.has(func(w string) bool { return w == "PREPARED" }):
		return ofServer
	case verb == "SELECT" && p.has(func(w string) bool { return w == "OUTFILE" || w == "DUMPFILE" || w == "LOAD_FILE" }):
		return ofFiles
	case verb == "SELECT" && d == Postgres && p.selectsInto():
		return ofTables
	case why == ofTables && p.wider():
		return ofServer
	case why == "" && p.ofServer(d):
		return ofServer
	}
	return why
}

// wider reports whether a statement about objects is about more than a table.
func (p part) wider() bool {
	for _, w := range p[1:] {
		if wider, ok := objects[w]; ok {
			return wider
		}
	}
	return false
}

// selectsInto reports whether a SELECT makes a table.
func (p part) selectsInto() bool {
	depth := 0
	for i, w := range p {
		switch {
		case w == "(":
			depth++
		case w == ")":
			depth--
		case w == "INTO" && depth == 0 && (i == 0 || p[i-1] != "INSERT" && p[i-1] != "MERGE"):
			return true
		}
	}
	return false
}

// harmless are functions of PostgreSQL's whose names begin as those do that are about the server.
var harmless = words("PG_SLEEP PG_TYPEOF PG_COLUMN_SIZE")

// locks are functions of MySQL's about locks that are of the whole server.
var locks = words("GET_LOCK RELEASE_LOCK RELEASE_ALL_LOCKS IS_FREE_LOCK IS_USED_LOCK MASTER_POS_WAIT WAIT_FOR_EXECUTED_GTID_SET")

// ofServer reports whether a statement names the server's own tables or functions.
func (p part) ofServer(d Dialect) bool {
	for i, w := range p {
		named := i+1 < len(p) && p[i+1] == "."
		name := strings.ToUpper(strings.Trim(w, "\"`"))
		switch {
		case name == "INFORMATION_SCHEMA" || name == "PERFORMANCE_SCHEMA" || (name == "MYSQL" || name == "SYS") && d == MySQL:
			if named {
				return true
			}
		case d == MySQL && locks[w]:
			return true
		case d == Postgres && (strings.HasPrefix(name, "PG_") || strings.HasPrefix(name, "LO_") || name == "SET_CONFIG" || strings.HasSuffix(name, "_TO_XML") || strings.HasSuffix(name, "_TO_XMLSCHEMA") || name == "TS_STAT" || strings.HasPrefix(name, "DBLINK")):
			if !harmless[name] {
				return true
			}
		case d == CQL && named && (name == "SYSTEM" || strings.HasPrefix(name, "SYSTEM_")):
			return true
		}
	}
	return false
}
