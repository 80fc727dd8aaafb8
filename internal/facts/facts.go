// Package facts reads --facts files: what a client cannot know about the environment of
// a run, such as the machines, what runs on each of them, and how it was started.
// Formats that have fields for this use it to fill in what was not measured.
package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/yaml"
)

// Facts is the content of a file. What it does not mention is empty.
type Facts struct {
	// Cluster is the hardware that the machines run on.
	Cluster Machine
	// Machines are those that take part, virtual or not.
	Machines []Machine
	// Topology names the machine of each component, Software its version or image, and
	// Arguments those with which it was started.
	Topology  map[string]string
	Software  map[string]Software
	Arguments map[string][]string
	// Remarks are sentences to repeat.
	Remarks []string
}

// Machine is one machine, or several identical ones.
type Machine struct {
	Name           string
	Count          int // 1 unless the file says otherwise
	CPU, RAM, Disk string
	Remark         string
}

// Software identifies what a component runs.
type Software struct{ Image, Version string }

// Example shows every key. Formats that read facts document it.
const Example = `cluster:                  # the hardware below the machines
  name: performance lab
  cpu: 2 x Xeon Gold 5218
  ram: 768 GB
  disk: 5 SSDs of 3.5 TB, RAID 5
machines:
  - name: node-1
    count: 1              # of machines alike
    cpu: 11 core
    ram: 30 GB
  - name: db
    cpu: 4 core
    ram: 8 GB
    disk: 200 GB SSD
    remark: shared with nobody
topology:                 # the machine of each component
  perfbench: node-1
  rabbitmq: node-1
  cassandra: db
software:                 # what the servers do not say of themselves
  rabbitmq: {image: "docker.io/bitnami/rabbitmq:3.11.2"}
  cassandra: {version: 4.0.5}
arguments:                # that a component was started with
  cassandra: [-Xms4G, -Xmx4G]
remarks:
  - The network between the machines has 10 Gbit/s.
`

// Parse parses a file of facts about these components. All errors have the code of bad
// input and are joined, each one sentence with its place.
func Parse(path string, data []byte, components []string) (*Facts, error) {
	top, err := yaml.Form{Example: "the documentation of the format has an example"}.Parse(path, data)
	switch {
	case err != nil:
		return nil, err
	case top.Kind() == yaml.Nothing:
		return nil, fault.Input(fmt.Errorf("%s: the file of --facts is empty", path), "it may have "+strings.Join(sections, ", "))
	}
	r := &reader{components: components, f: &Facts{Topology: map[string]string{}, Software: map[string]Software{}, Arguments: map[string][]string{}}}
	r.file(top)
	if err := top.Err(); err != nil {
		return nil, err
	}
	return r.f, nil
}

var sections = []string{"cluster", "machines", "topology", "software", "arguments", "remarks"}

type reader struct {
	components []string
	f          *Facts
	names      []string    // of the machines
	places     []yaml.Node // the machines that the topology mentions
}

func (r *reader) file(top yaml.Node) {
	top.Each(yaml.Keys{What: "the file", Names: sections}, func(k, v yaml.Node) {
		what := k.Text()
		switch what {
		case "cluster":
			r.f.Cluster = machine(v, what)
		case "machines":
			list(v, what, r.machine)
		case "topology":
			r.each(v, what, func(component string, v yaml.Node) {
				r.f.Topology[component] = text(v, "topology."+component)
				r.places = append(r.places, v)
			})
		case "software":
			r.each(v, what, func(component string, v yaml.Node) { r.f.Software[component] = software(v, component) })
		case "arguments":
			r.each(v, what, func(component string, v yaml.Node) {
				list(v, "arguments."+component, func(i yaml.Node) {
					r.f.Arguments[component] = append(r.f.Arguments[component], text(i, "arguments."+component))
				})
			})
		case "remarks":
			list(v, what, func(i yaml.Node) { r.f.Remarks = append(r.f.Remarks, text(i, "a remark")) })
		}
	})
	for _, n := range r.places {
		if n.Text() != "" && !slices.Contains(r.names, n.Text()) {
			hint := "describe it under machines"
			if len(r.names) > 0 {
				hint = n.Nearest(r.names)
			}
			n.Fail(hint, "topology: %q is not one of the machines", n.Text())
		}
	}
}

// each calls f for every component of a mapping.
func (r *reader) each(n yaml.Node, what string, f func(component string, v yaml.Node)) {
	n.Each(yaml.Keys{What: what, Names: r.components}, func(k, v yaml.Node) { f(k.Text(), v) })
}

func list(n yaml.Node, what string, f func(yaml.Node)) {
	if n.Kind() != yaml.List {
		n.Fail("write each on a line of its own after a -", "%s is not a list", what)
	}
	for _, i := range n.Items() {
		f(i)
	}
}

// text reads a value that must not be empty.
func text(n yaml.Node, what string) string {
	s := strings.Join(strings.Fields(n.Text()), " ")
	if n.Kind() != yaml.Scalar || s == "" || n.IsNull() {
		n.Fail("leave out what is not known", "%s has no text", what)
		return ""
	}
	return s
}

// machine reads one of the machines, which the topology refers to.
func (r *reader) machine(n yaml.Node) {
	m := machine(n, "a machine")
	switch {
	case m.Name == "" && n.Kind() == yaml.Mapping:
		n.Fail("the topology refers to machines by their names", "a machine has no name")
	case slices.Contains(r.names, m.Name):
		n.Fail("give each its own name, or one of them a count", "machines: %q is listed twice", m.Name)
	}
	if m.Name != "" {
		r.names = append(r.names, m.Name)
	}
	r.f.Machines = append(r.f.Machines, m)
}

func machine(n yaml.Node, what string) Machine {
	m := Machine{Count: 1}
	n.Each(yaml.Keys{What: what, Names: []string{"name", "count", "cpu", "ram", "disk", "remark"}}, func(k, v yaml.Node) {
		if k.Text() == "count" {
			m.Count = int(v.Whole("count of "+what, 1, 10_000))
			return
		}
		*map[string]*string{"name": &m.Name, "cpu": &m.CPU, "ram": &m.RAM, "disk": &m.Disk, "remark": &m.Remark}[k.Text()] = text(v, k.Text()+" of "+what)
	})
	return m
}

func software(n yaml.Node, component string) (s Software) {
	what := "software." + component
	n.Each(yaml.Keys{What: what, Names: []string{"image", "version"}}, func(k, v yaml.Node) {
		*map[string]*string{"image": &s.Image, "version": &s.Version}[k.Text()] = text(v, what+"."+k.Text())
	})
	return s
}
