package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// unknown is shown for what is neither known nor given.
const unknown = "n/a"

// components are those that a file of facts may mention.
var components = []string{RoleOwn, RoleBroker, "cassandra", "redis", "mysql", "postgres"}

// checkFacts checks a --facts file.
func checkFacts(path string, data []byte) error {
	_, err := parseGiven(path, data, components)
	return err
}

// deployment is what ran where: the components, their machines and their software, as
// seen or otherwise as given.
type deployment struct {
	given     *surroundings
	store     rundir.Store
	driver    string // of the store
	schema    string // of the events in the store
	transport string
	cpus      any // of perfbench's machine, if known
	machine   Machine
	seen      func(role string) *Process
}

func newDeployment(src *source) *deployment {
	return &deployment{
		given: src.given, store: src.run.Store, driver: src.f.Store, schema: src.f.Schema, transport: src.f.Transport,
		cpus: src.run.Environment["cpus"], machine: src.f.Machine, seen: src.f.Process,
	}
}

// within reports whether a store is a part of perfbench.
func within(driver string) bool {
	return slices.Contains([]string{"embedded", "memory", "null", "sqlite"}, driver)
}

// storeRole returns the component that stores.
func (d *deployment) storeRole() string {
	if within(d.driver) {
		return RoleOwn
	}
	return storeProcess(d.driver)
}

// hasBroker reports whether there was a broker between generators and store stage.
func (d *deployment) hasBroker() bool { return d.transport != ViaDirect }

// parts returns the components that took part in the run.
func (d *deployment) parts() []string {
	out := []string{RoleOwn}
	if d.hasBroker() {
		out = append(out, RoleBroker)
	}
	if !within(d.driver) {
		out = append(out, d.storeRole())
	}
	return out
}

// ownMachine is the name of the machine of perfbench if it was not given one.
const ownMachine = "machine of perfbench"

// machineOf returns the name of a component's machine: as given, or that of perfbench
// if the process was seen there.
func (d *deployment) machineOf(component string) string {
	if name := d.given.Topology[component]; name != "" {
		return name
	}
	if component == RoleOwn {
		return ownMachine
	}
	if p := d.seen(component); p != nil && p.PID > 0 {
		return d.machineOf(RoleOwn)
	}
	return unknown
}

// hardware writes the section on machines.
func hardware(w *page, d *deployment) {
	c := d.given.Cluster
	w.printf("## Hardware configuration\n\n### Cluster\n\n")
	w.bullets("", [2]string{"CPU", c.CPU}, [2]string{"RAM", c.RAM}, [2]string{"Disk", c.Disk})
	w.printf("\n### Virtual machines are deployed on the cluster:\n\n")
	for _, m := range d.machines() {
		name := fmt.Sprintf("+ **%s**", m.Name)
		if m.Count > 1 {
			name += fmt.Sprintf(" - x%d", m.Count)
		}
		w.printf("%s\n", name)
		w.bullets("  ", [2]string{"CPU", m.CPU}, [2]string{"RAM", m.RAM})
		for _, p := range [][2]string{{"Disk", m.Disk}, {"Remark", m.Remark}} {
			if p[1] != "" {
				w.bullets("  ", p)
			}
		}
	}
	w.printf("\n")
}

// machines returns those given and, if none were, those of the components; perfbench
// knows its own.
func (d *deployment) machines() []host {
	list := slices.Clone(d.given.Machines)
	for _, c := range d.parts() {
		name := d.machineOf(c)
		if name == unknown {
			name = "machine of " + c
		}
		if !slices.ContainsFunc(list, func(m host) bool { return m.Name == name }) {
			list = append(list, host{Name: name, Count: 1})
		}
	}
	for i := range list {
		if m := &list[i]; m.Name == d.machineOf(RoleOwn) {
			cpu := d.machine.Processor
			if d.cpus != nil {
				cpu = strings.TrimSuffix(fmt.Sprintf("%v core, %s", d.cpus, cpu), ", ")
			}
			m.CPU = cmp.Or(m.CPU, cpu)
			if d.machine.Memory > 0 {
				m.RAM = cmp.Or(m.RAM, memory(float64(d.machine.Memory)))
			}
		}
	}
	return list
}

// software writes the section on servers.
func software(w *page, d *deployment) {
	w.printf("## Software configuration\n\n### RabbitMQ\n\n")
	if d.hasBroker() {
		image := cmp.Or(d.given.Software[RoleBroker].Image, unknown)
		if server, _, ok := strings.Cut(d.transport, " at "); ok {
			image += " (" + server + ")"
		}
		w.bullets("", [2]string{"VM", d.machineOf(RoleBroker)}, [2]string{"Docker image", image})
		d.arguments(w, RoleBroker, false)
	} else {
		none := unknown + ": no broker, via=direct"
		w.bullets("", [2]string{"VM", none}, [2]string{"Docker image", none})
	}
	role := d.storeRole()
	w.printf("\n### Cassandra\n\n")
	if role != "cassandra" {
		w.bullets("", [2]string{"In its place", d.storeName()})
	}
	version := cmp.Or(strings.TrimSpace(d.store.Version), d.given.Software[role].Version)
	if image := d.given.Software[role].Image; image != "" {
		version = cmp.Or(version, unknown) + " (" + image + ")"
	}
	w.bullets("", [2]string{"VM", d.machineOf(role)}, [2]string{"Version", version})
	d.arguments(w, role, true)
	w.printf("\n")
}

// storeName returns the name that the store reports.
func (d *deployment) storeName() string {
	name := cmp.Or(strings.TrimSpace(d.store.Product+" "+d.store.Version), d.driver, unknown)
	if within(d.driver) {
		name += ", within perfbench"
	}
	return name
}

// arguments lists the arguments of a component's runtime: as seen, or otherwise as
// given.
func (d *deployment) arguments(w *page, role string, always bool) {
	list := d.given.Arguments[role]
	if p := d.seen(role); p != nil && len(p.JavaArgs) > 0 {
		list = p.JavaArgs
	}
	switch {
	case len(list) > 0:
		w.printf("+ **Special java args**:\n")
		for _, a := range list {
			w.printf("  + %s\n", a)
		}
	case always && role != "cassandra":
		w.bullets("", [2]string{"Special java args", unknown + ": it has no JVM"})
	case always:
		w.bullets("", [2]string{"Special java args", unknown})
	}
}
