package lab

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

var postgresDirs = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"}

func postgresService() Service {
	return Service{
		Name:    "postgres",
		Summary: "one PostgreSQL server, user pb without a password",
		Needs: []Need{
			{Binary: "postgres", Package: "postgresql", Dirs: postgresDirs},
			{Binary: "initdb", Package: "postgresql", Dirs: postgresDirs},
		},
		start:    startPostgres,
		answers:  postgresAnswers,
		single:   true,
		powered:  true,
		settings: postgresSettings(),
		lock:     filepath.Join("data", "postmaster.pid"),
	}
}

func startPostgres(ctx context.Context, h *host) error {
	port, err := h.freePort()
	if err != nil {
		return err
	}
	dir, as, err := h.away("postgres", "nobody")
	if err != nil {
		return err
	}
	if dir == "" {
		dir = h.folder("postgres")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	data, err := h.dataFolder(ctx, dir, as)
	if err != nil {
		return err
	}
	if err := makePostgres(ctx, h, dir, data, as, port); err != nil {
		return err
	}
	p, err := h.spawn(ctx, spec{
		Name:    "postgres",
		Addr:    Addr(port),
		Command: []string{"postgres", "-D", data},
		Dir:     dir,
		User:    as,
		Stop:    "INT", // with the usual signal it would wait for its clients to disconnect
	})
	if err != nil {
		return err
	}
	if err := h.ready(ctx, p); err != nil {
		return err
	}
	h.rec.URL = "postgres://" + sqlUser + "@" + p.Addr + "/" + sqlDatabase + sqlTLSParams(h.rec.TLS)
	return setUpPostgres(ctx, h, p)
}

// makePostgres makes the data of a server.
func makePostgres(ctx context.Context, h *host, dir, data, as string, port int, lines ...string) error {
	h.step("making a data folder for PostgreSQL")
	if err := h.once(ctx, dir, as, "initdb", "-D", data, "-U", sqlUser, "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"); err != nil {
		return err
	}
	return configurePostgres(h, data, as, port, lines...)
}

// setUpPostgres makes the database of a server that takes writes.
func setUpPostgres(ctx context.Context, h *host, p Process) error {
	return onPostgres(h, p, func(db *sql.DB) error {
		if _, err := db.ExecContext(ctx, "CREATE DATABASE "+sqlDatabase); err != nil {
			return fmt.Errorf("create the database: %w", err)
		}
		var version string
		if err := db.QueryRowContext(ctx, "SHOW server_version").Scan(&version); err != nil {
			return err
		}
		h.rec.Version, _, _ = strings.Cut(version, " ")
		return nil
	})
}

// configurePostgres adds our settings to those written by initdb, and those for TLS. lines are
// above ours, and below those of the options.
func configurePostgres(h *host, data, as string, port int, lines ...string) error {
	conf := []string{
		"listen_addresses = '127.0.0.1'",
		fmt.Sprintf("port = %d", port),
		"unix_socket_directories = ''",
		"max_connections = 500",
		"shared_buffers = 64MB",
	}
	if h.opts.Disk == nil {
		conf = append(conf, "fsync = off") // nobody relies on the data; a killed server still has what it acknowledged
	}
	if h.opts.Brief { // its shared memory next to its data, so that a killed server leaves nothing elsewhere
		conf = append(conf, "dynamic_shared_memory_type = mmap")
	}
	if f := h.rec.TLS; f != nil {
		conf = append(conf, "ssl = on", "ssl_ca_file = 'ca.crt'", "ssl_cert_file = 'server.crt'", "ssl_key_file = 'server.key'")
		auth := ""
		if f.ClientAuth {
			auth = " clientcert=verify-ca"
		}
		if err := errors.Join(
			give(filepath.Join(data, "ca.crt"), f.CA, as), give(filepath.Join(data, "server.crt"), f.Cert, as),
			give(filepath.Join(data, "server.key"), f.Key, as),
			os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte("hostssl all all 127.0.0.1/32 trust"+auth+"\n"), 0o600),
		); err != nil {
			return err
		}
	}
	extra, err := settings(h.rec.Args, func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" })
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n" + strings.Join(slices.Concat(conf, lines, extra), "\n") + "\n")
	return errors.Join(err, f.Close())
}

// give copies a file to a place where another user of the system, but nobody else, can
// read it.
func give(to, from, as string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		return err
	}
	return own(to, as)
}

func postgresAnswers(ctx context.Context, h *host, p Process) error {
	return onPostgres(h, p, func(db *sql.DB) error {
		return isOurs(ctx, db, "SHOW data_directory", filepath.Join(p.Dir, "data"))
	})
}

// onPostgres runs f as the server's administrator.
func onPostgres(h *host, p Process, f func(db *sql.DB) error) error {
	c, err := pgx.ParseConfig("host=127.0.0.1 port=" + portOf(p) + " user=" + sqlUser + " database=postgres sslmode=disable")
	if err != nil {
		return err
	}
	c.ConnectTimeout, c.RuntimeParams = 20*time.Second, map[string]string{"synchronous_commit": "local"} // no standby need be there
	if files := h.rec.TLS; files != nil {
		if c.TLSConfig, err = clientTLS(*files); err != nil {
			return err
		}
	}
	return withSQL(stdlib.OpenDB(*c), f)
}
