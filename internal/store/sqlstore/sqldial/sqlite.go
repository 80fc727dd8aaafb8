package sqldial

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite", without cgo

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// sqliteDefaults are the settings of a connection unless the target has others.
// Transactions take the write lock at once: one that began as a reader and then wants
// to write could not wait for its turn.
var sqliteDefaults = []struct{ param, key, value string }{
	{"busy_timeout", "_busy_timeout", "5000"},
	{"journal_mode", "_journal_mode", "WAL"},
	{"synchronous", "_synchronous", "NORMAL"},
	{"foreign_keys", "_foreign_keys", "1"},
	{"txlock", "_txlock", "immediate"},
}

// SQLiteParams are the parameters of sqlite: targets. Those with a leading underscore
// are the Go driver's.
var SQLiteParams = []string{"busy_timeout", "journal_mode", "synchronous", "foreign_keys", "txlock", "mode", "cache", "immutable", "_pragma", "_time_format"}

// SQLite returns what the driver opens, and a folder to be deleted with the connection
// if the target names no file.
func SQLite(t store.Target) (dsn, path, scratch string, err error) {
	if t.User != "" || t.Password != "" {
		return "", "", "", fault.Input(fmt.Errorf("sqlite: a file has neither user nor password"), "for example sqlite:perfbench.db")
	}
	path = t.Path
	if path == "" {
		if scratch, err = os.MkdirTemp("", "perfbench-sqlite-"); err != nil {
			return "", "", "", fault.Code(fmt.Errorf("sqlite: make a temporary file: %w", err), fault.CodeOther)
		}
		path = filepath.Join(scratch, "perfbench.db")
	}
	q := url.Values{}
	for _, d := range sqliteDefaults {
		v := d.value
		if t.Params.Has(d.param) {
			v = t.Params.Get(d.param)
		}
		q.Set(d.key, v)
	}
	for _, name := range []string{"mode", "cache", "immutable", "_pragma", "_time_format"} {
		if t.Params.Has(name) {
			q.Set(name, t.Params.Get(name))
		}
	}
	if t.Params.Get("mode") == "ro" && !t.Params.Has("journal_mode") {
		q.Del("_journal_mode") // a read-only user cannot change it
	}
	return "file:" + escape(path) + "?" + q.Encode(), path, scratch, nil
}

// escape escapes a path or value so that nothing in it has a special meaning in a URI.
func escape(s string) string {
	return strings.ReplaceAll(url.PathEscape(s), "%2F", "/")
}
