package sqlstore

import (
	"strings"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// products are told apart by what is in the version that they give as that of the product
// whose protocol they speak; before is what precedes their own.
var products = map[sqltext.Dialect][]struct{ has, name, before string }{
	sqltext.MySQL: {
		{"-tidb-", "tidb", "-TiDB-v"},
		{"vitess", "vitess", ""},
		{"planetscale", "vitess", ""},
		{"singlestore", "singlestore", ""},
		{"mariadb", "mariadb", ""},
		{"aurora", "aurora mysql", "aurora."},
	},
	sqltext.Postgres: {
		{"cockroachdb", "cockroachdb", " v"},
		{"-yb-", "yugabytedb", "-YB-"},
		{"redshift", "redshift", "Redshift "},
		{"greenplum", "greenplum", "Greenplum Database "},
	},
}

// identify extracts the product and its version from what a server says about itself.
func identify(dialect sqltext.Dialect, answer string) (product, version string) {
	first, rest, _ := strings.Cut(answer, " ")
	product = strings.ToLower(first)
	if dialect == sqltext.MySQL {
		product, rest = "mysql", first
	}
	for _, p := range products[dialect] {
		if !strings.Contains(strings.ToLower(answer), p.has) {
			continue
		}
		product = p.name
		if _, own, ok := strings.Cut(answer, p.before); ok && p.before != "" {
			version, _, _ = strings.Cut(own, " ")
			return product, strings.Trim(version, "(),")
		}
		break
	}
	// "PostgreSQL 15.18 (Debian …) on …", "10.11.6-MariaDB-0+deb12u1"
	version, _, _ = strings.Cut(rest, " (")
	version, _, _ = strings.Cut(version, " on ")
	if dialect == sqltext.MySQL {
		version, _, _ = strings.Cut(version, "-")
	}
	return product, version
}
