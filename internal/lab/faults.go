package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/powercut"
	"github.com/perfbench/perfbench/internal/units"
)

// Roles that the servers of a service may have.
const (
	// Primary takes writes; of a service of one server, or of equal ones, the first.
	Primary = "primary"
	// Replica follows the primary.
	Replica = "replica"
)

// upToDate is Process.Behind of a replica that has everything.
const upToDate = "nothing"

// Servers are the server processes of one service, by their names and roles.
type Servers struct {
	dir     string
	service Service
	// first is what they had been started with when Anew was first called; nil before. gone means
	// that Anew has failed, so that nothing runs.
	first *Options
	gone  bool
}

// ServersAt returns the servers at a resolved target; nil if they do not belong to the lab below dir.
func ServersAt(dir, target string) *Servers {
	all, _ := Status(dir) // nothing is known about a broken record
	for _, st := range all {
		if !slices.ContainsFunc(st.Processes, func(p Process) bool { return reaches(target, p.Addr) }) {
			continue
		}
		if s, err := find(st.Name); err == nil {
			return &Servers{dir: dir, service: s}
		}
	}
	return nil
}

// reaches reports whether a URL names an address.
func reaches(target, addr string) bool {
	for rest := target; addr != ""; {
		_, after, ok := strings.Cut(rest, addr)
		if !ok {
			break
		}
		if after == "" || after[0] < '0' || after[0] > '9' { // not the beginning of a longer port
			return true
		}
		rest = after
	}
	return false
}

// Check returns an error of bad input if no server of the service ever has the role.
func (s *Servers) Check(role string) error {
	if role == Primary || s.service.find != nil {
		return nil
	}
	return fault.Input(fmt.Errorf("%s has no %s", s.service.Name, role), "kill:primary and pause:primary are of its server; "+strings.Join(withReplica(), ", ")+" have a replica")
}

// withReplica returns the names of the services whose servers have roles.
func withReplica() (names []string) {
	for _, s := range Services() {
		if s.find != nil {
			names = append(names, s.Name)
		}
	}
	return names
}

// Find returns the name of the process that has the role now.
func (s *Servers) Find(ctx context.Context, role string) (string, error) {
	h, err := s.host()
	if err != nil {
		return "", err
	}
	if s.service.find == nil {
		return h.rec.Processes[0].Name, s.Check(role)
	}
	name, err := s.service.find(ctx, h, role)
	if err != nil {
		return "", fmt.Errorf("lab: find the %s of %s: %w", role, s.service.Name, err)
	}
	return name, nil
}

func (s *Servers) host() (*host, error) {
	h, err := newHost(s.dir, s.service, Options{})
	if err != nil {
		return nil, err
	}
	if h.rec, err = load(h.Dir); err != nil || len(h.rec.Processes) == 0 {
		return nil, fmt.Errorf("lab: %s is %w", s.service.Name, ErrNotRunning)
	}
	return h, nil
}

// CanCut returns why the power of the servers cannot be cut; nil if it can.
func (s *Servers) CanCut() error {
	h, err := s.host()
	switch {
	case err != nil:
		return err
	case !s.service.powered:
		return s.service.checkDisk(Options{Disk: []string{}})
	case h.rec.Disk == nil:
		return fault.Input(fmt.Errorf("%s was started without --power-cut: a killed server loses nothing that it gave to this machine, which would be no power cut", s.service.Name),
			fmt.Sprintf("perfbench lab down %[1]s, then perfbench lab up %[1]s --power-cut", s.service.Name))
	}
	return nil
}

// Cut ends a process as a power cut would: it is killed, and what it had not synced is lost. If the
// cut is torn, each sector of that is lost or not, by chance.
func (s *Servers) Cut(ctx context.Context, name string, torn bool) error {
	if err := s.CanCut(); err != nil {
		return err
	}
	h, err := s.host()
	if err != nil {
		return err
	}
	if err := s.Kill(ctx, name); err != nil {
		return err
	}
	return powercut.Cut(h.rec.Disk.At, torn)
}

// SlowSync has each call by which the servers make something durable take that much longer from now
// on; 0 ends it. It can be had where [Servers.CanCut] says so.
func (s *Servers) SlowSync(_ context.Context, by time.Duration) error {
	h, err := s.host()
	if err != nil {
		return err
	}
	if h.rec.Disk == nil {
		return s.CanCut()
	}
	return powercut.Slow(h.rec.Disk.At, by)
}

// Kill ends a process at once, as a crash would, and returns when it is gone.
func (s *Servers) Kill(ctx context.Context, name string) error {
	return Kill(ctx, s.dir, s.service.Name, name)
}

// Restart starts a process that was killed, and returns when it answers.
func (s *Servers) Restart(ctx context.Context, name string) error {
	return Restart(ctx, s.dir, s.service.Name, name)
}

// Pause stops a process in its tracks.
func (s *Servers) Pause(_ context.Context, name string) error {
	return Pause(s.dir, s.service.Name, name)
}

// Resume lets a paused process go on.
func (s *Servers) Resume(_ context.Context, name string) error {
	return Resume(s.dir, s.service.Name, name)
}

// Broken returns what is broken of a service that was started, such as "master has ended" and
// "replica is paused".
func (s State) Broken() []string {
	var out []string
	if s.lostDisk() {
		return []string{lostDisk}
	}
	if s.Disk != nil && s.Disk.Slow > 0 {
		out = append(out, "fsync takes "+s.Disk.Slow.String()+" longer")
	}
	for _, p := range s.Processes {
		switch {
		case s.Condition == Starting:
		case !p.Alive:
			out = append(out, p.Name+" has ended")
		case p.Paused:
			out = append(out, p.Name+" is paused")
		}
	}
	return out
}

// Cure is the command that puts right what is broken of a service that was started; those servers
// that have ended start again with the data that they still have.
func (s State) Cure() string {
	if s.lostDisk() {
		return fmt.Sprintf("perfbench lab down %[1]s, then perfbench lab up %[1]s --power-cut", s.Name)
	}
	return "perfbench lab heal " + s.Name
}

// Heal puts right what is broken of a service: paused processes go on, and those that have ended
// are started again with the data that they still have. It returns what it did, in the words of
// progress.
func Heal(ctx context.Context, dir, name string, progress func(step string)) (done []string, err error) {
	if _, err := find(name); err != nil {
		return nil, err
	}
	r, err := load(filepath.Join(dir, name))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fault.Store(fmt.Errorf("lab: %s is %w", name, ErrNotRunning), "perfbench lab up "+name)
	case err != nil:
		return nil, fault.Hint(fmt.Errorf("lab: heal %s: %w", name, err), unreadable(filepath.Join(dir, name)))
	}
	st := r.live()
	if st.Condition == Starting {
		return nil, fault.Store(fmt.Errorf("lab: heal %s: its start has not finished", name), "perfbench lab down "+name+" deletes what is left of it")
	}
	if st.lostDisk() {
		return nil, fault.Store(fmt.Errorf("lab: heal %s: %s", name, lostDisk), st.Cure())
	}
	if st.Disk != nil && st.Disk.Slow > 0 {
		if err := powercut.Slow(st.Disk.At, 0); err != nil {
			return nil, fmt.Errorf("lab: heal %s: %w", name, err)
		}
		if done = append(done, "fsync takes no longer than it has to"); progress != nil {
			progress(done[0])
		}
	}
	if st.Primary != "" { // before those that follow it
		slices.SortStableFunc(st.Processes, func(a, b Process) int {
			return map[bool]int{true: 1}[b.Name == st.Primary] - map[bool]int{true: 1}[a.Name == st.Primary]
		})
	}
	for _, p := range st.Processes {
		what := ""
		switch {
		case !p.Alive:
			what, err = p.Name+" was started again"+follows(&st, p), Restart(ctx, dir, name, p.Name)
		case p.Paused:
			what, err = p.Name+" goes on", Resume(dir, name, p.Name)
		default:
			continue
		}
		if err != nil {
			return done, err
		}
		if !p.Alive && st.Primary == "" {
			what += followsNow(ctx, dir, st, p.Name)
		}
		if done = append(done, what); progress != nil {
			progress(what)
		}
	}
	return done, nil
}

// follows says that a process follows another, where it may have been the other way round.
func follows(st *State, p Process) string {
	if st.Primary == "" || st.Primary == p.Name {
		return ""
	}
	return ", and follows " + st.Primary
}

// followsNow says whom a process follows that was started again, as far as the servers tell.
func followsNow(ctx context.Context, dir string, st State, name string) string {
	st.Processes = slices.Clone(st.Processes)
	for i := range st.Processes {
		st.Processes[i].Alive = IsAlive(st.Processes[i]) || st.Processes[i].Name == name
	}
	for _, p := range Look(ctx, dir, st).Processes {
		if p.Name == name && p.Of != "" {
			return ", and follows " + p.Of
		}
	}
	return ""
}

// behindBytes says how far a replica is behind that lacks so many bytes of what was written.
func behindBytes(n int64) string {
	if n <= 0 {
		return upToDate
	}
	return units.Size(n)
}

// Look returns a state with the roles of its processes, as the servers tell them: of those that
// answer, within a few seconds.
func Look(ctx context.Context, dir string, st State) State {
	s, err := find(st.Name)
	if err != nil || s.look == nil || st.Condition == Starting {
		return st
	}
	h, err := newHost(dir, s, Options{})
	if err != nil {
		return st
	}
	if h.rec, err = load(h.Dir); err != nil {
		return st
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = s.look(ctx, h) // what is missing is not shown
	for i := range st.Processes {
		if p := h.rec.process(st.Processes[i].Name); p != nil && st.Processes[i].Alive {
			st.Processes[i].Role, st.Processes[i].Of, st.Processes[i].Behind = p.Role, p.Of, p.Behind
		}
	}
	return st
}
