package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	given "github.com/perfbench/perfbench/internal/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
)

// unknown is shown for what is neither known nor given.
const unknown = "n/a"

// components are those that a file of facts may mention.
var components = []string{facts.RoleOwn, facts.RoleBroker, "cassandra", "redis", "mysql", "postgres"}

// factsExample is the file of facts that the documentation shows.
const factsExample = given.Example

// checkFacts checks a --facts file.
func checkFacts(path string, data []byte) error {
	_, err := given.Parse(path, data, components)
	return err
}

// inside reports whether the run's store is within perfbench.
func (r *reporter) inside() bool {
	return slices.Contains([]string{"embedded", "memory", "null", "sqlite"}, r.f.Store)
}

// storeRole returns the component that stores.
func (r *reporter) storeRole() string {
	if r.inside() {
		return facts.RoleOwn
	}
	return cmp.Or(r.f.Store, "cassandra")
}

// hasBroker reports whether there was a broker between generators and store stage.
func (r *reporter) hasBroker() bool { return r.f.Transport != facts.ViaDirect }

// parts returns the components that took part in the run.
func (r *reporter) parts() []string {
	out := []string{facts.RoleOwn}
	if r.hasBroker() {
		out = append(out, facts.RoleBroker)
	}
	if !r.inside() {
		out = append(out, r.storeRole())
	}
	return out
}

// ownMachine is the name of the machine of perfbench if it was not given one.
const ownMachine = "machine of perfbench"

// machineOf returns the name of a component's machine: as given, or that of perfbench
// if the process was seen there.
func (r *reporter) machineOf(component string) string {
	if name := r.given.Topology[component]; name != "" {
		return name
	}
	if component == facts.RoleOwn {
		return ownMachine
	}
	if p := r.f.Process(component); p != nil && p.PID > 0 {
		return r.machineOf(facts.RoleOwn)
	}
	return unknown
}

// bullets writes a list, with a name and a text in each line.
func (r *reporter) bullets(indent string, pairs ...[2]string) {
	for _, p := range pairs {
		r.printf("%s+ **%s**: %s\n", indent, p[0], cmp.Or(p[1], unknown))
	}
}

// hardware writes the section on machines.
func (r *reporter) hardware() {
	c := r.given.Cluster
	r.printf("## Hardware configuration\n\n### Cluster\n\n")
	r.bullets("", [2]string{"CPU", c.CPU}, [2]string{"RAM", c.RAM}, [2]string{"Disk", c.Disk})
	r.printf("\n### Virtual machines are deployed on the cluster:\n\n")
	for _, m := range r.machines() {
		name := fmt.Sprintf("+ **%s**", m.Name)
		if m.Count > 1 {
			name += fmt.Sprintf(" - x%d", m.Count)
		}
		r.printf("%s\n", name)
		r.bullets("  ", [2]string{"CPU", m.CPU}, [2]string{"RAM", m.RAM})
		for _, p := range [][2]string{{"Disk", m.Disk}, {"Remark", m.Remark}} {
			if p[1] != "" {
				r.bullets("  ", p)
			}
		}
	}
	r.printf("\n")
}

// machines returns those given and, if none were, those of the components; perfbench
// knows its own.
func (r *reporter) machines() []given.Machine {
	list := slices.Clone(r.given.Machines)
	for _, c := range r.parts() {
		name := r.machineOf(c)
		if name == unknown {
			name = "machine of " + c
		}
		if !slices.ContainsFunc(list, func(m given.Machine) bool { return m.Name == name }) {
			list = append(list, given.Machine{Name: name, Count: 1})
		}
	}
	for i := range list {
		if m := &list[i]; m.Name == r.machineOf(facts.RoleOwn) {
			cpu := r.f.Machine.Processor
			if n, ok := r.run.Environment["cpus"]; ok {
				cpu = strings.TrimSuffix(fmt.Sprintf("%v core, %s", n, cpu), ", ")
			}
			m.CPU = cmp.Or(m.CPU, cpu)
			if r.f.Machine.Memory > 0 {
				m.RAM = cmp.Or(m.RAM, memory(float64(r.f.Machine.Memory)))
			}
		}
	}
	return list
}

// software writes the section on servers.
func (r *reporter) software() {
	r.printf("## Software configuration\n\n### RabbitMQ\n\n")
	if r.hasBroker() {
		image := cmp.Or(r.given.Software[facts.RoleBroker].Image, unknown)
		if server, _, ok := strings.Cut(r.f.Transport, " at "); ok {
			image += " (" + server + ")"
		}
		r.bullets("", [2]string{"VM", r.machineOf(facts.RoleBroker)}, [2]string{"Docker image", image})
		r.arguments(facts.RoleBroker, false)
	} else {
		none := unknown + ": no broker, via=direct"
		r.bullets("", [2]string{"VM", none}, [2]string{"Docker image", none})
	}
	role := r.storeRole()
	r.printf("\n### Cassandra\n\n")
	if role != "cassandra" {
		r.bullets("", [2]string{"In its place", r.storeName()})
	}
	version := cmp.Or(strings.TrimSpace(r.run.Store.Version), r.given.Software[role].Version)
	if image := r.given.Software[role].Image; image != "" {
		version = cmp.Or(version, unknown) + " (" + image + ")"
	}
	r.bullets("", [2]string{"VM", r.machineOf(role)}, [2]string{"Version", version})
	r.arguments(role, true)
	r.printf("\n")
}

// storeName returns the name that the store reports.
func (r *reporter) storeName() string {
	name := cmp.Or(strings.TrimSpace(r.run.Store.Product+" "+r.run.Store.Version), r.f.Store, unknown)
	if r.inside() {
		name += ", within perfbench"
	}
	return name
}

// arguments lists the arguments of a component's runtime: as seen, or otherwise as
// given.
func (r *reporter) arguments(role string, always bool) {
	list := r.given.Arguments[role]
	if p := r.f.Process(role); p != nil && len(p.JavaArgs) > 0 {
		list = p.JavaArgs
	}
	switch {
	case len(list) > 0:
		r.printf("+ **Special java args**:\n")
		for _, a := range list {
			r.printf("  + %s\n", a)
		}
	case always && role != "cassandra":
		r.bullets("", [2]string{"Special java args", unknown + ": it has no JVM"})
	case always:
		r.bullets("", [2]string{"Special java args", unknown})
	}
}

// parameters writes the section on what was run.
func (r *reporter) parameters() {
	r.printf("## th2 components configuration\n\n### woodpecker\n\n```yaml\n%s```\n\n### estore\n\n```yaml\n%s```\n\n", r.woodpecker(), r.estore())
	r.printf("## performance test parameters\n\n### cradle parameters\n\n")
	if r.f.Page == "" {
		r.printf("%s\n\n", unknown)
	} else {
		r.printf("A single page, %s, of book %s takes all events of the run; their scope is %s.\n\n", r.f.Page, r.f.Book, r.f.Scope)
	}
	r.printf("### events parameters\n\n")
	for _, p := range [][2]string{{"tree structure", r.trees()}, {"body", r.body()}, {"attached messages", r.f.Config["attachedMessages"]}, {"status", r.status()}} {
		r.printf("* %s: %s\n", p[0], cmp.Or(p[1], unknown))
	}
	generators := unknown
	if len(r.steps) > 0 {
		generators = fmt.Sprintf("x%d", r.steps[0].Generators)
	}
	r.printf("\n### steps parameters for woodpeckers %s\n\n", generators)
	var rows [][]string
	for _, s := range r.steps {
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Batch), minutes(s.Seconds())})
	}
	r.table([]string{"step", "maxBatchSize", "duration"}, rows)
}

// minutes formats a duration as the original does, short ones in seconds.
func minutes(seconds float64) string {
	if seconds < 60 {
		return number("%.3g s", seconds)
	}
	return number("%.3g min", seconds/60)
}

func (r *reporter) trees() string {
	c := r.f.Config
	shape := fmt.Sprintf("%s levels below the root, %s children of a node", c["treeDepth"], c["childCount"])
	switch c["generationMode"] {
	case generate.SingleRoot:
		if c["treeDepth"] == "0" {
			return "one root for each generator, several children in batches"
		}
		return "one tree for each generator (" + shape + "), several children of a leaf in batches"
	case generate.MultiRoot:
		return fmt.Sprintf("%s trees for each generator (%s), several children of a leaf in batches", c["roots"], shape)
	case generate.Mixed:
		return fmt.Sprintf("%s trees for each generator (%s), several children of a leaf in batches, every tenth batch without a parent", c["roots"], shape)
	}
	return ""
}

func (r *reporter) body() string {
	var sizes []string
	for _, s := range r.steps {
		if size := fmt.Sprint(s.Payload); !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	switch all := strings.Join(sizes, ", "); {
	case all == "":
		return ""
	case r.f.Config["bodyKind"] == generate.BodyRandom:
		return "text made of " + all + " random bytes"
	case r.f.Config["bodyKind"] == generate.BodyTable:
		return "generated JSON of " + all + " bytes"
	}
	return ""
}

func (r *reporter) status() string {
	switch rate := r.f.Config["failureRate"]; rate {
	case "":
		return ""
	case "0":
		if r.f.Compat {
			return "success, but one in 1000 FAILED (compat=on)"
		}
		return "success"
	default:
		return rate + " of 1000 FAILED"
	}
}
