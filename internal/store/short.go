package store

import (
	"net"
	"path"
	"slices"
	"strings"
)

// ShortNames returns, for targets that stand side by side, the shortest names that tell them
// apart: schemes, hosts, hosts with ports, databases or files, or parameters. Where nothing
// shorter does, they are the targets.
func ShortNames(targets []string) []string {
	list := make([]Target, len(targets))
	for i, s := range targets {
		t, err := ParseTarget(s)
		if err != nil {
			return slices.Clone(targets)
		}
		list[i] = t
	}
	for _, name := range []func(t Target) string{
		func(t Target) string { return t.Scheme },
		func(t Target) string { return t.firstHost(false) },
		func(t Target) string { return t.firstHost(true) },
		func(t Target) string { return path.Base("/" + t.Path) },
		func(t Target) string { return t.unlike(list) },
	} {
		names := make([]string, len(list))
		for i, t := range list {
			names[i] = name(t)
		}
		if apart(names) {
			return names
		}
	}
	return slices.Clone(targets)
}

// apart reports whether names are there and differ.
func apart(names []string) bool {
	for i, n := range names {
		if n == "" || n == "/" || slices.Contains(names[:i], n) {
			return false
		}
	}
	return true
}

// firstHost returns the first host, with its port or without; empty if there is none.
func (t Target) firstHost(port bool) string {
	if len(t.Hosts) == 0 {
		return ""
	}
	if host, _, err := net.SplitHostPort(t.Hosts[0]); err == nil && !port {
		return host
	}
	return t.Hosts[0]
}

// unlike returns the parameters of a target that others do not have alike.
func (t Target) unlike(others []Target) string {
	var out []string
	for _, k := range slices.Sorted(keys(t.Params)) {
		if slices.ContainsFunc(others, func(o Target) bool { return !slices.Equal(o.Params[k], t.Params[k]) }) && !secret(k) {
			out = append(out, k+"="+strings.Join(t.Params[k], ","))
		}
	}
	return strings.Join(out, "&")
}
