package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/watch/self"
	"github.com/perfbench/perfbench/internal/workload"
)

// Store is the store to be checked.
type Store struct {
	// Target is its address, with the password; Driver is its driver.
	Target store.Target
	Driver store.Driver
	// Namespace is the prefix of what a run would create. Write allows testing whether
	// we may write there, by writing and removing something tiny.
	Namespace string
	Write     bool
	// Options are those for connecting.
	Options store.OpenOptions
	// Facts are what it can do, once Examine has asked.
	Facts store.Facts
}

// How long queries may take: a server that needs longer is as good as down.
const (
	dialPatience = 3 * time.Second
	askPatience  = 15 * time.Second
	// trips is how many small requests are made.
	trips = 20
	// far is the round-trip time from which the network is much of what is measured.
	far = 5 * time.Millisecond
)

// Examine checks the store. info is what it reports about itself, nil if it could not
// be queried; the error says why, and has the code of a store.
func (s *Store) Examine(ctx context.Context, machine Machine) (sec Section, info *store.Info, err error) {
	var l list
	for _, c := range s.Target.Cautions("the connection to " + strings.Join(s.Target.Hosts, ", ")) {
		l.doubt("connection", c, "see perfbench list stores "+s.Driver.Name+" for tls, ca and insecure")
	}
	s.reach(ctx, &l)
	info, err = s.ask(ctx, &l)
	if err == nil && s.local() {
		machine.beside(&l, s.Driver.Name)
	}
	return Section{s.Target.Redacted(), l}, info, err
}

// reach finds out whether the servers accept connections.
func (s Store) reach(ctx context.Context, l *list) {
	if s.Driver.Port == 0 || has(s.Target.Scheme, "sentinel") || s.Target.Scheme == "unix" {
		return
	}
	for _, h := range s.Target.Hosts {
		addr, began := store.HostPort(h, s.Driver.Port), time.Now()
		c, err := (&net.Dialer{Timeout: dialPatience}).DialContext(ctx, "tcp", addr)
		if err != nil {
			do := "check host and port, and that no firewall is in between"
			if host, _, _ := net.SplitHostPort(addr); loopback(host) {
				do = "start the server, or one of ours: perfbench lab up"
			}
			l.wrong("reach", plain(err), do)
			continue
		}
		_ = c.Close() // nothing was sent
		l.good("reach", fmt.Sprintf("%s accepts a connection within %s", addr, units.Duration(time.Since(began))))
	}
}

// ask connects and makes all the checks that do no harm.
func (s *Store) ask(ctx context.Context, l *list) (*store.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	o := s.Options
	o.Existing = !s.Write
	conn, err := s.Driver.Open(ctx, s.Target, o)
	if errors.Is(err, fs.ErrNotExist) && isFolder(filepath.Dir(s.Target.Path)) {
		l.unknown("file", s.Target.Path+" is missing, and was not made: a run creates it, and so does --write")
		return nil, nil
	}
	if err != nil {
		return nil, s.failed(l, "log in", err)
	}
	defer func() { _ = conn.Close() }() // we have nothing left to write
	info, err := conn.Info(ctx)
	if err != nil {
		return nil, s.failed(l, "version", err)
	}
	l.good("version", strings.TrimSpace(info.Name+" "+info.Version)+", "+info.Topology)
	if info.NoFigure != "" {
		l.doubt("figures", info.NoFigure, "good for trying perfbench out; name a server to measure one")
	}
	for _, w := range info.Warnings {
		l.doubt("settings", s.Target.Scrub(errors.New(w)).Error(), "change it on the server, or compare only with servers set the same")
	}
	if info.FreeBytes > 0 {
		l.good("room", units.Size(info.FreeBytes)+" are free")
	}
	s.trips(ctx, l, conn)
	s.abilities(ctx, l, conn)
	s.rights(ctx, l, conn)
	return &info, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (s Store) failed(l *list, about string, err error) error {
	err = s.Target.Scrub(err)
	do := fault.HintOf(err)
	if do == "" {
		do = "check the target, its user and its password"
	}
	l.wrong(about, plain(err), do)
	return fault.Code(err, fault.CodeStore)
}

// trips times small requests, one after the other.
func (s Store) trips(ctx context.Context, l *list, conn store.Conn) {
	a, ok := store.Has[store.Answerer](conn)
	if !ok {
		return
	}
	var took []time.Duration
	for range trips {
		began := time.Now()
		if err := a.Answer(ctx); err != nil {
			_ = s.failed(l, "round trip", err) // it is reported in the list
			return
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	median := took[len(took)/2]
	l.either(median < far, "round trip", fmt.Sprintf("%s for a small question, %s at worst", units.Duration(median), units.Duration(took[len(took)-1])),
		"much of each response time will be spent on the network: measure from closer by, or from where the application runs")
}

// rights finds out what we are allowed to do.
func (s Store) rights(ctx context.Context, l *list, conn store.Conn) {
	if k, ok := store.Has[store.Keeper](conn); ok {
		made, err := k.Made(ctx, s.Namespace)
		switch {
		case err != nil && s.Write:
			_ = s.failed(l, "reading", err)
		case err != nil:
			l.unknown("reading", plain(s.Target.Scrub(err)))
		case len(made) > 0:
			l.good("our data", fmt.Sprintf("%s of earlier runs under %q: perfbench data list shows them", units.Plural(len(made), "structure"), s.Namespace))
		default:
			l.good("our data", fmt.Sprintf("none under %q", s.Namespace))
		}
	}
	p, ok := store.Has[store.Prober](conn)
	switch {
	case !ok:
	case !s.Write:
		l.unknown("writing", "not tried: --write tries it, and removes what it wrote")
	default:
		if err := p.Probe(ctx, store.Space{Namespace: s.Namespace, Shape: store.Map}); err != nil {
			_ = s.failed(l, "writing", err)
		} else {
			l.good("writing", "tried, and what was written is removed")
		}
	}
	if m, ok := store.Has[store.Metered](conn); ok {
		readings, err := m.Readings(ctx)
		readings = slices.DeleteFunc(readings, func(r store.Reading) bool { return store.OfProcess(r.Name) })
		switch {
		case err != nil && len(s.Target.Hosts) == 0 && s.Target.Scheme != "unix": // there is no server to ask within perfbench
		case err != nil:
			l.doubt("its own figures", plain(s.Target.Scrub(err)), "without them the server's load is unknown; grant the user the missing permissions")
		case len(readings) > 0:
			l.good("its own figures", fmt.Sprintf("%s a second, for store.csv", units.Plural(len(readings), "reading")))
		}
	}
}

// abilities tells what the servers lack that others of their kind have, and keeps what they
// answered for the profiles.
func (s *Store) abilities(ctx context.Context, l *list, conn store.Conn) {
	f, ok := store.Has[store.Factual](conn)
	if !ok {
		return
	}
	var err error
	if s.Facts, err = f.Facts(ctx); err != nil {
		l.unknown("abilities", plain(s.Target.Scrub(err)))
		return
	}
	has := 0
	for _, f := range s.Facts.All {
		if f.Lacks == nil {
			has++
			continue
		}
		l.doubt(string(f.Ability), "it lacks "+f.Title+": "+plain(s.Target.Scrub(f.Lacks)), "without: "+f.Without)
	}
	l.good("abilities", fmt.Sprintf("%d of the %d that it was asked for", has, len(s.Facts.All)))
}

// local reports whether all servers are on this machine.
func (s Store) local() bool {
	if s.Target.Scheme == "unix" {
		return true
	}
	return len(s.Target.Hosts) > 0 && !slices.ContainsFunc(s.Target.Hosts, func(h string) bool {
		host, _, err := net.SplitHostPort(h)
		if err != nil {
			host = h
		}
		return !loopback(strings.Trim(host, "[]"))
	})
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// plain returns an error as one line.
func plain(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Profiles says what each profile would do on the store by default; info may be nil.
func Profiles(ctx context.Context, env session.Env, target string, s Store, info *store.Info) Section {
	d := s.Driver
	var l list
	for _, p := range env.Profiles {
		if p.Design == nil {
			continue
		}
		b, ok := p.Binding(d.Name)
		switch {
		case !ok:
			l.unknown(p.Name, "does not run on "+d.Title)
			continue
		case b.Refuse != "":
			l.unknown(p.Name, "does not run on "+d.Title+": "+b.Refuse)
			continue
		}
		prepared, err := session.Prepare(ctx, env, session.Request{Profile: p.Name, Target: target})
		if err != nil {
			l.doubt(p.Name, plain(err), fault.HintOf(err))
			continue
		}
		if err := s.Facts.Lacking(prepared.Plan.Needs(d.Name)); err != nil {
			l.doubt(p.Name, plain(s.Target.Scrub(err)), fault.HintOf(err))
			continue
		}
		would(&l, p, b, prepared, info)
	}
	return Section{"profiles", l}
}

// would says what a run of the default preset would do.
func would(l *list, p workload.Profile, b workload.Binding, prepared *session.Prepared, info *store.Info) {
	v := prepared.Preview()
	found := "runs"
	if b.Note != "" {
		found += " (" + b.Note + ")"
	}
	if v.Bytes > 0 {
		found += fmt.Sprintf("; by default it stores %s over up to %s", units.Size(v.Bytes), units.Plural(v.Connections, "connection"))
	} else {
		found += fmt.Sprintf("; by default over up to %s", units.Plural(v.Connections, "connection"))
	}
	files := self.FileLimit()
	switch {
	case info != nil && info.FreeBytes > 0 && v.Bytes > info.FreeBytes/2:
		l.doubt(p.Name, found+", and "+units.Size(info.FreeBytes)+" are free", "give it less with --count or --payload, or the server more memory")
	case files > 0 && int64(v.Connections) > files/2:
		l.doubt(p.Name, found, fmt.Sprintf("this process may have %d files open: ulimit -n 65536, or fewer --threads", files))
	default:
		l.good(p.Name, found)
	}
}

// Open parses a URL as a store to be checked, with the driver for its scheme. Errors
// have the code of bad input.
func Open(drivers store.Drivers, url string) (Store, error) {
	t, d, err := drivers.Parse(url)
	return Store{Target: t, Driver: d}, err
}
