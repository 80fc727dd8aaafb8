package lab

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/perfbench/perfbench/internal/fault"
)

func postgresStandbyService() Service {
	one := postgresService()
	return Service{
		Name:    "postgres-standby",
		Summary: "a PostgreSQL primary and its standby, which takes over if the primary ends",
		Needs:   append(one.Needs, Need{Binary: "pg_basebackup", Package: "postgresql-client", Dirs: postgresDirs}),
		start:   startPostgresStandby,
		find:    findByRecord,
		look:    lookPostgres,
		takeover: &takeover{
			promote: promotePostgres,
			rejoin:  rejoinPostgres,
		},
		answers:  postgresAnswers,
		settings: postgresStandbySettings(),
		lock:     one.lock,
	}
}

// postgresStandbySettings are those of a server, and those of replication. With a standby,
// synchronous_commit says how long a commit waits for it, so that one is waited for.
func postgresStandbySettings() map[string][]string {
	all := postgresSettings()
	all["synchronous_commit"] = append(all["synchronous_commit"], "--synchronous_standby_names", "*")
	all["synchronous_standby_names"] = nil
	return all
}

func startPostgresStandby(ctx context.Context, h *host) error {
	ports, err := h.freePorts(len(pairNames), 0)
	if err != nil {
		return err
	}
	above, as, err := h.away("postgres", "nobody")
	if err != nil {
		return err
	}
	if above == "" {
		above = h.Dir
	}
	var dirs []string
	for _, name := range pairNames {
		dir := filepath.Join(above, name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), own(dir, as)); err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	// What a standby misses for a while is kept for it. A promotion waits as long as the standby does until
	// it asks a primary that has ended once more, by default five seconds.
	if err := makePostgres(ctx, h, dirs[0], filepath.Join(dirs[0], "data"), as, ports[0], "wal_keep_size = 1GB", "wal_retrieve_retry_interval = 200ms"); err != nil {
		return err
	}
	node := func(i int) spec {
		return spec{
			Name: pairNames[i], Addr: Addr(ports[i]), Dir: dirs[i], User: as, Stop: "INT",
			// The data, and so the configuration, are a copy of the other's.
			Command: []string{"postgres", "-D", filepath.Join(dirs[i], "data"), "-c", "port=" + strconv.Itoa(ports[i])},
		}
	}
	primary, err := h.spawn(ctx, node(0))
	if err != nil {
		return err
	}
	h.rec.Primary = primary.Name
	if err := h.ready(ctx, primary); err != nil {
		return err
	}
	if err := setUpPostgres(ctx, h, primary); err != nil {
		return err
	}
	standby := node(1)
	if err := copyPostgres(ctx, h, Process{Name: standby.Name, Dir: standby.Dir, User: as}, primary); err != nil {
		return err
	}
	p, err := h.spawn(ctx, standby)
	if err != nil {
		return err
	}
	if err := h.ready(ctx, p); err != nil {
		return err
	}
	h.rec.URL = h.pairURL("postgres")
	return h.follows(ctx, p, func(ctx context.Context) error { return streams(ctx, h, p, primary) })
}

// copyPostgres makes the data of a standby from those of its primary.
func copyPostgres(ctx context.Context, h *host, p, primary Process) error {
	h.step("copying the data of %s", primary.Name)
	data := filepath.Join(p.Dir, "data")
	if err := os.RemoveAll(data); err != nil {
		return err
	}
	return h.once(ctx, p.Dir, p.User, "pg_basebackup", "-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync",
		"-d", "host=127.0.0.1 port="+portOf(primary)+" user="+sqlUser+" application_name="+p.Name)
}

// streams returns nil if a standby receives what its primary writes.
func streams(ctx context.Context, h *host, p, primary Process) error {
	return onPostgres(h, primary, func(db *sql.DB) error {
		var state string
		err := db.QueryRowContext(ctx, "SELECT state FROM pg_stat_replication WHERE application_name = $1", p.Name).Scan(&state)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%s is not connected to the primary", p.Name)
		}
		if err == nil && state != "streaming" {
			err = fmt.Errorf("%s is in state %s", p.Name, state)
		}
		return err
	})
}

// promotePostgres makes a standby the primary, which waits for no standby until there is one.
func promotePostgres(ctx context.Context, h *host, p *Process) error {
	return onPostgres(h, *p, func(db *sql.DB) error {
		for _, q := range []string{"ALTER SYSTEM SET synchronous_standby_names = ''", "SELECT pg_reload_conf()"} {
			if _, err := db.ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
		var done bool
		if err := db.QueryRowContext(ctx, "SELECT pg_promote(true, 60)").Scan(&done); err != nil {
			return err
		}
		if !done {
			return errors.New("it is still a standby after a minute")
		}
		return nil
	})
}

// rejoinPostgres implements takeover.rejoin.
func rejoinPostgres(ctx context.Context, h *host, p *Process, primary Process) error {
	if _, err := os.Stat(filepath.Join(p.Dir, "data", "standby.signal")); errors.Is(err, os.ErrNotExist) {
		if err := copyPostgres(ctx, h, *p, primary); err != nil {
			return err
		}
	}
	if err := h.relaunch(ctx, p); err != nil {
		return err
	}
	if err := h.follows(ctx, *p, func(ctx context.Context) error { return streams(ctx, h, *p, primary) }); err != nil {
		return fault.Hint(err, "perfbench lab down "+h.service.Name+", then up again")
	}
	return onPostgres(h, primary, func(db *sql.DB) error { // as configured again
		for _, q := range []string{"ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"} {
			if _, err := db.ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
		return nil
	})
}

// lookPostgres implements Service.look.
func lookPostgres(ctx context.Context, h *host) error {
	primary := h.rec.process(h.rec.Primary)
	if primary == nil || !IsAlive(*primary) || Stopped(*primary) {
		return ErrNotRunning
	}
	return onPostgres(h, *primary, func(db *sql.DB) error {
		primary.Role = Primary
		for _, p := range h.rec.replicas() {
			var behind int64
			var sync string
			err := db.QueryRowContext(ctx, `SELECT GREATEST(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint, sync_state
				FROM pg_stat_replication WHERE application_name = $1`, p.Name).Scan(&behind, &sync)
			if err != nil {
				return err
			}
			p.Role, p.Behind = Replica, behindBytes(behind)
			if sync == "async" {
				p.Behind += ", asynchronous"
			} else {
				p.Behind += ", synchronous"
			}
		}
		return nil
	})
}
