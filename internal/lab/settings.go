package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// redisSettings decide what a Redis server keeps, and what that costs.
func redisSettings() map[string][]string {
	return map[string][]string{
		"appendonly":            nil,
		"appendfsync":           {"--appendonly", "yes"},
		"io-threads":            nil,
		"maxmemory-policy":      nil,
		"min-replicas-to-write": nil,
	}
}

// postgresSettings are the same of PostgreSQL. Without fsync, the others would cost nothing.
func postgresSettings() map[string][]string {
	synced := []string{"--fsync", "on"}
	return map[string][]string{
		"fsync":              nil,
		"synchronous_commit": synced,
		"wal_sync_method":    synced,
		"full_page_writes":   synced,
		"commit_delay":       synced,
		"wal_compression":    synced,
	}
}

// mariadbSettings are the same of MariaDB.
func mariadbSettings() map[string][]string {
	return map[string][]string{
		"innodb_flush_log_at_trx_commit": nil,
		"innodb_flush_log_at_timeout":    nil,
		"innodb_flush_method":            nil,
		"innodb_doublewrite":             nil,
		"sync_binlog":                    {"--log-bin", "binlog", "--innodb-flush-log-at-trx-commit", "1"},
	}
}

// IsSetting reports whether servers of any service have a setting of that name that
// [Servers.Anew] takes.
func IsSetting(name string) bool {
	return slices.ContainsFunc(Services(), func(s Service) bool { return s.hasSetting(name) })
}

func (s Service) hasSetting(name string) bool {
	_, ok := s.settings[name]
	return ok
}

// HasSetting returns an error of bad input if [Servers.Anew] does not take a setting for these
// servers.
func (s *Servers) HasSetting(name string) error {
	if s.service.hasSetting(name) {
		return nil
	}
	var of []string
	for _, other := range Services() {
		if other.hasSetting(name) {
			of = append(of, other.Name)
		}
	}
	hint := ""
	if own := slices.Sorted(maps.Keys(s.service.settings)); len(own) > 0 {
		hint = s.service.Name + " has " + strings.Join(own, ", ")
	}
	return fault.Input(fmt.Errorf("%s is a setting of %s, and not of %s", name, strings.Join(of, ", "), s.service.Name), hint)
}

// Anew ends the servers, deletes their data, and starts them again on the same ports, with settings
// beside what they had been started with; without settings, as they had been when Anew was first
// called. If it fails, nothing runs.
func (s *Servers) Anew(ctx context.Context, settings map[string]string) error {
	unlock, err := Lock(ctx, s.dir, s.service.Name, nil)
	if err != nil {
		return err
	}
	defer unlock()
	if s.first == nil {
		h, err := s.host()
		if err != nil {
			return err
		}
		s.first = h.rec.options()
	}
	o := *s.first
	var before, after []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		before = append(before, s.service.settings[name]...)
		after = append(after, "--"+name, settings[name])
	}
	if len(settings) > 0 { // what a server was started with is above what a setting needs, and below the setting
		o.Args = slices.Concat(before, o.Args, after)
	}
	h, err := newHost(s.dir, s.service, o)
	if err != nil {
		return err
	}
	if h.rec, err = load(h.Dir); err == nil {
		err = h.clear(ctx)
	} else if s.gone {
		err = nil // an earlier call has failed
	}
	if err == nil {
		err = h.findNeeds()
	}
	if err == nil {
		err = h.startFresh(ctx)
	}
	if s.gone = err != nil; s.gone {
		return fmt.Errorf("lab: start %s anew: %w", s.service.Name, err)
	}
	return nil
}

// options are what servers were started with, as far as it is known.
func (r *record) options() *Options {
	o := &Options{Args: r.Args, TLS: r.TLS, Tied: r.Tied, ports: r.ports()}
	if r.Disk != nil {
		o.Disk = r.Disk.Command[:len(r.Disk.Command)-2] // without the folders
	}
	return o
}
