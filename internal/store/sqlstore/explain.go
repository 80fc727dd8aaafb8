package sqlstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqldial"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// server is what a target names: its dialect, whom we log in as, and the database that is
// in use; it says why it cannot be used.
type server struct {
	d        *dialect
	target   store.Target
	network  *sqldial.Network // nil for SQLite
	database atomic.Pointer[string]
}

// name returns the current database, or the file of SQLite; "" if none is selected yet.
func (v *server) name() string { return *v.database.Load() }

// where returns the server or file as the target names it.
func (v *server) where() string {
	if v.d.Dialect == sqltext.SQLite {
		return v.name()
	}
	return strings.Join(v.target.Hosts, ",")
}

// user returns the user we log in as.
func (v *server) user() string {
	switch {
	case v.target.User != "":
		return v.target.User
	case v.d.Dialect == sqltext.MySQL:
		return "root"
	}
	return "postgres"
}

// explain says in one sentence why the store cannot be used, and what to do.
func (v *server) explain(ctx context.Context, err error) error {
	t := store.Trouble{Driver: string(v.d.Dialect), Where: v.where(), Err: v.target.Scrub(err)}
	if err := t.Cancelled(ctx); err != nil {
		return fault.Store(err, "")
	}
	if f := fault.CodeOf(err); f != fault.CodeOK && f != fault.CodeOther {
		return err // it has been explained already
	}
	for _, say := range []func(error) (string, string){sayTLS, v.sayMySQL, v.sayPostgres, v.saySQLite, v.sayNetwork} {
		if what, hint := say(t.Err); what != "" {
			return t.Say(what, hint)
		}
	}
	return t.Unknown(v.isItRunning())
}

// refusal is explain for writes that were refused; nil stays nil.
func (v *server) refusal(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return v.explain(ctx, err)
}

func (v *server) isItRunning() string {
	switch v.d.Dialect {
	case sqltext.MySQL:
		return "is the server running? try  mariadb-admin ping,  or  perfbench lab up mariadb  for one of your own"
	case sqltext.Postgres:
		return "is the server running? try  pg_isready,  or  perfbench lab up postgres  for one of your own"
	}
	return ""
}

// sayTLS explains a failed TLS handshake.
func sayTLS(err error) (what, hint string) {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, mysql.ErrNoTLS) || strings.Contains(err.Error(), "server refused TLS connection") {
		return "the server does not speak TLS", "leave out tls=1, or turn TLS on in the server"
	}
	return store.SayTLS(err)
}

// sayMySQL explains what a MariaDB or MySQL answered.
func (v *server) sayMySQL(err error) (what, hint string) {
	my, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return "", ""
	}
	switch my.Number {
	case 1045, 1698:
		hint := "check user and password; a % or @ in them is written %25 or %40 in a URL"
		if v.target.Password == "" {
			hint = store.PasswordHint + "; the server may also want TLS of this user: tls=1"
		}
		return fmt.Sprintf("the user %q does not exist, may not log in from here, or has another password", v.user()), hint
	case 1130:
		return "the server takes no connections from this host", "create a user for it: CREATE USER 'name'@'host'"
	case 1049:
		return v.noDatabase()
	case 3159:
		return "the server takes TLS connections only", "add tls=1"
	}
	return v.sayClass(err, my.Message)
}

// sayPostgres explains what a PostgreSQL answered.
func (v *server) sayPostgres(err error) (what, hint string) {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return "", ""
	}
	switch {
	case strings.Contains(pg.Message, "no encryption") || strings.Contains(pg.Message, "SSL off"):
		return "the server takes no connections without TLS from here, or none at all for this user and database", "add tls=1, or see its pg_hba.conf"
	case strings.Contains(pg.Message, "no pg_hba.conf entry"):
		return "the server takes no connections from here for this user and database", "see its pg_hba.conf"
	case strings.Contains(pg.Message, "requires a valid client certificate"):
		return "the server wants a client certificate", "give cert=FILE and key=FILE"
	case strings.HasPrefix(pg.Code, "28"):
		hint := "check user and password; a % or @ in them is written %25 or %40 in a URL"
		if v.target.Password == "" {
			hint = store.PasswordHint
		}
		return fmt.Sprintf("the user %q does not exist, may not log in, or has another password", v.user()), hint
	case pg.Code == "3D000" && v.target.Path == "" && v.name() == "":
		return "the server has no database " + sqldial.Maintenance + " to connect to", "name a database in the target"
	case pg.Code == "3D000":
		return v.noDatabase()
	case pg.Code == "57P03":
		return "the server is still starting, or stopping", "wait until  pg_isready  says so"
	}
	return v.sayClass(err, pg.Message)
}

func (v *server) noDatabase() (what, hint string) {
	return fmt.Sprintf("there is no database %q", v.name()),
		"create it:  CREATE DATABASE " + v.name() + ",  or name none: then perfbench makes one named after --namespace"
}

// sayClass explains an answer by its class; text is the server's own.
func (v *server) sayClass(err error, text string) (what, hint string) {
	switch Classify(err) {
	case store.Overloaded:
		return "the server has no connection left for us: " + text, "raise its max_connections, or lower connections="
	case store.Refused:
		return fmt.Sprintf("the user %q may not do this: %s", v.user(), text),
			"grant the user what is missing, in a database of its own: it makes, fills and drops tables"
	case store.ReadOnly:
		return "the server is read-only: " + text, "use the server that takes writes; this one may be a replica"
	case store.OutOfMemory:
		return "the server's disk or memory is full: " + text, "make room, or choose smaller payloads"
	case store.WrongType:
		return "a table has other columns than ours: " + text, "use another --namespace"
	}
	return "the server answered: " + text, ""
}

// saySQLite explains what SQLite answered.
func (v *server) saySQLite(err error) (what, hint string) {
	lite, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return "", ""
	}
	switch lite.Code() & 0xff {
	case 14:
		if fault.OutOfFiles() {
			return "the file cannot be opened: " + fault.ErrFiles.Error(), ""
		}
		return "the file cannot be opened or made", "does its folder exist, and may you write there?"
	case 26:
		return "the file is not an SQLite database", "choose another path"
	case 8:
		return "the file can only be read", "leave out mode=ro, and make sure that you may write to the file and its folder"
	case 5, 6:
		return "another process has the file locked", "end it, or give it longer with busy_timeout=MILLISECONDS"
	case 13:
		return "the disk is full", "make room, or choose another path"
	}
	return lite.Error(), ""
}

// sayNetwork explains why there is no connection, or none to such a server.
func (v *server) sayNetwork(err error) (what, hint string) {
	if errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, context.DeadlineExceeded) {
		if last := v.network.LastError(); last != nil {
			err = last
		}
	}
	_, closed := errors.AsType[net.Error](err)
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("the host name %q cannot be resolved", e.Name), "check its spelling, or give an address"
	}
	switch text := err.Error(); {
	case v.network.Short(): // whatever error the driver makes of it
		return "a connection cannot be opened: " + fault.ErrFiles.Error(), ""
	case Classify(err) == store.ReadOnly:
		return "none of the hosts takes writes", "name the primary, too"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused", v.isItRunning()
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to the host", "is it reachable from here?"
	case Classify(err) == store.Timeout:
		return "no answer in time", "is it the right host and port, is it " + v.d.title + " that listens there, and no firewall between? dial_timeout= gives it longer"
	case errors.Is(err, mysql.ErrMalformPkt), errors.Is(err, mysql.ErrPktSync), errors.Is(err, mysql.ErrPktSyncMul),
		errors.Is(err, mysql.ErrOldProtocol), strings.Contains(text, "unknown message type"), strings.Contains(text, "invalid message"),
		strings.Contains(text, "unexpected message"), strings.Contains(text, "unsupported protocol version"), strings.Contains(text, "busy buffer"):
		return "the server there does not speak the protocol of " + v.d.title, "is this the right port?"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, syscall.ECONNRESET), closed:
		return "the connection was closed at once", "is it " + v.d.title + " that listens there? does it want TLS? then add tls=1"
	}
	return "", ""
}

func refused(err error) bool { return Classify(err) == store.Refused }
