package sqldial

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// mysqlSwitches are the Go driver's parameters that are on or off.
var mysqlSwitches = []string{
	"allowCleartextPasswords", "allowFallbackToPlaintext", "allowNativePasswords", "allowOldPasswords",
	"checkConnLiveness", "clientFoundRows", "compress", "interpolateParams", "multiStatements",
	"parseTime", "rejectReadOnly",
}

// mysqlSession are variables of the server that a session may set.
var mysqlSession = []string{
	"sql_mode", "time_zone", "innodb_lock_wait_timeout", "lock_wait_timeout", "max_statement_time",
	"max_execution_time", "wait_timeout", "unique_checks", "foreign_key_checks",
}

// MySQLParams are the parameters of mysql: targets in addition to the common ones.
var MySQLParams = slices.Concat(mysqlSwitches, mysqlSession, []string{"charset", "collation", "loc", "serverPubKey", "connectionAttributes"})

// hostsOf returns the hosts of a target with their ports.
func hostsOf(t store.Target, port int) ([]string, error) {
	if len(t.Hosts) == 0 {
		return nil, fault.Input(fmt.Errorf("%s: no host", t.Scheme), "for example "+t.Scheme+"://localhost")
	}
	out := make([]string, len(t.Hosts))
	for i, h := range t.Hosts {
		out[i] = store.HostPort(h, port)
	}
	return out, nil
}

// isolation returns the level named by isolation= in SQL form, or "".
func isolation(t store.Target) (string, error) {
	if !t.Params.Has("isolation") {
		return "", nil
	}
	levels := []string{"read-uncommitted", "read-committed", "repeatable-read", "serializable"}
	got := strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(t.Params.Get("isolation")))
	if !slices.Contains(levels, got) {
		return "", fault.Input(fmt.Errorf("%s: isolation: %q is not an isolation level", t.Scheme, t.Params.Get("isolation")), fault.Suggest(got, levels))
	}
	return strings.ToUpper(strings.ReplaceAll(got, "-", " ")), nil
}

// mysqlConfig translates a target, of whose hosts it takes the first. The user is root unless the
// target names one.
func mysqlConfig(t store.Target, n *Network) (*mysql.Config, []string, error) {
	hosts, err1 := hostsOf(t, 3306)
	tls, err2 := store.TLSConfig(t)
	level, err3 := isolation(t)
	params, err4 := mysqlDSN(t)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, nil, fault.Code(err, fault.CodeInput)
	}
	// The driver parses its own parameters. No secret is among them.
	c, err := mysql.ParseDSN("tcp(" + hosts[0] + ")/?" + params)
	if err != nil {
		return nil, nil, fault.Input(fmt.Errorf("%s: parameters: %w", t.Scheme, err), "")
	}
	c.User, c.Passwd, c.TLS = t.User, t.Password, tls
	if c.User == "" {
		c.User = "root"
	}
	c.DialFunc, c.Timeout = n.dial, n.times.Dial
	c.MaxAllowedPacket = 0 // use the server's value
	c.Logger = &mysql.NopLogger{}
	for _, on := range []struct {
		name  string
		field *bool
	}{{"parseTime", &c.ParseTime}, {"interpolateParams", &c.InterpolateParams}} {
		if !t.Params.Has(on.name) {
			*on.field = true
		}
	}
	var first []string
	if level != "" {
		first = append(first, "SET SESSION TRANSACTION ISOLATION LEVEL "+level)
	}
	for _, name := range mysqlSession {
		if t.Params.Has(name) {
			first = append(first, "SET SESSION "+name+" = "+mysqlValue(t.Params.Get(name)))
		}
	}
	return c, first, nil
}

// mysqlDSN returns the Go driver's parameters in its own form.
func mysqlDSN(t store.Target) (string, error) {
	var pairs []string
	for _, name := range mysqlSwitches {
		if !t.Params.Has(name) {
			continue
		}
		on, err := t.Bool(name)
		if err != nil {
			return "", err
		}
		pairs = append(pairs, name+"="+strconv.FormatBool(on))
	}
	for _, name := range []string{"charset", "collation", "loc", "serverPubKey", "connectionAttributes"} {
		if t.Params.Has(name) {
			pairs = append(pairs, name+"="+url.QueryEscape(t.Params.Get(name)))
		}
	}
	return strings.Join(pairs, "&"), nil
}

// mysqlValue writes a number as it is and anything else as a string.
func mysqlValue(s string) string {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// MySQL returns a Connector; the database is chosen later. Of several hosts, connections are to the
// one that takes writes.
func MySQL(t store.Target, n *Network) (*Connector, error) {
	var each []*mysql.Config
	var first []string
	one := t
	for i := range max(len(t.Hosts), 1) {
		one.Hosts = t.Hosts[i:min(i+1, len(t.Hosts))]
		config, do, err := mysqlConfig(one, n)
		if err != nil {
			return nil, err
		}
		each, first = append(each, config), do
	}
	c := &Connector{first: first, in: func(database string) (driver.Connector, error) {
		var all []driver.Connector
		for _, config := range each {
			config := config.Clone()
			config.DBName = database
			one, err := mysql.NewConnector(config)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		if len(all) == 1 {
			return all[0], nil
		}
		return &writable{hosts: all}, nil
	}}
	return c, c.Use(t.Path)
}
