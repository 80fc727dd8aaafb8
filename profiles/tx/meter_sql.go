package tx

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// sqlMeter tells the CPU time of a database server that runs on this machine, from
// /proc; of others, and where there is no /proc, it tells nothing. A database within
// this process is part of this process.
type sqlMeter struct{ d *database }

// usage adds up the server's processes.
func (m sqlMeter) usage(ctx context.Context) usage {
	u := plainMeter{}.usage(ctx)
	m.statements(ctx, &u)
	if s := m.seconds(ctx); s >= 0 {
		u.server, u.cores = s, float64(runtime.NumCPU())
	}
	return u
}

// statements asks for the statements of data that the server has counted: of MySQL
// and MariaDB its status, of PostgreSQL pg_stat_statements where that is there.
func (m sqlMeter) statements(ctx context.Context, u *usage) {
	switch m.d.dialect {
	case sqltext.MySQL:
		counts := map[string]int64{}
		err := m.d.each(ctx, "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select','Com_insert','Com_update','Com_delete','Bytes_received','Bytes_sent','Connections')", nil,
			func(scan func(...any) error) error {
				var name string
				var n int64
				err := scan(&name, &n)
				counts[name] = n
				return err
			})
		if err == nil && len(counts) == 7 {
			u.kind, u.calls = "statements", counts["Com_select"]+counts["Com_insert"]+counts["Com_update"]+counts["Com_delete"]
			// The driver begins each connection with a SELECT of its own.
			u.calls -= counts["Connections"]
			u.received, u.sent = counts["Bytes_received"], counts["Bytes_sent"]
		}
	case sqltext.Postgres:
		var there bool
		if m.d.db.QueryRowContext(ctx, "SELECT to_regclass('pg_stat_statements') IS NOT NULL").Scan(&there) != nil || !there {
			return
		}
		var n int64
		if m.d.db.QueryRowContext(ctx, "SELECT COALESCE(SUM(calls), 0)::bigint FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"+
			" AND query ~* '^(select|insert|update|delete)' AND query NOT LIKE '%pg\\_stat\\_statements%'").Scan(&n) == nil {
			u.kind, u.calls = "statements", n
		}
	}
}

// shared says whether the server runs on this machine: else its time is not told.
func (sqlMeter) shared() bool { return true }

func (m sqlMeter) seconds(ctx context.Context) float64 {
	switch m.d.dialect {
	case sqltext.MySQL:
		var host, file string
		if m.d.db.QueryRowContext(ctx, "SELECT @@hostname, @@pid_file").Scan(&host, &file) != nil {
			return -1
		}
		if own, err := os.Hostname(); err != nil || own != host {
			return -1
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return -1
		}
		p, ok := statOf(strings.TrimSpace(string(text)))
		if !ok || p.name != "mariadbd" && p.name != "mysqld" {
			return -1
		}
		return p.seconds
	case sqltext.Postgres:
		var pid string
		var local bool
		if m.d.db.QueryRowContext(ctx, "SELECT pg_backend_pid()::text, COALESCE(inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', true)").Scan(&pid, &local) != nil || !local {
			return -1
		}
		p, ok := statOf(pid)
		if !ok || p.name != "postgres" {
			return -1
		}
		return family(p.parent)
	}
	return -1
}

// proc is a line of /proc.
type proc struct {
	name, parent string
	// seconds is CPU time, that of children which have ended included.
	seconds float64
}

// statOf reads /proc/PID/stat.
func statOf(pid string) (p proc, ok bool) {
	const ticks = 100 // a second; the kernel says so to all programs
	if _, err := strconv.Atoi(pid); err != nil {
		return p, false
	}
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return p, false
	}
	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return p, false
	}
	p.name = string(text[from+1 : to])
	f := strings.Fields(string(text[to+1:]))
	if len(f) < 15 {
		return p, false
	}
	p.parent = f[1]
	for _, v := range f[11:15] { // utime stime cutime cstime
		p.seconds += decimal(v) / ticks
	}
	return p, true
}

// family adds up a process and its children.
func family(root string) float64 {
	p, ok := statOf(root)
	if !ok {
		return -1
	}
	sum := p.seconds
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return -1
	}
	for _, n := range names {
		if c, ok := statOf(filepath.Base(n)); ok && c.parent == root {
			sum += c.seconds
		}
	}
	return sum
}
