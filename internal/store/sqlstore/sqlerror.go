package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"modernc.org/sqlite"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqldial"
)

// mysqlClasses maps error numbers of MariaDB and MySQL to classes.
var mysqlClasses = map[uint16]store.Class{
	1040: store.Overloaded, 1203: store.Overloaded, 1226: store.Overloaded, 1461: store.Overloaded,
	1044: store.Refused, 1045: store.Refused, 1130: store.Refused, 1142: store.Refused, 1143: store.Refused,
	1227: store.Refused, 1370: store.Refused, 1410: store.Refused, 1698: store.Refused, 1862: store.Refused, 4151: store.Refused,
	1049: store.Missing, 1051: store.Missing, 1146: store.Missing,
	1020: store.Conflict, 1022: store.Conflict, 1062: store.Conflict, 1205: store.Conflict, 1213: store.Conflict, 1586: store.Conflict,
	1290: store.ReadOnly, 1792: store.ReadOnly, 1836: store.ReadOnly, 3100: store.ReadOnly,
	1021: store.OutOfMemory, 1037: store.OutOfMemory, 1038: store.OutOfMemory, 1041: store.OutOfMemory, 1114: store.OutOfMemory,
	1317: store.Timeout, 1969: store.Timeout, 3024: store.Timeout,
	1053: store.Unreachable, 1080: store.Unreachable, 1152: store.Unreachable, 1184: store.Unreachable, 1927: store.Unreachable,
	1054: store.WrongType, 1136: store.WrongType, 1347: store.WrongType,
}

// postgresClasses maps error codes of PostgreSQL, or their beginnings, to classes.
var postgresClasses = []struct {
	code  string
	class store.Class
}{
	{"53300", store.Overloaded},
	{"57P03", store.Overloaded},
	{"53100", store.OutOfMemory},
	{"53200", store.OutOfMemory},
	{"25006", store.ReadOnly},
	{"42501", store.Refused},
	{"28", store.Refused},
	{"42P01", store.Missing},
	{"3D000", store.Missing},
	{"3F000", store.Missing},
	{"23505", store.Conflict},
	{"40", store.Conflict},
	{"55P03", store.Conflict},
	{"57014", store.Timeout},
	{"57P", store.Unreachable},
	{"08", store.Unreachable},
	{"42703", store.WrongType},
	{"42804", store.WrongType},
	{"42809", store.WrongType},
	{"42P10", store.WrongType},
}

// Classify returns the class of an error of database/sql, of its drivers or of gorm.
func Classify(err error) store.Class {
	if err == nil {
		return store.Worked
	}
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound), errors.Is(err, sql.ErrNoRows):
		return store.Missing
	case errors.Is(err, gorm.ErrDuplicatedKey):
		return store.Conflict
	}
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok {
		if class, ok := mysqlClasses[my.Number]; ok {
			return class
		}
		return store.Other
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		for _, p := range postgresClasses {
			if strings.HasPrefix(pg.Code, p.code) {
				return p.class
			}
		}
		return store.Other
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return sqliteClass(lite)
	}
	return transportClass(err)
}

// transportClass is for errors that the server did not send.
func transportClass(err error) store.Class {
	switch {
	case errors.Is(err, context.Canceled):
		return store.Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), pgconn.Timeout(err):
		return store.Timeout
	case unreachable(err):
		return store.Unreachable
	case errors.Is(err, sqldial.ErrReadOnly), errors.Is(err, pgconn.ErrReadOnlyConnection), errors.Is(err, pgconn.ErrStandbyConnection):
		return store.ReadOnly // of several hosts, none takes writes
	}
	if n, ok := errors.AsType[net.Error](err); ok {
		if n.Timeout() {
			return store.Timeout
		}
		return store.Unreachable
	}
	return store.Other
}

// unreachable reports whether err means that a connection could not be made or broke.
func unreachable(err error) bool {
	for _, e := range []error{
		mysql.ErrInvalidConn, driver.ErrBadConn, sql.ErrConnDone, net.ErrClosed, io.EOF, io.ErrUnexpectedEOF,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	text := err.Error()
	return strings.HasSuffix(text, "sql: database is closed") || strings.HasSuffix(text, "conn closed")
}

func sqliteClass(err *sqlite.Error) store.Class {
	switch code := err.Code(); code & 0xff {
	case 5, 6: // busy, locked
		return store.Conflict
	case 19: // constraint
		if code == 1555 || code == 2067 { // primary key, unique
			return store.Conflict
		}
	case 8:
		return store.ReadOnly
	case 7, 13: // memory, full
		return store.OutOfMemory
	case 14: // cannot open
		return store.Unreachable
	case 3, 23:
		return store.Refused
	case 9: // interrupted
		return store.Canceled
	case 26: // not a database
		return store.WrongType
	case 1:
		switch text := err.Error(); {
		case strings.Contains(text, "no such table"):
			return store.Missing
		case strings.Contains(text, "no such column"), strings.Contains(text, "has no column"):
			return store.WrongType
		}
	}
	return store.Other
}

// Absent reports whether an error means that a table does not exist, which to readers
// is the same as an empty one.
func Absent(err error) bool {
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return my.Number == 1146 || my.Number == 1046 // no such table; no database chosen yet
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "42P01"
	}
	lite, ok := errors.AsType[*sqlite.Error](err)
	return ok && lite.Code() == 1 && strings.Contains(lite.Error(), "no such table")
}

// Exists reports whether an error means that somebody else has just created the same
// thing.
func Exists(err error) bool {
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return my.Number == 1007 || my.Number == 1050
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains([]string{"42P04", "42P07", "42710", "23505"}, pg.Code)
}

// TemplateBusy reports whether a database could not be created because another one was
// being created at the same time.
func TemplateBusy(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "55006"
}

// LockTimeout reports whether a statement waited too long for a lock.
func LockTimeout(err error) bool {
	my, isMy := errors.AsType[*mysql.MySQLError](err)
	pg, isPg := errors.AsType[*pgconn.PgError](err)
	return isMy && my.Number == 1205 || isPg && pg.Code == "55P03"
}
