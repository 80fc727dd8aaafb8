// Package lab starts disposable real servers on this machine: for people who
// want a store to aim at (perfbench lab) and for the tests of other packages
// (labtest). It is not for servers that anybody else relies on: nothing is
// persisted and Down deletes the data.
//
// A service is data (see Services): adding one is a file with its start function
// and a line in that list. Every service has a folder of its own below the
// directory that the caller hands in:
//
//	DIR/redis.lock         held while a perfbench starts or stops the service
//	DIR/redis/state.json   what runs: processes, ports, URL
//	DIR/redis/NODE/        one folder per server process: configuration, data, log
//
// Servers live in sessions of their own and outlive the process that started
// them. They are ended by process id together with the time of their birth, so
// that a recycled id is never hit. Everything listens on 127.0.0.1 only.
package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

// startLimit is how long a server may take to become ready: seconds, and minutes where sixty others
// want the processor. One that ends meanwhile is missed at once.
const startLimit = 3 * time.Minute

// ErrNotRunning means that a service, or the requested server of it, is not running.
var ErrNotRunning = errors.New("not running")

// Need is a program that a service cannot do without.
type Need struct {
	Binary  string // looked up on the PATH
	Package string // the Debian package that has it
	// Dirs are patterns of further folders to search, for servers that distributions
	// keep off the PATH. If several match, the last one is used.
	Dirs []string
	// DirsFirst searches them before the PATH.
	DirsFirst bool
	// Java, when set, lists the suitable releases of Java; JAVA_HOME and /usr/lib/jvm
	// are searched too.
	Java []int
}

// Find returns the absolute path of the program. look finds it on the PATH; nil means
// exec.LookPath. The error names the package that contains it.
func (n Need) Find(look func(file string) (string, error)) (string, error) {
	if look == nil {
		look = exec.LookPath
	}
	inDirs := func() string {
		for _, dir := range n.Dirs {
			found, _ := filepath.Glob(filepath.Join(dir, n.Binary)) // the patterns are ours, and right
			for _, path := range slices.Backward(found) {
				if path, err := look(path); err == nil {
					return path
				}
			}
		}
		return ""
	}
	if n.DirsFirst {
		if path := inDirs(); path != "" {
			return path, nil
		}
	}
	if path, err := look(n.Binary); err == nil {
		return filepath.Abs(path)
	}
	if path := inDirs(); path != "" {
		return path, nil
	}
	return "", fault.Store(fmt.Errorf("%s is not on the PATH", n.Binary),
		"it is in the Debian package "+n.Package+": apt-get install "+n.Package)
}

// FindIn is Find with an environment, whose JAVA_HOME is used for Java.
func (n Need) FindIn(look func(file string) (string, error), environ []string) (string, error) {
	if n.Java != nil {
		return n.findJava(look, environ)
	}
	return n.Find(look)
}

// Service describes one kind of disposable server, or of several that belong
// together.
type Service struct {
	Name    string // "redis": the id in commands, folders and lab: targets
	Summary string // one sentence for lists
	Needs   []Need

	// start starts the processes and returns once a client could work, having
	// set the host's URL and Version. Whatever it leaves behind when it fails
	// is cleaned up by its caller.
	start func(ctx context.Context, h *host) error
	// find returns the name of the process that has a role now; nil: there is a primary only,
	// which is the first.
	find func(ctx context.Context, h *host, role string) (string, error)
	// look fills in the role of each process that answers, and how far behind the primary it is; nil:
	// there are no roles.
	look func(ctx context.Context, h *host) error
	// takeover is how a replica becomes the primary, where the servers leave that to others.
	takeover *takeover
	// answers returns nil if p is serving clients now, and otherwise the reason why
	// not.
	answers func(ctx context.Context, h *host, p Process) error
	// limit is how long a start may take; 0 is startLimit.
	limit time.Duration
	// single means that Options.Port and Options.TLS are supported.
	single bool
	// powered means that Options.Disk is supported.
	powered bool
	// settings are those that Servers.Anew takes, each with the arguments of the server that it
	// cannot do without.
	settings map[string][]string
	// lock is a file below the folder of a process that a killed server leaves behind, and that keeps
	// it from starting as long as anything, be it a zombie, has its process id.
	lock string
	// use is how to make a run use the service; empty means --target lab:NAME.
	use string
}

// Use returns how to make a run use the named service: "--target lab:redis".
func Use(name string) string {
	for _, s := range Services() {
		if s.Name == name && s.use != "" {
			return s.use
		}
	}
	return "--target " + Scheme + name
}

// Services lists what the lab can start, in display order.
func Services() []Service {
	return []Service{
		redisService(),
		redisClusterService(),
		redisClusterReplicasService(),
		redisSentinelService(),
		mariadbService(),
		mariadbReplicaService(),
		postgresService(),
		postgresStandbyService(),
		cassandraService(),
		coherenceService(),
		rabbitmqService(),
		memcachedService(),
	}
}

// TLSFiles names the PEM files of a server that speaks TLS only.
type TLSFiles struct {
	CA         string `json:"ca"`          // signed all of the others
	Cert       string `json:"cert"`        // the server's, valid for 127.0.0.1
	Key        string `json:"key"`         // the server's
	ClientCert string `json:"client_cert"` // for clients; also used by the lab itself
	ClientKey  string `json:"client_key"`
	// ClientAuth makes the server refuse clients without a certificate.
	ClientAuth bool `json:"client_auth"`
}

// Options say how to start a service. The zero value is what users get.
type Options struct {
	// Args is further server configuration in the form of redis-server's command line
	// ("--maxmemory", "10mb"), for every kind of server. It goes into a file that only
	// the user can read, never onto a command line. If there are several servers, all
	// get it, except sentinels.
	Args []string
	// Port is the port, for a service of one server; 0 picks a free one.
	Port int
	// TLS makes a service of one server speak TLS, and nothing else.
	TLS *TLSFiles
	// Tied ends the servers when the calling process dies, on systems that support it
	// (Linux). For tests: users expect servers to stay.
	Tied bool
	// Brief is for servers that live for seconds. Java compiles quickly rather than
	// well, which halves the work of a start, and a server is killed at the end instead
	// of shutting down in order, as its data are deleted anyway. Not for measurements.
	Brief bool
	// Disk is a command that serves a folder as package powercut does, to which that and another
	// folder are added: the data of the servers are there, and [Servers.Cut] can cut their power.
	// Nil: the data are on the file system of this machine.
	Disk []string
	// LookPath finds programs; nil is exec.LookPath.
	LookPath func(file string) (string, error)
	// Environ is the environment, as NAME=value, for programs that download the parts
	// of a server, and for JAVA_HOME.
	Environ []string
	// Progress is called with each step, on the caller's goroutine; may be nil.
	Progress func(step string)

	// ports are those of servers that are started anew; nil: free ones.
	ports []int
}

// sameServers reports whether servers that were started with the stored options may be
// given to somebody who asks for o.
func (o Options) sameServers(r *record) bool {
	if o.TLS != nil && (r.TLS == nil || *o.TLS != *r.TLS) {
		return false
	}
	if o.Port != 0 && !slices.Contains(r.ports(), o.Port) {
		return false
	}
	if o.Args == nil && o.Disk == nil {
		return true
	}
	return slices.Equal(o.Args, r.Args) && (o.Disk != nil) == (r.Disk != nil)
}

// Up starts the named service below dir and returns when it is ready for clients. A
// service that is running and answering is left alone and its state returned. If Up
// fails or ctx ends, whatever it started is ended and its data are deleted before it
// returns. If several processes call it at once, they take turns.
func Up(ctx context.Context, dir, name string, o Options) (State, error) {
	s, err := find(name)
	if err != nil {
		return State{}, err
	}
	if !s.single && (o.Port != 0 || o.TLS != nil) {
		return State{}, fault.Input(fmt.Errorf("lab: %s has several servers: it takes neither a port nor TLS", name), "lab up redis does")
	}
	if err := s.checkDisk(o); err != nil {
		return State{}, err
	}
	unlock, err := Lock(ctx, dir, name, o.Progress)
	if err != nil {
		return State{}, err
	}
	defer unlock()
	h, err := newHost(dir, s, o)
	if err != nil {
		return State{}, err
	}
	if st, done, err := h.reuse(ctx); done || err != nil {
		return st, err
	}
	if err := h.findNeeds(); err != nil {
		return State{}, err
	}
	if err := h.startFresh(ctx); err != nil {
		return State{}, fmt.Errorf("lab: start %s: %w", name, err)
	}
	return h.rec.live(), nil
}

// Down ends the servers of the named service and deletes their data. The error is
// ErrNotRunning if there is nothing to end or delete. If the service died by itself,
// Down deletes what is left.
func Down(ctx context.Context, dir, name string, progress func(step string)) error {
	s, err := find(name)
	if err != nil {
		return err
	}
	unlock, err := Lock(ctx, dir, name, progress)
	if err != nil {
		return err
	}
	defer unlock()
	h, err := newHost(dir, s, Options{Progress: progress})
	if err != nil {
		return err
	}
	if h.rec, err = load(h.Dir); err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			return fault.Hint(fmt.Errorf("lab: stop %s: %w", name, err), unreadable(h.Dir))
		}
		if _, err := os.Stat(h.Dir); err != nil {
			return fault.Store(fmt.Errorf("lab: %s is %w", name, ErrNotRunning), "perfbench lab status shows what runs")
		}
		h.rec = &record{}
	}
	if err := h.clear(ctx); err != nil {
		return fmt.Errorf("lab: stop %s: %w", name, err)
	}
	return nil
}

// Status returns the state of every service that was started below dir and not taken
// down, in the order of Services. It queries the system about the processes, and does
// not contact the servers. Any process may call it at any time.
func Status(dir string) ([]State, error) {
	var all []State
	var errs []error
	for _, s := range Services() {
		r, err := load(filepath.Join(dir, s.Name))
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			errs = append(errs, fault.Hint(fmt.Errorf("lab: %s: %w", s.Name, err), unreadable(filepath.Join(dir, s.Name))))
		default:
			all = append(all, r.live())
		}
	}
	return all, errors.Join(errs...)
}

// find returns the service of that name.
func find(name string) (Service, error) {
	var names []string
	for _, s := range Services() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Service{}, fault.Input(fmt.Errorf("lab: unknown service %q", name), fault.Suggest(name, names, "perfbench lab up --help shows all"))
}

// findNeeds looks for the programs of the service.
func (h *host) findNeeds() error {
	for _, n := range h.service.Needs {
		path, err := n.FindIn(h.opts.LookPath, h.opts.Environ)
		if err != nil {
			return fmt.Errorf("lab: %s: %w", h.service.Name, err)
		}
		h.binaries[n.Binary] = path
	}
	return nil
}
