package lab

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/powercut"
)

// errPortTaken means that another program took a free port between looking and binding:
// worth another try.
var errPortTaken = errors.New("the port was taken by somebody else")

// host is one start or end of a service: its folder, its processes and their record. It knows
// no kind of server; the start functions work with it. It belongs to one call of Up,
// Down or Restart, on one goroutine.
type host struct {
	Dir      string // the service's folder
	service  Service
	opts     Options
	binaries map[string]string // absolute paths by name
	rec      *record
}

func newHost(dir string, s Service, o Options) (*host, error) {
	dir, err := filepath.Abs(filepath.Join(dir, s.Name))
	if err != nil {
		return nil, fmt.Errorf("lab: folder of %s: %w", s.Name, err)
	}
	return &host{Dir: dir, service: s, opts: o, binaries: map[string]string{}}, nil
}

// step tells the user what is being done.
func (h *host) step(format string, args ...any) {
	if h.opts.Progress != nil {
		h.opts.Progress(fmt.Sprintf(format, args...))
	}
}

// reuse returns the state of servers that are already running and answering. It clears
// away the remains of dead ones, but nothing that is alive.
func (h *host) reuse(ctx context.Context) (State, bool, error) {
	var err error
	down := "perfbench lab down " + h.service.Name + " ends it and deletes its data"
	if h.rec, err = load(h.Dir); errors.Is(err, os.ErrNotExist) {
		return State{}, false, nil
	} else if err != nil {
		return State{}, false, fault.Hint(fmt.Errorf("lab: %s: %w", h.service.Name, err), unreadable(h.Dir))
	}
	st := h.rec.live()
	switch st.Condition {
	case Dead, Starting: // we hold the lock, so nobody is starting it
		h.step("clearing away what is left of a %s that died", h.service.Name)
		return State{}, false, h.clear(ctx)
	case Partial:
		return State{}, false, fault.Store(fmt.Errorf("lab: %s is only partly running", h.service.Name), "perfbench lab heal "+h.service.Name+" starts the rest, "+down)
	}
	if !h.opts.sameServers(h.rec) {
		return State{}, false, fault.Input(fmt.Errorf("lab: %s is already running, with other settings", h.service.Name), down)
	}
	for _, p := range st.Processes {
		probe, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := h.service.answers(probe, h, p)
		cancel()
		if err != nil {
			return State{}, false, fault.Store(fmt.Errorf("lab: %s is already running but does not answer: %w", p.Name, err), down)
		}
	}
	h.step("%s is already running", h.service.Name)
	return st, true, nil
}

// startFresh starts the service in an empty folder, trying other ports if one was
// taken, and leaves nothing behind if it fails.
func (h *host) startFresh(ctx context.Context) error {
	for try := 1; ; try++ {
		err := h.startOnce(ctx)
		if err == nil {
			return nil
		}
		h.step("cleaning up")
		// Cleaning up must not depend on the context that has just ended.
		if cerr := h.clear(context.WithoutCancel(ctx)); cerr != nil {
			return errors.Join(err, cerr)
		}
		if !errors.Is(err, errPortTaken) || h.opts.Port != 0 || try == 5 {
			return err
		}
		h.step("%v: trying others", errPortTaken)
	}
}

func (h *host) startOnce(ctx context.Context) error {
	if err := os.RemoveAll(h.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(h.Dir, 0o700); err != nil {
		return err
	}
	h.rec = &record{
		State: State{Name: h.service.Name, Condition: Starting, Dir: h.Dir},
		Args:  h.opts.Args, TLS: h.opts.TLS, Tied: h.opts.Tied,
	}
	limit := cmp.Or(h.service.limit, startLimit)
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not ready within %v", limit))
	defer cancel()
	if err := h.service.start(limited, h); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fault.Code(err, fault.CodeStore)
	}
	if h.rec.Disk != nil { // what was set up is not at stake
		if err := powercut.Sync(h.rec.Disk.At); err != nil {
			return err
		}
	}
	h.rec.Condition, h.rec.Started = Running, time.Now()
	return h.rec.save()
}

// spec is a process to be started.
type spec struct {
	Name    string            // unique within the service; also its folder
	Addr    string            // where it will listen
	Command []string          // the first element is a name out of Needs
	Files   map[string]string // written into its folder first, readable by the user only
	Dir     string            // its folder, if not the one of that name
	User    string            // whom it runs as, if not us
	Stop    string            // the signal that ends it, if not TERM
}

// folder returns where the process of that name has its files.
func (h *host) folder(name string) string { return filepath.Join(h.Dir, name) }

// spawn starts a process in its own folder, with its output in the file "log"
// there, and records it. It returns at once.
func (h *host) spawn(ctx context.Context, s spec) (Process, error) {
	if err := ctx.Err(); err != nil {
		return Process{}, err
	}
	dir := s.Dir
	if dir == "" {
		dir = h.folder(s.Name)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Process{}, err
	}
	for name, text := range s.Files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return Process{}, err
		}
	}
	command := slices.Clone(s.Command)
	if path, ok := h.binaries[command[0]]; ok {
		command[0] = path
	}
	h.rec.Processes = append(h.rec.Processes, Process{Name: s.Name, Addr: s.Addr, Command: command, Dir: dir, User: s.User, Stop: s.Stop})
	p := &h.rec.Processes[len(h.rec.Processes)-1]
	h.step("starting %s on %s", s.Name, s.Addr)
	err := h.launch(p)
	return *p, err
}

// launch runs p's command and fills in its id and birth.
func (h *host) launch(p *Process) error {
	log, err := os.OpenFile(filepath.Join(p.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()                  // the child has its own copy
	cmd := exec.Command(p.Command[0], p.Command[1:]...) //nolint:noctx // it outlives every context of ours
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.Dir, log, log
	cmd.Env = []string{} // our environment may hold a password
	if err := Detach(cmd, h.rec.Tied); err != nil {
		return err
	}
	if err := ActAs(cmd, p.User); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	p.PID, p.Birth = cmd.Process.Pid, Birth(cmd.Process.Pid)
	if p.Birth == "" { // unknown on this system: without it we could never end the process later
		err := errors.Join(fmt.Errorf("start %s: process %d has no known time of birth", p.Name, p.PID), cmd.Process.Kill())
		_ = cmd.Wait() // the error is that it was killed
		return err
	}
	if err := cmd.Process.Release(); err != nil {
		return err
	}
	return h.rec.save()
}

// ready waits until p answers. It ends early when p dies, with the end of its
// log as the reason, and with the cause of ctx.
func (h *host) ready(ctx context.Context, p Process) error {
	return Poll(ctx, func() error {
		if !IsAlive(p) {
			return Permanent{Err: h.died(p)}
		}
		probe, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		if err := h.service.answers(probe, h, p); err != nil {
			return fmt.Errorf("%s at %s: %w", p.Name, p.Addr, err)
		}
		return nil
	})
}

// portTaken reports whether the end of a server's log says that its port is in use:
// RabbitMQ, Cassandra and its management have their own words for that.
func portTaken(log string) bool {
	log = strings.ToLower(log)
	return slices.ContainsFunc([]string{
		"address already in use", "eaddrinuse", "dist_port_already_used", "is in use by another process", "port already in use",
	}, func(words string) bool { return strings.Contains(log, words) })
}

// died says why p ended, as far as its log tells.
func (h *host) died(p Process) error {
	tail := logTail(p.Dir, 2048)
	if portTaken(tail) {
		return fmt.Errorf("%s at %s: %w", p.Name, p.Addr, errPortTaken)
	}
	lines := strings.Split(strings.TrimSpace(tail), "\n")
	lines = lines[max(0, len(lines)-3):]
	return fmt.Errorf("%s ended by itself; its log ends with: %s", p.Name, strings.Join(lines, " | "))
}

// logTail returns up to limit bytes of the end of a process's log.
func logTail(dir string, limit int64) string {
	f, err := os.Open(filepath.Join(dir, "log"))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err == nil && info.Size() > limit {
		_, _ = f.Seek(-limit, io.SeekEnd) // from the start is as good
	}
	b, _ := io.ReadAll(f) // half a log is better than none
	return string(bytes.ToValidUTF8(b, []byte("?")))
}
