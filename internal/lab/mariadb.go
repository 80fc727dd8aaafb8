package lab

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

var mariadbDirs = []string{"/usr/sbin", "/usr/libexec", "/usr/bin", "/opt/homebrew/bin"}

func mariadbService() Service {
	return Service{
		Name:    "mariadb",
		Summary: "one MariaDB server, user pb without a password",
		Needs: []Need{
			{Binary: "mariadbd", Package: "mariadb-server", Dirs: mariadbDirs},
			{Binary: "mariadb-install-db", Package: "mariadb-server", Dirs: mariadbDirs},
		},
		start:    startMariaDB,
		answers:  mariadbAnswers,
		single:   true,
		powered:  true,
		settings: mariadbSettings(),
	}
}

func startMariaDB(ctx context.Context, h *host) error {
	port, err := h.freePort()
	if err != nil {
		return err
	}
	dir := h.folder("mariadb")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	me, err := user.Current()
	if err != nil {
		return err
	}
	if _, err := h.dataFolder(ctx, dir, ""); err != nil {
		return err
	}
	h.step("making the system tables of MariaDB")
	if err := mariadbTables(ctx, h, dir, me.Username); err != nil {
		return err
	}
	conf, err := mariadbConf(h, dir, port, me.Username)
	if err != nil {
		return err
	}
	p, err := h.spawn(ctx, spec{
		Name:    "mariadb",
		Addr:    Addr(port),
		Command: []string{"mariadbd", "--defaults-file=" + filepath.Join(dir, "my.cnf")},
		Files:   map[string]string{"my.cnf": "[mariadbd]\n" + strings.Join(conf, "\n") + "\n"},
	})
	if err != nil {
		return err
	}
	if err := h.ready(ctx, p); err != nil {
		return err
	}
	h.rec.URL = "mysql://" + sqlUser + "@" + p.Addr + "/" + sqlDatabase + sqlTLSParams(h.rec.TLS)
	return setUpMariaDB(ctx, h, p)
}

// setUpMariaDB makes the user and the database of a server, and tells no other server of it.
func setUpMariaDB(ctx context.Context, h *host, p Process) error {
	return onMariaDB(h, p, func(db *sql.DB) error {
		for _, q := range []string{
			"SET SESSION sql_log_bin = 0",
			"CREATE DATABASE " + sqlDatabase + " CHARACTER SET utf8mb4",
			"CREATE USER '" + sqlUser + "'@'127.0.0.1'" + mariadbRequire(h),
			"GRANT ALL ON *.* TO '" + sqlUser + "'@'127.0.0.1' WITH GRANT OPTION",
		} {
			if _, err := db.ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
		return db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&h.rec.Version)
	})
}

// mariadbTables creates the system tables. When there are many other servers, the
// server used for this occasionally ends without a message; a second try from scratch
// helps.
func mariadbTables(ctx context.Context, h *host, dir, user string) error {
	data := filepath.Join(dir, "data")
	var err error
	for range 2 {
		// A separate folder for temporary tables: a starting server deletes those that
		// it finds, which in a shared folder may belong to another.
		err = h.once(ctx, dir, "", "mariadb-install-db", "--no-defaults", "--user="+user, "--tmpdir="+dir,
			"--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
		if err == nil || ctx.Err() != nil || h.opts.Disk != nil { // a mounted folder cannot be removed
			return err
		}
		if gone := os.RemoveAll(data); gone != nil {
			return errors.Join(err, gone)
		}
	}
	return err
}

// mariadbConf returns the lines of a configuration. more are above ours, and below those of the
// options.
func mariadbConf(h *host, dir string, port int, user string, more ...string) ([]string, error) {
	conf := []string{
		"user = " + cnfQuote(user),
		"datadir = " + cnfQuote(filepath.Join(dir, "data")),
		"tmpdir = " + cnfQuote(dir),
		"socket = sock", // relative to the data folder, since the length of an absolute path is limited
		"pid-file = pid",
		"bind-address = 127.0.0.1",
		fmt.Sprintf("port = %d", port),
		"skip-name-resolve",
		"max-connections = 500",
		"innodb-buffer-pool-size = 128M",
		"innodb-log-file-size = 64M",
	}
	if h.opts.Disk == nil {
		conf = append(conf, "innodb-flush-log-at-trx-commit = 2") // nobody relies on the data
	}
	if f := h.rec.TLS; f != nil {
		conf = append(conf, "ssl-ca = "+cnfQuote(f.CA), "ssl-cert = "+cnfQuote(f.Cert), "ssl-key = "+cnfQuote(f.Key),
			"require-secure-transport = ON")
	}
	extra, err := settings(h.rec.Args, cnfQuote)
	return slices.Concat(conf, more, extra), err
}

// cnfQuote quotes a value for MariaDB's configuration files.
func cnfQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// mariadbRequire returns what a user must present besides its name.
func mariadbRequire(h *host) string {
	if h.rec.TLS != nil && h.rec.TLS.ClientAuth {
		return " REQUIRE X509"
	}
	return ""
}

// sqlTLSParams returns the URL parameters of a server that accepts only TLS.
func sqlTLSParams(f *TLSFiles) string {
	if f == nil {
		return ""
	}
	q := url.Values{"tls": {"1"}, "ca": {f.CA}}
	if f.ClientAuth {
		q.Set("cert", f.ClientCert)
		q.Set("key", f.ClientKey)
	}
	return "?" + q.Encode()
}

func mariadbAnswers(ctx context.Context, h *host, p Process) error {
	return onMariaDB(h, p, func(db *sql.DB) error {
		return isOurs(ctx, db, "SELECT @@datadir", filepath.Join(p.Dir, "data"))
	})
}

// onMariaDB runs f as the server's administrator.
func onMariaDB(h *host, p Process, f func(db *sql.DB) error) error {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr = "root", "tcp", p.Addr
	c.Timeout, c.ReadTimeout, c.WriteTimeout = 2*time.Second, startLimit, startLimit
	c.Logger = &mysql.NopLogger{}
	if files := h.rec.TLS; files != nil {
		config, err := clientTLS(*files)
		if err != nil {
			return err
		}
		c.TLS = config
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	return withSQL(sql.OpenDB(connector), f)
}
