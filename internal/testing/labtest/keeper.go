package labtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/lab"
)

// KeeperEnv names the socket of a [Keeper] in the environment of tests.
const KeeperEnv = "PERFBENCH_TEST_KEEPER"

// Keeper starts servers for tests to share, each when it is first requested, and ends
// them all on Close or when its process dies. A test binary has its own; go test on
// many packages can be given one that serves them all (command testlab).
type Keeper struct {
	// Say, if set before the first use, is called with each server that starts.
	Say func(step string)

	dir string
	mu  sync.Mutex
	// turns has a channel of capacity one for each server that tests use in turn.
	turns map[string]chan struct{}
	kept  map[string]string // the service of each server by its folder
}

// request is a request to a keeper.
type request struct {
	Name    string // of the server, among all that the keeper has
	Service string
	Args    []string
	Brief   bool
	// Turn waits until nobody else has the server; the client then has it until the
	// connection closes.
	Turn bool
	// Restart names a killed process of the server that is to be started again.
	Restart string
}

// reply is what a keeper says.
type reply struct {
	State lab.State
	Dir   string
	Err   string
}

// NewKeeper returns a keeper that has no servers yet.
func NewKeeper() (*Keeper, error) {
	dir, err := os.MkdirTemp("", "perfbench-labtest-")
	if err != nil {
		return nil, err
	}
	return &Keeper{dir: dir, turns: map[string]chan struct{}{}, kept: map[string]string{}}, nil
}

// Socket returns where the keeper is to listen, a path in its own folder.
func (k *Keeper) Socket() string { return filepath.Join(k.dir, "socket") }

// Serve answers tests of other processes until l is closed.
func (k *Keeper) Serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go k.answer(conn)
	}
}

// answer carries out one request. A turn lasts as long as its connection.
func (k *Keeper) answer(conn net.Conn) {
	defer conn.Close()
	var r request
	if err := json.NewDecoder(conn).Decode(&r); err != nil {
		return // the client has gone
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*limit)
	defer cancel()
	a, release := k.do(ctx, r)
	defer release()
	if json.NewEncoder(conn).Encode(a) == nil && r.Turn {
		_, _ = conn.Read(make([]byte, 1)) // only the end can come
	}
}

// do carries out a request; release ends the turn that it may have taken.
func (k *Keeper) do(ctx context.Context, r request) (a reply, release func()) {
	release = func() {}
	fail := func(err error) (reply, func()) {
		release()
		return reply{Err: err.Error()}, func() {}
	}
	a.Dir = filepath.Join(k.dir, strings.ReplaceAll(r.Name, " ", "-"))
	if r.Restart != "" {
		if err := lab.Restart(ctx, a.Dir, r.Service, r.Restart); err != nil {
			return fail(err)
		}
		return a, release
	}
	turn, fresh := k.note(a.Dir, r)
	if fresh && k.Say != nil {
		k.Say("starting " + r.Name)
	}
	if r.Turn {
		select {
		case turn <- struct{}{}:
			release = func() { <-turn }
		case <-ctx.Done():
			return fail(fmt.Errorf("wait for a turn at %s: %w", r.Name, context.Cause(ctx)))
		}
	}
	// Up leaves a running server alone, and replaces one that a test has left dead.
	up := func() (err error) {
		a.State, err = lab.Up(ctx, a.Dir, r.Service, lab.Options{Args: r.Args, Brief: r.Brief, Tied: true, Environ: os.Environ()})
		return err
	}
	err := up()
	// Where all processors are taken, a server that is shared may be long in answering.
	for began := time.Now(); err != nil && !r.Turn && runs(a.Dir, r.Service) && time.Since(began) < limit; {
		err = up()
	}
	if err != nil && r.Turn { // a failed test may have left it frozen, or partly dead
		_ = lab.Down(ctx, a.Dir, r.Service, nil) // the start will report what is wrong
		err = up()
	}
	if err != nil {
		return fail(err)
	}
	return a, release
}

// runs reports whether all processes of a service are there.
func runs(dir, service string) bool {
	all, err := lab.Status(dir)
	return err == nil && slices.ContainsFunc(all, func(s lab.State) bool { return s.Name == service && s.Condition == lab.Running })
}

// Warm starts the server of a service that [Common] lends to tests, before one asks.
func (k *Keeper) Warm(ctx context.Context, service string) error {
	r := commonOf(service)
	r.Brief = true
	if a, _ := k.do(ctx, r); a.Err != "" {
		return errors.New(a.Err)
	}
	return nil
}

// note records which servers there are, and returns the channel for turns at this one;
// fresh means that nobody has asked for it before.
func (k *Keeper) note(dir string, r request) (turn chan struct{}, fresh bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, known := k.kept[dir]
	k.kept[dir] = r.Service
	if k.turns[r.Name] == nil {
		k.turns[r.Name] = make(chan struct{}, 1)
	}
	return k.turns[r.Name], !known
}

// Close ends all servers and deletes their data.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ended := make(chan error, len(k.kept)) // they take seconds, mostly waiting
	for dir, service := range k.kept {
		go func() { ended <- lab.Down(ctx, dir, service, nil) }()
	}
	var errs []error
	for range k.kept {
		if err := <-ended; err != nil && !errors.Is(err, lab.ErrNotRunning) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, os.RemoveAll(k.dir))...)
}

// asker is a keeper as tests see it, in this process or in another one.
type asker interface {
	do(ctx context.Context, r request) (a reply, release func())
}

// remote is the keeper that listens on a socket.
type remote string

func (path remote) do(ctx context.Context, r request) (a reply, release func()) {
	fail := func(err error) (reply, func()) {
		return reply{Err: fmt.Sprintf("the keeper of %s=%s: %v", KeeperEnv, string(path), err)}, func() {}
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", string(path))
	if err != nil {
		return fail(err)
	}
	release = func() { _ = conn.Close() } // it was only read
	stop := context.AfterFunc(ctx, release)
	defer stop()
	if err = json.NewEncoder(conn).Encode(r); err == nil {
		err = json.NewDecoder(conn).Decode(&a)
	}
	if err != nil || a.Err != "" || !r.Turn {
		release()
	}
	if err != nil {
		return fail(err)
	}
	return a, release
}
