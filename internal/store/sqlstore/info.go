package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// settingsOf are the queries for a product's settings; what a server does not know or
// may not tell is missing from the result.
var settingsOf = map[sqltext.Dialect]string{
	sqltext.MySQL: `SHOW VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin',
		'innodb_doublewrite', 'innodb_buffer_pool_size', 'max_connections', 'max_allowed_packet', 'read_only',
		'transaction_isolation', 'tx_isolation', 'default_storage_engine', 'wsrep_on', 'query_cache_type', 'rpl_semi_sync_master_enabled')`,
	sqltext.Postgres: `SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes',
		'shared_buffers', 'max_connections', 'default_transaction_isolation', 'wal_level', 'synchronous_standby_names', 'default_transaction_read_only')
		UNION ALL SELECT 'in_recovery', pg_is_in_recovery()::text`,
	sqltext.SQLite: `SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
		UNION ALL SELECT 'synchronous', synchronous FROM pragma_synchronous
		UNION ALL SELECT 'page_size', page_size FROM pragma_page_size
		UNION ALL SELECT 'busy_timeout_ms', timeout FROM pragma_busy_timeout`,
}

// Info asks the store for its details. It fails only if the store does not answer.
func (c *Conn) Info(ctx context.Context) (store.Info, error) {
	info := store.Info{Name: c.product, Version: c.version, Topology: "standalone", Details: map[string]string{}}
	rows, err := c.pool.db.QueryContext(ctx, settingsOf[c.server.d.Dialect])
	if err == nil {
		err = walk(rows, func(rows *sql.Rows) error {
			var name, value string
			if err := rows.Scan(&name, &value); err != nil {
				return err
			}
			info.Details[name] = value
			return nil
		})
	}
	if err != nil {
		switch Classify(err) {
		case store.Refused, store.Missing, store.Other: // it answers, but does not tell
		default:
			return store.Info{}, c.server.explain(ctx, err)
		}
	}
	// MySQL 8 and MariaDB 11 have a newer name for the same setting.
	if old, ok := info.Details["tx_isolation"]; ok {
		delete(info.Details, "tx_isolation")
		info.Details["transaction_isolation"] = old
	}
	if v, ok := info.Details["default_transaction_isolation"]; ok {
		delete(info.Details, "default_transaction_isolation")
		info.Details["transaction_isolation"] = strings.ToUpper(strings.ReplaceAll(v, " ", "-"))
	}
	info.Details["pool"] = fmt.Sprint(c.pool.size)
	switch c.server.d.Dialect {
	case sqltext.MySQL:
		aboutMySQL(&info)
	case sqltext.Postgres:
		aboutPostgres(&info)
	default:
		aboutSQLite(&info, c.pool.size)
	}
	if c.limited != "" {
		info.Warnings = append(info.Warnings, c.limited)
	}
	return info, nil
}

func warn(info *store.Info, format string, args ...any) {
	info.Warnings = append(info.Warnings, fmt.Sprintf(format, args...))
}

func aboutMySQL(info *store.Info) {
	d := info.Details
	if v := d["innodb_flush_log_at_trx_commit"]; v == "0" || v == "2" {
		warn(info, "innodb_flush_log_at_trx_commit is %s: commits do not wait for the disk, and a crash of the machine may lose the last second; compare only with servers set the same", v)
	}
	if d["log_bin"] == "ON" && d["sync_binlog"] != "1" {
		warn(info, "sync_binlog is %s: the binary log does not reach the disk with each commit", d["sync_binlog"])
	}
	if d["read_only"] != "" && d["read_only"] != "OFF" && d["read_only"] != "0" {
		warn(info, "the server is read-only (read_only is %s): it refuses the writes of ordinary users", d["read_only"])
		info.Topology = "replica"
	}
	if d["wsrep_on"] == "ON" {
		info.Topology = "galera cluster"
	}
	if v := d["default_storage_engine"]; v != "" && !strings.EqualFold(v, "InnoDB") {
		warn(info, "new tables use the engine %s, which may not support transactions", v)
	}
}

func aboutPostgres(info *store.Info) {
	d := info.Details
	if d["fsync"] == "off" {
		warn(info, "fsync is off: commits do not wait for the disk, and a crash of the machine may lose or damage data; compare only with servers set the same")
	}
	if d["synchronous_commit"] == "off" {
		warn(info, "synchronous_commit is off: a crash may lose the last commits; compare only with servers set the same")
	}
	if d["full_page_writes"] == "off" {
		warn(info, "full_page_writes is off: less is written than on a server that survives a crash of the machine")
	}
	if d["default_transaction_read_only"] == "on" {
		warn(info, "default_transaction_read_only is on: writes are refused")
	}
	if d["in_recovery"] == "true" {
		warn(info, "the server is a standby: it refuses writes")
		info.Topology = "replica"
	}
	delete(d, "in_recovery")
}

func aboutSQLite(info *store.Info, size int) {
	info.Topology = "in process"
	d := info.Details
	d["synchronous"] = map[string]string{"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}[d["synchronous"]]
	if s := d["synchronous"]; s == "OFF" || s == "NORMAL" {
		warn(info, "synchronous is %s: commits do not wait for the disk, and a crash of the machine may lose the last of them", s)
	}
	if size == 1 {
		warn(info, "SQLite has one writer at a time: all workers share one connection and wait for it; connections= gives more, which then wait for the file's lock")
	} else {
		warn(info, "SQLite has one writer at a time: writers wait for the file's lock, up to busy_timeout, and then fail as conflicts")
	}
}
