package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/units"
)

// Faults says how large each kind of fault is, by its index in FaultKinds; 0: there is none.
type Faults [atTarget + atVia]float64

// How many kinds of faults are of the target, and how many of what the connections to it lead via.
const (
	atTarget = 12
	atVia    = atTarget - 1 // without commands, which are of neither
)

// ErrDirect is why a run cannot have a fault of its connections that it could have if they were
// breakable: they do not go through a proxy.
var ErrDirect = errors.New("the connections of this run are direct")

// FaultKind is one way in which a store, or what is between it and its callers, can be broken.
type FaultKind struct {
	// Name is as users type it: "delay", "via.delay". Value describes what follows it, "" if nothing
	// does.
	Name, Value, Help string
	// Kind is Name without the place. Via means that the fault is of what stands between the callers
	// and the store (Plan.Via), rather than of the store.
	Kind string
	Via  bool
	// Examples are faults of the kind as users type them, one for each thing that it can be of.
	Examples []string
	// read reads the value, and text writes it; nil: there is none, and 1 stands for the fault.
	read func(text string) (float64, error)
	text func(v float64) string
	// set has a proxy do it; nil: it is no fault of connections.
	set func(s *proxy.State, v float64)
	// wire means that it needs a connection, and cannot happen to calls within this process.
	wire bool
	// roles means that the value is the role of the server that the fault is of, alone that it can
	// be without one, and then is of the connections.
	roles, alone bool
	// disk means that it is of the file system that the primary's data are on.
	disk bool
	// command means that the value is a command of the user, which Commands have by their numbers.
	command bool
}

// Means is what carries a fault out.
type Means int

const (
	// OfConnections is done by a proxy between the callers and their servers.
	OfConnections Means = iota
	// OfServer is done to the process of a server of the lab.
	OfServer
	// OfCommand is done by a command of the user.
	OfCommand
)

// Means returns what carries out a fault of the kind.
func (k *FaultKind) Means(v float64) Means {
	switch {
	case k.command:
		return OfCommand
	case k.Role(v) != "":
		return OfServer
	}
	return OfConnections
}

// Roles of the servers of a store that faults can be of, by their values from firstRole on; 1 is
// the value of a fault without one.
var serverRoles = [...]string{"primary", "replica"}

const (
	firstRole = 2
	// tornCut is the value of a power cut of the primary in the middle of what was being written, and
	// tornWord how users type it.
	tornCut  = firstRole + float64(len(serverRoles))
	tornWord = "torn"
)

// Role returns the role of the server that a fault of the kind is of: "primary", "replica"; "" if it
// is of the connections.
func (k *FaultKind) Role(v float64) string {
	if k.disk || k.Torn(v) {
		return serverRoles[0]
	}
	if i := int(v) - firstRole; k.roles && i >= 0 && i < len(serverRoles) {
		return serverRoles[i]
	}
	return ""
}

// Torn reports whether a fault of the kind is a power cut that tears what is being written: of what
// was not synced, each sector is lost or not.
func (k *FaultKind) Torn(v float64) bool { return k.Kind == PowerCut && v == tornCut }

// Kinds that are of servers. By PowerCut one loses what it had not synced, by Kill nothing that the
// system has.
const (
	Kill     = "kill"
	PowerCut = "power-cut"
	// SlowSync is the name of the kind by which a server waits for its disk.
	SlowSync = "slow-fsync"
)

// Exec is the name of the kind that is a command of the user.
const Exec = "exec"

// FaultKinds returns the kinds, in the order to show them. It must not be changed.
func FaultKinds() []FaultKind { return faultKinds[:] }

var faultKinds = everywhere()

// viaPrefix is what the name of a fault begins with that is of what stands between.
const viaPrefix = "via."

// everywhere returns the kinds that are of the target, and then those that are of what stands between.
func everywhere() (all [len(Faults{})]FaultKind) {
	copy(all[:], targetKinds[:])
	at := atTarget
	for i := range targetKinds {
		k := &all[i]
		if k.Kind = k.Name; k.command {
			continue
		}
		all[at] = *k
		all[at].Via, all[at].Name, all[at].Help, all[at].Examples = true, viaPrefix+k.Name, "of the broker: "+k.Help, nil
		for _, e := range k.Examples {
			all[at].Examples = append(all[at].Examples, viaPrefix+e)
		}
		at++
	}
	return all
}

var targetKinds = [atTarget]FaultKind{
	{Name: "delay", Value: "TIME", Help: "every answer comes so much later", Examples: []string{"delay:5ms"}, read: readMs, text: textMs, set: func(s *proxy.State, v float64) { s.Delay = ofMs(v) }},
	{Name: "jitter", Value: "TIME", Help: "every answer comes up to so much later, evenly spread", Examples: []string{"jitter:5ms"}, read: readMs, text: textMs, set: func(s *proxy.State, v float64) { s.Jitter = ofMs(v) }},
	{Name: "loss", Value: "SHARE", Help: "so many of the pieces sent are lost, which TCP sends again 200 ms later", Examples: []string{"loss:1%"}, read: readShare, text: textShare, set: func(s *proxy.State, v float64) { s.Loss = v / 100 }},
	{Name: "bandwidth", Value: "SIZE/s", Help: "so much passes in a second, over all connections, in each direction", Examples: []string{"bandwidth:1MB/s"}, read: readBandwidth, text: textBandwidth, set: func(s *proxy.State, v float64) { s.Bandwidth = v }, wire: true},
	{Name: "half-open", Help: "connections are taken, and nothing is ever answered on them", Examples: []string{"half-open"}, set: func(s *proxy.State, _ float64) { s.HalfOpen = true }},
	{Name: "refused", Help: "connections are reset, and new ones refused", Examples: []string{"refused"}, set: func(s *proxy.State, _ float64) { s.Refused = true }},
	{Name: "pause", Help: "nothing passes or is lost until it ends; with a role, that process stops", Examples: []string{"pause", "pause:primary", "pause:replica"}, read: readRole, text: textRole, set: func(s *proxy.State, v float64) { s.Paused = v < firstRole }, roles: true, alone: true},
	{Name: Kill, Value: "ROLE", Help: "that server is killed, and started again when the fault ends", Examples: []string{"kill:primary", "kill:replica"}, read: readRole, text: textRole, roles: true},
	{Name: PowerCut, Value: "ROLE", Help: "as kill, and loses what was not synced (torn: by sectors, on the primary)", Examples: []string{"power-cut:primary", "power-cut:torn"}, read: readCut, text: textCut, roles: true},
	{Name: SlowSync, Value: "TIME", Help: "each sync to disk by the server takes so much longer", Examples: []string{"slow-fsync:50ms"}, read: readMs, text: textMs, disk: true},
	{Name: "address", Help: "the server moves: open connections are dead, new ones reach it", Examples: []string{"address"}, set: func(s *proxy.State, _ float64) { s.Moved = true }, wire: true},
	{Name: Exec, Value: "COMMAND", Help: "a command of yours is run, and another when the fault ends, if there is one", Examples: []string{"exec:"}, text: textCommand, command: true},
}

// faultPrefix is what the names of faults among the settings begin with.
const faultPrefix = "fault-"

// FaultSetting returns the kind of fault that a setting is about; false if it is about none.
func FaultSetting(name string) (kind int, ok bool) {
	rest, ok := strings.CutPrefix(name, faultPrefix)
	kind = slices.IndexFunc(faultKinds[:], func(k FaultKind) bool { return k.Name == rest })
	return kind, ok && kind >= 0
}

// Setting is the name of a fault of the kind among the settings: "fault-delay".
func (k *FaultKind) Setting() string { return faultPrefix + k.Name }

// Format writes how large the fault is: "5ms", "1%", "on"; "none" for 0.
func (k *FaultKind) Format(v float64) string {
	switch {
	case v == 0:
		return "none"
	case k.text == nil:
		return "on"
	}
	return k.text(v)
}

const faultExample = "for example 20s..30s:fault=delay:5ms, 20s..22s:fault=pause"

// ParseFault reads a fault, such as "delay:5ms" or "pause", and returns its kind and how large
// it is. heal is the command at the end of one that is a command, "" for none; commands gets both.
// Errors have the code of bad input.
func ParseFault(text, heal string, commands *Commands) (kind int, v float64, err error) {
	name, value, given := strings.Cut(strings.TrimSpace(text), ":")
	kind = slices.IndexFunc(faultKinds[:], func(k FaultKind) bool { return k.Name == name })
	if kind < 0 {
		var all []string
		for _, k := range faultKinds {
			all = append(all, k.Name)
		}
		return 0, 0, fault.Input(fmt.Errorf("fault: %q is not one of %s", name, strings.Join(all[:atTarget], ", ")), fault.Suggest(name, all, faultExample))
	}
	k := &faultKinds[kind]
	if heal != "" && !k.command {
		return 0, 0, fault.Input(fmt.Errorf("fault: heal is for %s, and %s ends by itself", Exec, name), "leave heal out")
	}
	switch {
	case k.command && given:
		v, err = commands.parse(value, heal)
		return kind, v, err
	case k.read == nil && !k.command && given:
		return 0, 0, fault.Input(fmt.Errorf("fault: %s takes no value, and %q was given", name, value), "write fault="+name)
	case k.read == nil && !k.command, k.alone && !given:
		return kind, 1, nil
	case !given:
		return 0, 0, fault.Input(fmt.Errorf("fault: the %s of %s is missing", strings.ToLower(k.Value), name), "write fault="+name+":"+k.Value+"; "+faultExample)
	default:
		v, err = k.read(value)
		if err != nil {
			err = fault.Input(fmt.Errorf("fault: %s: %q is not %w", name, value, err), faultExample)
		}
		return kind, v, err
	}
}

// Check returns an error of bad input if the fault cannot be had where there are no connections.
func (k *FaultKind) Check(connections bool) error {
	if k.wire && !connections {
		return fault.Input(fmt.Errorf("fault: %s needs a connection, and this store is within perfbench", k.Name), "use delay, jitter, loss, half-open, refused or pause")
	}
	return nil
}

// Link returns what a proxy before the target does for the faults or, with via, one before what
// stands between.
func (f Faults) Link(via bool) (s proxy.State) {
	for i, v := range f {
		if k := &faultKinds[i]; v != 0 && k.set != nil && k.Via == via {
			k.set(&s, v)
		}
	}
	return s
}

// longestDelay is the longest that a fault may delay an answer.
const longestDelay = time.Minute

func readMs(text string) (float64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > longestDelay {
		return 0, errors.New("a time up to 1m such as 5ms")
	}
	return float64(d) / float64(time.Millisecond), nil
}

// Time returns how long a fault takes whose value is a time.
func (k *FaultKind) Time(v float64) time.Duration { return ofMs(v) }

func ofMs(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

func textMs(v float64) string { return ofMs(v).String() }

func readShare(text string) (float64, error) {
	rest, ok := strings.CutSuffix(text, "%")
	v, err := units.ParseNumber(rest)
	if !ok || err != nil || v <= 0 || v > 100 {
		return 0, errors.New("a share above 0 such as 1%")
	}
	return v, nil
}

func textShare(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) + "%" }

func readRole(text string) (float64, error) {
	if text == "standby" { // what PostgreSQL calls it
		text = "replica"
	}
	i := slices.Index(serverRoles[:], text)
	if i < 0 {
		return 0, errors.New("primary or replica")
	}
	return float64(i + firstRole), nil
}

func textRole(v float64) string {
	if v < firstRole {
		return "on"
	}
	return serverRoles[int(v)-firstRole]
}

func readCut(text string) (float64, error) {
	if text == tornWord {
		return tornCut, nil
	}
	v, err := readRole(text)
	if err != nil {
		err = errors.New("primary, replica or torn")
	}
	return v, err
}

func textCut(v float64) string {
	if v == tornCut {
		return tornWord
	}
	return textRole(v)
}

func readBandwidth(text string) (float64, error) {
	n, err := units.ParseSize(strings.TrimSuffix(text, "/s"))
	if err != nil || n <= 0 {
		return 0, errors.New("a size per second such as 1MB/s")
	}
	return float64(n), nil
}

// textBandwidth writes a bandwidth exactly, as it is read.
func textBandwidth(v float64) string {
	n := int64(v)
	text := strconv.FormatInt(n, 10)
	for _, u := range []struct {
		name string
		size int64
	}{{"KB", 1e3}, {"KiB", 1 << 10}, {"MB", 1e6}, {"MiB", 1 << 20}, {"GB", 1e9}, {"GiB", 1 << 30}} {
		if n%u.size == 0 {
			text = strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return text + "/s"
}
