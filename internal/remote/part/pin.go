package part

import (
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// CheckPattern says what is wrong with the pattern of targets of a worker, as an error of input.
func CheckPattern(pattern string) error {
	_, hosts, ok := strings.Cut(pattern, "://")
	for host := range strings.SplitSeq(hosts, ",") {
		if _, err := path.Match(host, ""); !ok || err != nil || host == "" || strings.ContainsAny(host, "/@") {
			return fault.Field("target", fault.Input(fmt.Errorf("target: %q is no pattern of targets", pattern), "write it like redis://10.0.0.9:6379 or redis://*.example.org"))
		}
	}
	return nil
}

// lets says why the worker may not log in at a target with its password; nil: it may. A plan
// names the target, and so whoever commands the worker says who gets to see the password.
func (e *Env) lets(target store.Target, trusted bool) error {
	switch {
	case e.Target != "":
		if !matches(e.Target, target) {
			return fmt.Errorf("this worker logs in at %s alone (--target), and the plan names %s", e.Target, target.Redacted())
		}
	case e.Password != "" && !trusted:
		return errors.New("this worker has a password, and others could name a server of theirs here: join by the URL that the coordinator printed, with what follows #, or say with --target where the password may go")
	}
	return nil
}

// matches says whether all servers of a target match a pattern: its scheme, and one of its
// hosts, in which * stands for anything. Without a port any will do.
func matches(pattern string, target store.Target) bool {
	scheme, list, _ := strings.Cut(pattern, "://")
	if !strings.EqualFold(scheme, target.Scheme) || len(target.Hosts) == 0 {
		return false
	}
	allowed := strings.Split(strings.ToLower(list), ",")
	return !slices.ContainsFunc(target.Hosts, func(at string) bool {
		at = strings.ToLower(at)
		return !slices.ContainsFunc(allowed, func(p string) bool {
			name, port, err := net.SplitHostPort(at)
			if err != nil {
				name, port = at, ""
			}
			host, only, err := net.SplitHostPort(p)
			if err != nil {
				host, only = p, ""
			}
			ok, err := path.Match(strings.Trim(host, "[]"), strings.Trim(name, "[]"))
			return err == nil && ok && (only == "" || only == port)
		})
	})
}
