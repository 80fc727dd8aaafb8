package session

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// faultWord is what an entry of the timetable begins with that breaks something.
const faultWord = "fault="

// healWord is what an entry after a fault begins with that ends it by a command.
const healWord = "heal="

// changesOf parts what an entry of a timetable changes at commas, which quotes keep together.
func changesOf(text string) []string {
	var out []string
	quote, begin := rune(0), 0
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ',':
			out = append(out, strings.TrimSpace(text[begin:i]))
			begin = i + 1
		}
	}
	return append(out, strings.TrimSpace(text[begin:]))
}

// healed takes apart a fault and what heals it, "" for nothing.
func healed(parts []string) (word, heal string, err error) {
	if len(parts) == 1 {
		return parts[0], "", nil
	}
	heal, ok := strings.CutPrefix(parts[1], healWord+workload.Exec+":")
	if !ok || strings.TrimSpace(heal) == "" || len(parts) > 2 {
		return "", "", fault.Input(fmt.Errorf("heal: %q is no command", strings.TrimPrefix(strings.Join(parts[1:], ","), healWord)), "write it like heal=exec:./back.sh")
	}
	return parts[0], heal, nil
}

// parseFault parses what follows faultWord, with what comes after it, and returns the beginning of
// the fault and, if it has one, its end. The plan gets the commands.
func parseFault(word string, after []string, from, to time.Duration, plan *workload.Plan) ([]tableEntry, error) {
	if len(after) > 0 && !strings.HasPrefix(after[0], healWord) {
		after = nil
	}
	_, heal, err := healed(append([]string{word}, after[:min(len(after), 1)]...))
	if err == nil && heal != "" && to == from {
		err = fault.Input(errors.New("heal: the fault has no end at which to heal it"), "give it a span, such as 20s..30s:fault=exec:./failover.sh,heal=exec:./back.sh")
	}
	if err != nil {
		return nil, err
	}
	if plan.Commands == nil {
		plan.Commands = &workload.Commands{}
	}
	kind, v, err := workload.ParseFault(word, heal, plan.Commands)
	if err != nil {
		return nil, err
	}
	name := workload.FaultKinds()[kind].Setting()
	entry := func(at time.Duration, v float64) tableEntry {
		return tableEntry{name: name, from: at, to: at, At: engine.At{Track: workload.AllTracks, Knob: workload.Knob{Name: name}, Value: v}}
	}
	if to == from {
		return []tableEntry{entry(from, v)}, nil
	}
	return []tableEntry{entry(from, v), entry(to, 0)}, nil
}

// brokenTwice refuses two faults of a kind at the same time: the end of one would end both.
func brokenTwice(list []tableEntry) error {
	var problems workload.Problems
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b tableEntry) int {
		return int(max(min(a.from-b.from, 1), -1))*2 + int(max(min(a.Value-b.Value, 1), -1)) // ends first
	})
	under := map[string]string{}
	for _, e := range list {
		if _, ok := workload.FaultSetting(e.name); !ok {
			continue
		}
		if before, ok := under[e.name]; ok && e.Value != 0 && before != e.text {
			problems.Add(fault.Input(fmt.Errorf("at %q: %q has the same fault then", e.text, before), "let one end before the other begins"))
		}
		if under[e.name] = e.text; e.Value == 0 {
			delete(under, e.name)
		}
	}
	return problems.Err()
}

// faultInWords describes the fault of a kind that begins with the first entry of a timetable, and
// nothing for its end.
func faultInWords(table []engine.At, kind int, plan *workload.Plan) []string {
	k := &workload.FaultKinds()[kind]
	at := table[0]
	if at.Value == 0 {
		return nil
	}
	what, help := k.Name, k.Help
	if command, ok := plan.Command(at.Value); ok && k.Means(at.Value) == workload.OfCommand {
		what += " of " + workload.JoinWords(command.Run)
		if help = "this command is run"; len(command.Heal) > 0 {
			help += ", and at its end " + workload.JoinWords(command.Heal)
		}
	} else if text := k.Format(at.Value); text != "on" {
		what += " of " + text
	}
	for _, end := range table[1:] {
		if end.Knob.Name == at.Knob.Name {
			return []string{fmt.Sprintf("from %s to %s: a fault, %s: %s", at.After, end.After, what, help)}
		}
	}
	return []string{fmt.Sprintf("from %s to the end: a fault, %s: %s", at.After, what, help)}
}

// allowed is what faults of a run there can be.
type allowed struct {
	// driver is that of the store. proxied reports whether the connections to it or, with via, to what
	// stands between, go through a proxy, or will.
	driver  *store.Driver
	proxied func(via bool) bool
	// servers is that of Prepared.
	servers func(via bool) Servers
	plan    *workload.Plan
	// exec lets commands be run.
	exec bool
}

// allowed returns what faults there can be, by hand as the run goes.
func (p *Prepared) allowed() (*allowed, error) {
	d := p.Driver
	if p.binding.Target != "" { // the store is another than the target names
		var err error
		if _, d, err = p.env.Drivers.Parse(p.binding.Target); err != nil {
			return nil, err
		}
	}
	return &allowed{driver: &d, proxied: p.proxied, servers: p.servers, plan: p.Plan, exec: p.env.AllowExec}, nil
}

// table returns an error of bad input if a timetable has faults that cannot be.
func (a *allowed) table(table []engine.At) error {
	var problems workload.Problems
	for _, at := range table {
		if kind, ok := workload.FaultSetting(at.Knob.Name); ok && at.Value != 0 {
			problems.Add(a.fault(kind, at.Value))
		}
	}
	return problems.Err()
}

// fault returns an error of bad input if there cannot be a fault.
func (a *allowed) fault(kind int, v float64) error {
	k := &workload.FaultKinds()[kind]
	if k.Via && a.plan.Via == "" {
		return fault.Input(fmt.Errorf("at: the fault %s is of a broker between the callers and the store, and this run has none", k.Name), "leave out via. for the store itself; --set via=lab:rabbitmq has event-store use a broker")
	}
	switch k.Means(v) {
	case workload.OfServer:
		return haveRole(a.servers(k.Via), k, v)
	case workload.OfCommand:
		return a.command(v)
	}
	switch {
	case !k.Via && a.driver.Breaks == store.BreaksNothing:
		return fault.Input(fmt.Errorf("at: the fault %s is of the connection to a server, and %s has none", k.Name, a.driver.Title), "name a server with --target, or memory:")
	case !a.proxied(k.Via):
		return fault.Input(fmt.Errorf("at: %s needs --breakable, or breakable on in the form: %w", k.Name, workload.ErrDirect), "begin the run with it")
	}
	return k.Check(k.Via || a.driver.Breaks == store.BreaksConnections)
}

// parse reads a fault as it is typed while a run goes: as --at has it, with what heals it. Errors
// have the code of bad input; a fault that there cannot be is one.
func (a *allowed) parse(text string, commands *workload.Commands) (kind int, v float64, err error) {
	text, heal, err := healed(changesOf(text))
	if err != nil {
		return 0, 0, err
	}
	if kind, v, err = workload.ParseFault(text, heal, commands); err != nil {
		return 0, 0, err
	}
	return kind, v, a.fault(kind, v)
}

// command returns an error of bad input if a command cannot be run.
func (a *allowed) command(v float64) error {
	one, ok := a.plan.Command(v)
	if !ok {
		return fmt.Errorf("fault: there is no command %d", int(v))
	}
	if !a.exec {
		return fault.Input(fmt.Errorf("at: %s takes --allow-exec on the command line, since it runs a command on this machine: %s", workload.Exec, workload.JoinWords(one.Run)),
			"add --allow-exec if you know what the command does")
	}
	for _, argv := range [][]string{one.Run, one.Heal} {
		if len(argv) == 0 {
			continue
		}
		if _, err := exec.LookPath(argv[0]); err != nil {
			return fault.Input(fmt.Errorf("at: the command %s of a fault cannot be run: %w", argv[0], reason(err)), "a name is looked for in PATH, and a path from the folder that perfbench is started in")
		}
	}
	return nil
}

// reason is what a system says of a program, without its name.
func reason(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// newProxy returns what the connections of a run go through; nil if they are direct.
func (p *Prepared) newProxy() *proxy.Proxy {
	if !p.proxied(false) {
		return nil
	}
	return proxy.New()
}

// proxied reports whether the connections to the target or, with via, to what stands between, go
// through a proxy.
func (p *Prepared) proxied(via bool) bool {
	if via && p.Plan.Via == "" {
		return false
	}
	return p.Inputs.Breakable || slices.ContainsFunc(p.Timetable, func(at engine.At) bool {
		kind, ok := workload.FaultSetting(at.Knob.Name)
		k := &workload.FaultKinds()[max(kind, 0)]
		return ok && at.Value != 0 && k.Via == via && k.Means(at.Value) == workload.OfConnections
	})
}

// HasFaults reports whether a timetable breaks anything.
func HasFaults(table []engine.At) bool {
	return slices.ContainsFunc(table, func(at engine.At) bool { return strings.HasPrefix(at.Knob.Name, "fault-") })
}
