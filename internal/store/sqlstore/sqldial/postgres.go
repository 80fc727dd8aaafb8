package sqldial

import (
	"cmp"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Maintenance is the database that every PostgreSQL server has.
const Maintenance = "postgres"

// postgresSession are settings of the server that a session may change.
var postgresSession = []string{
	"application_name", "search_path", "timezone", "statement_timeout", "lock_timeout",
	"idle_in_transaction_session_timeout", "synchronous_commit", "work_mem", "options",
}

// PostgresParams are the parameters of postgres: targets in addition to the common
// ones. The last three are the Go driver's.
var PostgresParams = slices.Concat(postgresSession, []string{
	attributes, "sslmode", "default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity",
})

// attributes names what a connection must be able to do, and so which of several hosts it is to.
const attributes = "target_session_attrs"

// readWrite is the usual value where there are several hosts: loads write.
const readWrite = "read-write"

// checks are the values of attributes, with what is asked of a server.
var checks = map[string]pgconn.ValidateConnectFunc{
	"any":     nil,
	readWrite: pgconn.ValidateConnectTargetSessionAttrsReadWrite,
	"primary": pgconn.ValidateConnectTargetSessionAttrsPrimary,
}

// check returns what is asked of a server before a connection to it is used; nil: nothing.
func check(t store.Target) (pgconn.ValidateConnectFunc, error) {
	want := t.Params.Get(attributes)
	if !t.Params.Has(attributes) && len(t.Hosts) > 1 {
		want = readWrite
	}
	f, ok := checks[cmp.Or(want, "any")]
	if !ok {
		all := slices.Sorted(maps.Keys(checks))
		return nil, fault.Input(fmt.Errorf("%s: %s: %q is not one of %s", t.Scheme, attributes, want, strings.Join(all, ", ")), fault.Meant(want, all))
	}
	return f, nil
}

var sslModes = []string{"disable", "require", "verify-ca", "verify-full"}

var execModes = []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"}

// sslmode translates what PostgreSQL's own URLs say about TLS into our parameters.
func sslmode(t store.Target) (store.Target, error) {
	if !t.Params.Has("sslmode") {
		return t, nil
	}
	mode := t.Params.Get("sslmode")
	if !slices.Contains(sslModes, mode) {
		return t, t.BadSSLMode(sslModes)
	}
	if t.Params.Has("tls") {
		return t, fault.Input(fmt.Errorf("%s: tls and sslmode set the same thing", t.Scheme), "give tls=1 only")
	}
	params := url.Values{}
	maps.Copy(params, t.Params)
	params.Set("tls", strconv.FormatBool(mode != "disable"))
	if t.Unchecked() != "" {
		params.Set("insecure", "1") // the meaning there: encrypted, without verifying the server
	}
	t.Params = params
	return t, nil
}

// postgresConfig translates a target. The user is postgres unless the target names one.
// Nothing is taken from the environment or the user's files.
func postgresConfig(t store.Target, n *Network) (*pgx.ConnConfig, error) {
	t, err := sslmode(t)
	if err != nil {
		return nil, err
	}
	hosts, err1 := hostsOf(t, 5432)
	encryption, err2 := store.TLSConfig(t)
	level, err3 := isolation(t)
	validate, err4 := check(t)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, fault.Code(err, fault.CodeInput)
	}
	q := url.Values{"sslmode": {"disable"}, "passfile": {"/nonexistent"}, "servicefile": {"/nonexistent"}}
	for _, p := range []string{"statement_cache_capacity", "description_cache_capacity"} {
		if n, err := t.Int(p, 512, 0, 1<<20); err != nil {
			return nil, err
		} else if t.Params.Has(p) {
			q.Set(p, strconv.Itoa(n))
		}
	}
	if mode := t.Params.Get("default_query_exec_mode"); mode != "" {
		if !slices.Contains(execModes, mode) {
			return nil, fault.Input(fmt.Errorf("%s: default_query_exec_mode: %q is not known", t.Scheme, mode), fault.Suggest(mode, execModes))
		}
		q.Set("default_query_exec_mode", mode)
	}
	c, err := pgx.ParseConfig("postgres://user@localhost:5432/postgres?" + q.Encode())
	if err != nil {
		return nil, fault.Input(fmt.Errorf("%s: %w", t.Scheme, err), "")
	}
	c.User, c.Password, c.Database, c.Fallbacks, c.ValidateConnect = t.User, t.Password, t.Path, nil, validate
	if c.User == "" {
		c.User = "postgres"
	}
	for i, addr := range hosts {
		f, err := place(t, addr, encryption)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			c.Fallbacks = append(c.Fallbacks, f)
			continue
		}
		c.Host, c.Port, c.TLSConfig = f.Host, f.Port, f.TLSConfig
	}
	c.ConnectTimeout, c.DialFunc = n.times.Dial, n.dial
	c.RuntimeParams = map[string]string{"application_name": "perfbench"}
	for _, p := range postgresSession {
		if t.Params.Has(p) {
			c.RuntimeParams[p] = t.Params.Get(p)
		}
	}
	if level != "" {
		c.RuntimeParams["default_transaction_isolation"] = strings.ToLower(level)
	}
	return c, nil
}

// place is one of the hosts of a target.
func place(t store.Target, addr string, encryption *tls.Config) (*pgconn.FallbackConfig, error) {
	name, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("%s: host: %w", t.Scheme, err), "")
	}
	f := &pgconn.FallbackConfig{Host: name, TLSConfig: encryption}
	if number, err := strconv.ParseUint(port, 10, 16); err == nil {
		f.Port = uint16(number)
	}
	if encryption != nil && encryption.ServerName == "" {
		f.TLSConfig = encryption.Clone()
		f.TLSConfig.ServerName = name
	}
	return f, nil
}

// Postgres returns a Connector, which uses the maintenance database until another is
// chosen.
func Postgres(t store.Target, n *Network) (*Connector, error) {
	config, err := postgresConfig(t, n)
	if err != nil {
		return nil, err
	}
	c := &Connector{}
	c.in = func(database string) (driver.Connector, error) {
		config := config.Copy()
		if c.Shared() {
			config.DefaultQueryExecMode = pgx.QueryExecModeExec
		}
		config.Database = database
		if database == "" {
			config.Database = Maintenance
		}
		return stdlib.GetConnector(*config), nil
	}
	return c, c.Use(t.Path)
}
