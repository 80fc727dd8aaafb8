package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/watch"
)

// Meter reads what the server reports about itself, over a connection of its own, and knows
// what the server lacks.
type Meter struct {
	server *server
	pool   *pool
	beside beside
	// asking guards what follows: the connection for readings, which postgresReadings the
	// server lacks, and whether it has mysqlWaits or why it does not show them.
	asking sync.Mutex
	aside  *sql.DB // nil until the first reading
	lacks  [len(postgresReadings)]bool
	waits  struct {
		none    bool
		refused error
	}
}

// Usage returns the processor time of a server on this machine, and the number of
// statements on data that it has counted: MySQL and MariaDB in their status, PostgreSQL
// in pg_stat_statements if that is installed. For a database within this process
// nothing is reported.
func (mt *Meter) Usage(ctx context.Context) store.Usage {
	u := store.Untold()
	switch mt.server.d.Dialect {
	case sqltext.MySQL:
		mt.mysqlUsage(ctx, &u)
	case sqltext.Postgres:
		mt.postgresUsage(ctx, &u)
	}
	if u.CPU >= 0 {
		u.Here, u.Cores = true, float64(runtime.NumCPU())
	}
	return u
}

func (mt *Meter) mysqlUsage(ctx context.Context, u *store.Usage) {
	const status = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select','Com_insert','Com_update','Com_delete','Bytes_received','Bytes_sent','Connections','Questions')"
	if n, err := counts(ctx, mt.beside, status); err == nil && len(n) == 8 {
		u.Kind = "statements"
		// The driver begins each connection with a SELECT of its own.
		u.Calls = n["Com_select"] + n["Com_insert"] + n["Com_update"] + n["Com_delete"] - n["Connections"] - mt.beside.n.Load()
		u.Asked = n["Questions"]
		u.Received, u.Sent = n["Bytes_received"], n["Bytes_sent"]
	}
	var host, file string
	if mt.beside.QueryRowContext(ctx, "SELECT @@hostname, @@pid_file").Scan(&host, &file) != nil {
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
func counts(ctx context.Context, db beside, query string) (map[string]int64, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err reports what matters
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

func (mt *Meter) postgresUsage(ctx context.Context, u *store.Usage) {
	var pid int
	var local bool
	const who = "SELECT pg_backend_pid(), COALESCE(inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', true)"
	if mt.beside.QueryRowContext(ctx, who).Scan(&pid, &local) == nil && local {
		if p, ok := watch.StatOf(pid); ok && p.Name == "postgres" {
			u.CPU = watch.FamilyCPU(p.Parent)
		}
	}
	var there bool
	if mt.beside.QueryRowContext(ctx, "SELECT to_regclass('pg_stat_statements') IS NOT NULL").Scan(&there) != nil || !there {
		return
	}
	var n, all int64
	if mt.beside.db.QueryRowContext(ctx, "SELECT COALESCE(SUM(calls) FILTER (WHERE query ~* '^(select|insert|update|delete)' AND query NOT LIKE '%pg\\_stat\\_statements%'), 0)::bigint, COALESCE(SUM(calls), 0)::bigint"+
		" FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&n, &all) == nil {
		u.Kind, u.Calls, u.Asked = "statements", n-mt.beside.n.Load(), all
	}
}

// reading maps a server's number, by its name there, to our name.
type reading struct {
	name, as string
	sum      bool
}

// mysqlReadings are from SHOW GLOBAL STATUS; some servers lack some of them.
var mysqlReadings = []reading{
	{"Uptime", store.Uptime, false},
	{threadsConnected, "clients", false},
	{"Threads_running", "running_threads", false},
	{"Questions", "statements_per_s", true},
	{"Com_commit", "commits_per_s", true},
	{"Com_rollback", "rollbacks_per_s", true},
	{"Bytes_received", "net_in_bytes_per_s", true},
	{"Bytes_sent", "net_out_bytes_per_s", true},
	{"Innodb_row_lock_current_waits", "lock_waiters", false},
	{"Innodb_row_lock_waits", "lock_waits_per_s", true},
	{"Innodb_row_lock_time", "lock_wait_ms_per_s", true},
	{"Innodb_deadlocks", "deadlocks_per_s", true},
	{"Innodb_buffer_pool_bytes_dirty", "dirty_bytes", false},
	{"Innodb_buffer_pool_reads", "disk_reads_per_s", true},
	{"Innodb_buffer_pool_wait_free", "waits_for_memory_per_s", true},
	{"Innodb_checkpoint_age", "checkpoint_age_bytes", false},
	{"Innodb_os_log_written", "log_bytes_per_s", true},
	{"Innodb_log_waits", "log_waits_per_s", true},
	{"Innodb_data_fsyncs", "syncs_per_s", true},
	{"Innodb_data_written", "written_bytes_per_s", true},
}

// mysqlWaits are events of the performance schema.
var mysqlWaits = []reading{
	{"wait/io/file/innodb/innodb_log_file", "log_file_ms_per_s", true},
	{"wait/io/file/innodb/innodb_data_file", "data_file_ms_per_s", true},
	{"wait/io/file/sql/binlog", "binlog_ms_per_s", true},
	{"wait/io/table/sql/handler", "table_access_ms_per_s", true},
	{"wait/lock/table/sql/handler", "table_lock_wait_ms_per_s", true},
	{"wait/lock/metadata/sql/mdl", "metadata_lock_wait_ms_per_s", true},
}

// postgresReadings are queries, each for one row whose columns are the readings. Not
// every server has all of these views, or shows all of them to every user. A comment
// distinguishes them from the statements of the application.
var postgresReadings = [...]struct {
	rest     string
	readings []reading
}{
	{"pg_stat_database WHERE datname = current_database()", []reading{
		{"numbackends", "clients", false},
		{"xact_commit", "commits_per_s", true},
		{"xact_rollback", "rollbacks_per_s", true},
		{"blks_hit", "buffer_hits_per_s", true},
		{"blks_read", "disk_reads_per_s", true},
		{"deadlocks", "deadlocks_per_s", true},
		{"temp_bytes", "temporary_bytes_per_s", true},
	}},
	{"pg_postmaster_start_time() AS began", []reading{
		{"extract(epoch FROM clock_timestamp() - began)", store.Uptime, false},
	}},
	{"pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()", []reading{
		{"count(*) FILTER (WHERE state = 'active')", "running", false},
		{"count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'Lock')", "lock_waiters", false},
		{"count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'LWLock')", "latch_waiters", false},
		{"count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'IO')", "disk_waiters", false},
		{"count(*) FILTER (WHERE state = 'active' AND lower(wait_event) IN ('walsync', 'walwrite', 'walwritelock'))", "log_sync_waiters", false},
	}},
	{"pg_stat_wal", []reading{
		{"wal_bytes", "wal_bytes_per_s", true},
		{"wal_buffers_full", "wal_buffers_full_per_s", true},
	}},
	{"pg_stat_wal", []reading{ // up to 17; times need track_wal_io_timing
		{"wal_sync", "wal_syncs_per_s", true},
		{"wal_write_time", "wal_write_ms_per_s", true},
		{"wal_sync_time", "wal_sync_ms_per_s", true},
	}},
	{"pg_stat_io WHERE object = 'wal'", []reading{ // since 18
		{"sum(fsyncs)", "wal_syncs_per_s", true},
		{"sum(write_time)", "wal_write_ms_per_s", true},
		{"sum(fsync_time)", "wal_sync_ms_per_s", true},
	}},
	{"pg_stat_checkpointer", []reading{ // since 17
		{"num_timed + num_requested", "checkpoints_per_s", true},
		{"buffers_written", "checkpoint_buffers_per_s", true},
		{"write_time", "checkpoint_write_ms_per_s", true},
		{"sync_time", "checkpoint_sync_ms_per_s", true},
	}},
	{"pg_stat_bgwriter", []reading{ // before 17
		{"checkpoints_timed + checkpoints_req", "checkpoints_per_s", true},
		{"buffers_checkpoint", "checkpoint_buffers_per_s", true},
		{"checkpoint_write_time", "checkpoint_write_ms_per_s", true},
		{"checkpoint_sync_time", "checkpoint_sync_ms_per_s", true},
	}},
}

// passing are the classes of errors that do not mean that the server lacks something.
var passing = []store.Class{store.Unreachable, store.Timeout, store.Canceled, store.Overloaded}

// Readings returns what the server reports about itself, over a connection of its own,
// since those of the pool are for the work. For a database within this process there is
// nothing.
func (mt *Meter) Readings(ctx context.Context) ([]store.Reading, error) {
	if mt.pool.connector == nil {
		return nil, errors.New("it is within perfbench")
	}
	mt.asking.Lock()
	defer mt.asking.Unlock()
	if mt.aside == nil {
		mt.aside = sql.OpenDB(mt.pool.connector)
		mt.aside.SetMaxOpenConns(1)
	}
	if mt.server.d.Dialect == sqltext.MySQL {
		return mt.mysqlReadings(ctx)
	}
	return mt.postgresReadings(ctx)
}

// close closes the connection used for readings.
func (mt *Meter) close() error {
	mt.asking.Lock()
	defer mt.asking.Unlock()
	if mt.aside == nil {
		return nil
	}
	return mt.aside.Close()
}

func (mt *Meter) mysqlReadings(ctx context.Context) (out []store.Reading, err error) {
	aside := beside{mt.aside, mt.beside.n}
	names := make([]string, len(mysqlReadings))
	for i, r := range mysqlReadings {
		names[i] = r.name
	}
	n, err := counts(ctx, aside, "SHOW GLOBAL STATUS WHERE Variable_name IN ('"+strings.Join(names, "','")+"')")
	if err != nil {
		return nil, fmt.Errorf("read its status: %w", err)
	}
	for _, r := range mysqlReadings {
		if v, ok := n[r.name]; ok {
			out = append(out, store.Reading{Name: r.as, Value: float64(v), Sum: r.sum})
		}
	}
	var committing float64
	if err = aside.QueryRowContext(ctx, mysqlCommitting).Scan(&committing); err != nil { // not every user may see it
		err = fmt.Errorf("read its process list: %w", err)
	} else {
		out = append(out, store.Reading{Name: "committing_threads", Value: committing})
	}
	waits, refused := mt.mysqlWaits(ctx, aside)
	return append(out, waits...), errors.Join(err, refused)
}

// mysqlWaits reads the performance schema, which is on by default in MySQL and optional
// in MariaDB: milliseconds that all threads have waited for something.
func (mt *Meter) mysqlWaits(ctx context.Context, aside beside) (out []store.Reading, err error) {
	if mt.waits.none || mt.waits.refused != nil {
		return nil, mt.waits.refused
	}
	names := make([]string, len(mysqlWaits))
	for i, r := range mysqlWaits {
		names[i] = r.name
	}
	n, err := counts(ctx, aside, "SELECT event_name, sum_timer_wait DIV 1000000 FROM performance_schema.events_waits_summary_global_by_event_name"+
		" WHERE event_name IN ('"+strings.Join(names, "','")+"')")
	switch class := Classify(err); {
	case err == nil:
		mt.waits.none = len(n) == 0 // it is switched off
	case class == store.Refused:
		mt.waits.refused = fmt.Errorf("read its performance schema: %w", err)
	case !slices.Contains(passing, class):
		mt.waits.none = true
	}
	for _, r := range mysqlWaits {
		if v, ok := n[r.name]; ok {
			out = append(out, store.Reading{Name: r.as, Value: float64(v) / 1000, Sum: r.sum})
		}
	}
	return out, mt.waits.refused
}

// mysqlCommitting counts the connections visible to us that are committing.
const mysqlCommitting = "SELECT COUNT(*) FROM information_schema.processlist WHERE state IN ('Commit','Commit_implicit','committing','waiting for handler commit')"

func (mt *Meter) postgresReadings(ctx context.Context) (out []store.Reading, err error) {
	var first error
	for i, q := range postgresReadings {
		if mt.lacks[i] {
			continue
		}
		columns := make([]string, len(q.readings))
		values, into := make([]sql.NullFloat64, len(columns)), make([]any, len(columns))
		for k, r := range q.readings {
			columns[k], into[k] = "("+r.name+")::float8", &values[k]
		}
		if err := mt.aside.QueryRowContext(ctx, "/* perfbench */ SELECT "+strings.Join(columns, ", ")+" FROM "+q.rest).Scan(into...); err != nil {
			if slices.Contains(passing, Classify(err)) {
				return nil, err
			}
			first = cmp.Or(first, err)
			mt.lacks[i] = true
			continue
		}
		for k, r := range q.readings {
			if values[k].Valid {
				out = append(out, store.Reading{Name: r.as, Value: values[k].Float64, Sum: r.sum})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("read its statistics: %w", first)
	}
	return out, nil
}
