package labtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/perfbench/perfbench/internal/lab"
)

// servers are those that the tests of a package have in common, by service.
var servers struct {
	sync.Mutex
	byName map[string]*common
}

// common is one of them, or why there is none.
type common struct {
	service string
	state   lab.State
	dir     string
	err     error
}

// Shared returns the server of a service, such as "redis" or "mariadb", that all
// tests of the package use: each keeps to a namespace or database of its own. It
// starts with the first that asks, and ends with Run.
func Shared(t testing.TB, name string) *Server {
	t.Helper()
	return shared(t, name, nil)
}

// shared returns the server of that service which all tests of the package use.
// It is started with those settings by the first that asks, and ends with Run.
func shared(t testing.TB, name string, args []string) *Server {
	t.Helper()
	return sharedAs(t, name, name, args)
}

// sharedAs is shared of a server that only those share who ask for it by that name.
func sharedAs(t testing.TB, name, service string, args []string) *Server {
	t.Helper()
	need(t, service)
	servers.Lock()
	defer servers.Unlock()
	c := servers.byName[name]
	if c == nil {
		c = startCommon(service, lab.Options{Args: args, Brief: brief(t)})
		if servers.byName == nil {
			servers.byName = map[string]*common{}
		}
		servers.byName[name] = c
	}
	if c.err != nil {
		t.Fatalf("labtest: %v", c.err)
	}
	return &Server{t: t, dir: c.dir, state: c.state}
}

func startCommon(name string, o lab.Options) *common {
	c := &common{service: name}
	if c.dir, c.err = os.MkdirTemp("", "perfbench-labtest-"); c.err != nil {
		return c
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*limit) // the first ones ever fetch
	defer cancel()
	o.Tied, o.Environ = true, os.Environ()
	c.state, c.err = lab.Up(ctx, c.dir, name, o)
	return c
}

// Run runs the tests of a package that share servers, ends these, and returns the
// code to exit with:
//
//	func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) }
func Run(m *testing.M) int {
	code := m.Run()
	servers.Lock()
	defer servers.Unlock()
	for _, c := range servers.byName {
		if err := c.end(c.service); err != nil {
			fmt.Fprintln(os.Stderr, "labtest:", err) //nolint:forbidigo // there is no test to tell
			code = max(code, 1)
		}
	}
	return code
}

func (c *common) end(name string) error {
	if c.dir == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := lab.Down(ctx, c.dir, name, nil)
	if c.err != nil { // it never ran, and the tests have said so
		err = nil
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}
