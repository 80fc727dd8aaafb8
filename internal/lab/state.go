package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/powercut"
)

// Condition says whether a service is running.
type Condition string

// The conditions of a service.
const (
	// Running means that all of its processes are alive.
	Running Condition = "running"
	// Partial means that some of its processes are alive.
	Partial Condition = "partial"
	// Dead means that none of its processes is alive. Down deletes what is left.
	Dead Condition = "dead"
	// Starting means that its start has not finished, or was cut short without time to
	// clean up. Up and Down both clean it up.
	Starting Condition = "starting"
)

// State is the current state of a service: an immutable copy.
type State struct {
	Name      string    `json:"name"`
	Condition Condition `json:"status"`
	URL       string    `json:"url"` // for --target; never contains a password
	// Jolokia is the URL at which a Java server reports over HTTP what its JVM
	// measures: "http://127.0.0.1:12345/jolokia/", to be followed by
	// "read/java.lang:type=Memory". Empty for a server that is not Java or has no such
	// agent.
	Jolokia   string    `json:"jolokia,omitempty"`
	Version   string    `json:"version"` // as reported by the server; may be empty
	Dir       string    `json:"dir"`
	Started   time.Time `json:"started"` // when it became ready
	Processes []Process `json:"processes"`
	// Disk is the file system that has the servers' data, if their power can be cut.
	Disk *Disk `json:"disk,omitempty"`
	// Primary is the process that takes writes, where the lab decides which one does.
	Primary string `json:"primary,omitempty"`
}

// Uptime is the time since the service became ready, 0 unless it is Running or
// Partial.
func (s State) Uptime() time.Duration {
	if s.Condition != Running && s.Condition != Partial {
		return 0
	}
	return time.Since(s.Started).Round(time.Second)
}

// record is State as it is stored, with private details.
type record struct {
	State
	Args []string  `json:"args,omitempty"` // may contain a password; only the user can read the file
	TLS  *TLSFiles `json:"tls,omitempty"`
	Tied bool      `json:"tied,omitempty"`
	// Away is another folder of ours outside Dir, deleted with it.
	Away string `json:"away,omitempty"`
}

// live returns the state with the current condition of the processes.
func (r *record) live() State {
	s := r.State
	s.Processes = append([]Process(nil), s.Processes...)
	if s.Disk != nil {
		disk := *s.Disk
		if disk.Alive = IsAlive(disk.Process); disk.Alive {
			disk.Slow = powercut.Slowed(disk.At)
		}
		s.Disk = &disk
	}
	alive := 0
	for i := range s.Processes {
		p := &s.Processes[i]
		if p.Alive = IsAlive(*p); p.Alive {
			alive++
			p.Paused = Stopped(*p)
		}
	}
	switch {
	case s.Condition == Starting:
	case alive == 0:
		s.Condition = Dead
	case alive < len(s.Processes):
		s.Condition = Partial
	default:
		s.Condition = Running
	}
	return s
}

// process returns the process of that name, or nil.
func (r *record) process(name string) *Process {
	for i := range r.Processes {
		if r.Processes[i].Name == name {
			return &r.Processes[i]
		}
	}
	return nil
}

func (r *record) ports() []int {
	var ports []int
	for _, p := range r.Processes {
		_, port, _ := net.SplitHostPort(p.Addr)
		if n, err := strconv.Atoi(port); err == nil {
			ports = append(ports, n)
		}
	}
	return ports
}

const stateFile = "state.json"

// load reads the record below a service's folder. The error is os.ErrNotExist if there
// is none.
func load(dir string) (*record, error) {
	path := filepath.Join(dir, stateFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &record{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// unreadable is the advice for a damaged record: nobody knows which processes belong to
// it.
func unreadable(dir string) string {
	return "end its servers by hand, then delete " + dir
}

// save replaces the record in one step, so that readers never see a partial one.
func (r *record) save() error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(r.Dir, stateFile)
	if err := os.WriteFile(path+".new", append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Scheme begins a target that names a service of the lab: "lab:redis".
const Scheme = "lab:"

// Resolve turns "lab:redis" into the URL of the running service, keeping parameters
// ("lab:redis?db=3"). Any other target is returned unchanged. The error for a service
// that is not running wraps ErrNotRunning and says how to start it; that for none of that name
// lists those that run.
func Resolve(dir, target string) (string, error) {
	name, ok := strings.CutPrefix(target, Scheme)
	if !ok {
		return target, nil
	}
	name, params, _ := strings.Cut(name, "?")
	if _, err := find(name); err != nil {
		return "", unknown(dir, name)
	}
	up := "perfbench lab up " + name
	r, err := load(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "", fault.Store(fmt.Errorf("target %s%s: %w", Scheme, name, ErrNotRunning), up)
	}
	if err != nil {
		return "", fault.Store(fmt.Errorf("target %s%s: %w", Scheme, name, err), unreadable(filepath.Join(dir, name)))
	}
	switch s := r.live(); s.Condition {
	case Running, Partial:
		return withParams(s.URL, params), nil
	case Starting:
		return "", fault.Store(fmt.Errorf("target %s%s: its start has not ended", Scheme, name), up)
	default:
		return "", fault.Store(fmt.Errorf("target %s%s: %w any more", Scheme, name, ErrNotRunning), s.Cure())
	}
}

// unknown refuses the name of a service that there is not.
func unknown(dir, name string) error {
	running, all := Targets(dir)
	is := "nothing is running"
	if len(running) > 0 {
		is = "running: " + strings.Join(running, ", ")
	}
	what := "there is no such service"
	if name == "" {
		what = "names no service"
	}
	first := strings.TrimPrefix(all[0], Scheme)
	hint := "perfbench lab up " + first + " starts one; perfbench lab up --help shows all"
	if near := fault.Nearest(Scheme+name, all); near != "" && name != "" {
		hint = fmt.Sprintf("did you mean %s? perfbench lab up %s starts one, perfbench lab up --help shows all", near, strings.TrimPrefix(near, Scheme))
	}
	return fault.Input(fmt.Errorf("target %s: %s; %s", strings.TrimSuffix(Scheme+name, ":"), what, is), hint)
}

// Targets returns the targets of the services below dir that run, and of all that the lab can
// start, in the order of its list.
func Targets(dir string) (running, all []string) {
	for _, s := range Services() {
		all = append(all, Scheme+s.Name)
		if r, err := load(filepath.Join(dir, s.Name)); err == nil {
			if c := r.live().Condition; c == Running || c == Partial {
				running = append(running, Scheme+s.Name)
			}
		}
	}
	return running, all
}

func withParams(url, params string) string {
	switch {
	case params == "":
		return url
	case strings.Contains(url, "?"):
		return url + "&" + params
	default:
		return url + "?" + params
	}
}

// OutOfHeap returns what the log of the server at a target says about its end, if it
// ended because it ran out of heap. It returns "" for servers that are still running,
// that ended for other reasons, or that do not belong to the lab below dir.
func OutOfHeap(dir, target string) string {
	all, _ := Status(dir) // nothing is known about a broken record
	for _, s := range all {
		for _, p := range s.Processes {
			if p.Alive || p.Addr == "" || !reaches(target, p.Addr) {
				continue
			}
			if said := lastWord(filepath.Join(p.Dir, "log"), "java.lang.OutOfMemoryError"); said != "" {
				return said
			}
		}
	}
	return ""
}

// lastWord returns the last line at the end of a log that contains a word, from that
// word on.
func lastWord(path, word string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const tail = 64 << 10
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, err = f.Seek(max(size-tail, 0), io.SeekStart)
		if err != nil {
			return ""
		}
	}
	text, _ := io.ReadAll(io.LimitReader(f, tail))
	at := strings.LastIndex(string(text), word)
	if at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(string(text[at:]), "\n")
	return strings.TrimSpace(line)
}

// Agent returns the URL of the Jolokia agent of the running server at a target, where
// its JVM reports what it measures. It returns "" for servers that do not belong to the
// lab below dir or have no such agent.
func Agent(dir, target string) string {
	all, _ := Status(dir) // nothing is known about a broken record
	for _, s := range all {
		for _, p := range s.Processes {
			if s.Jolokia != "" && p.Alive && reaches(target, p.Addr) {
				return s.Jolokia
			}
		}
	}
	return ""
}
