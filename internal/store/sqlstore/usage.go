package sqlstore

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/watch"
)

// Usage tells the processor time of a server on this machine, and the statements of
// data that it has counted: MySQL and MariaDB in their status, PostgreSQL in
// pg_stat_statements where that is there. Of a database within this process nothing
// is told.
func (c *Conn) Usage(ctx context.Context) store.Usage {
	u := store.Untold()
	switch c.d.Dialect {
	case sqltext.MySQL:
		c.mysqlUsage(ctx, &u)
	case sqltext.Postgres:
		c.postgresUsage(ctx, &u)
	}
	if u.CPU >= 0 {
		u.Here, u.Cores = true, float64(runtime.NumCPU())
	}
	return u
}

func (c *Conn) mysqlUsage(ctx context.Context, u *store.Usage) {
	const status = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select','Com_insert','Com_update','Com_delete','Bytes_received','Bytes_sent','Connections')"
	if n, err := c.counts(ctx, status); err == nil && len(n) == 7 {
		u.Kind = "statements"
		// The driver begins each connection with a SELECT of its own.
		u.Calls = n["Com_select"] + n["Com_insert"] + n["Com_update"] + n["Com_delete"] - n["Connections"]
		u.Received, u.Sent = n["Bytes_received"], n["Bytes_sent"]
	}
	var host, file string
	if c.sql.QueryRowContext(ctx, "SELECT @@hostname, @@pid_file").Scan(&host, &file) != nil {
		return
	}
	if own, err := os.Hostname(); err != nil || own != host {
		return
	}
	if !filepath.IsAbs(file) {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return
	}
	if p, ok := watch.StatOf(pid); ok && (p.Name == "mariadbd" || p.Name == "mysqld") {
		u.CPU = p.CPU
	}
}

// counts reads rows of a name and a number.
func (c *Conn) counts(ctx context.Context, query string) (map[string]int64, error) {
	rows, err := c.sql.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err tells what matters
	out := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, err
		}
		out[name] = n
	}
	return out, rows.Err()
}

func (c *Conn) postgresUsage(ctx context.Context, u *store.Usage) {
	var pid int
	var local bool
	const who = "SELECT pg_backend_pid(), COALESCE(inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', true)"
	if c.sql.QueryRowContext(ctx, who).Scan(&pid, &local) == nil && local {
		if p, ok := watch.StatOf(pid); ok && p.Name == "postgres" {
			u.CPU = watch.FamilyCPU(p.Parent)
		}
	}
	var there bool
	if c.sql.QueryRowContext(ctx, "SELECT to_regclass('pg_stat_statements') IS NOT NULL").Scan(&there) != nil || !there {
		return
	}
	var n int64
	if c.sql.QueryRowContext(ctx, "SELECT COALESCE(SUM(calls), 0)::bigint FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"+
		" AND query ~* '^(select|insert|update|delete)' AND query NOT LIKE '%pg\\_stat\\_statements%'").Scan(&n) == nil {
		u.Kind, u.Calls = "statements", n
	}
}
