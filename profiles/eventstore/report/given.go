package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/yaml"
)

// surroundings is the content of a file of --facts: what a client cannot know about the
// environment of a run, such as the machines, what runs on each of them, and how it was started.
// What it does not mention is empty.
type surroundings struct {
	// Cluster is the hardware that the machines run on.
	Cluster host
	// Machines are those that take part, virtual or not.
	Machines []host
	// Topology names the machine of each component, Software its version or image, and
	// Arguments those with which it was started.
	Topology  map[string]string
	Software  map[string]program
	Arguments map[string][]string
	// Remarks are sentences to repeat.
	Remarks []string
}

// host is one machine, or several identical ones.
type host struct {
	Name           string
	Count          int // 1 unless the file says otherwise
	CPU, RAM, Disk string
	Remark         string
}

// program identifies what a component runs.
type program struct{ Image, Version string }

// exampleGiven shows every key; the documentation has it.
const exampleGiven = `cluster:                  # the hardware below the machines
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

// parseGiven parses a file of facts about these components. All errors have the code of bad
// input and are joined, each one sentence with its place.
func parseGiven(path string, data []byte, components []string) (*surroundings, error) {
	top, err := yaml.Form{Example: "the documentation of the format has an example"}.Parse(path, data)
	switch {
	case err != nil:
		return nil, err
	case top.Kind() == yaml.Nothing:
		return nil, fault.Input(fmt.Errorf("%s: the file of --facts is empty", path), "it may have "+strings.Join(givenSections, ", "))
	}
	r := &givenReader{components: components, f: &surroundings{Topology: map[string]string{}, Software: map[string]program{}, Arguments: map[string][]string{}}}
	r.file(top)
	if err := top.Err(); err != nil {
		return nil, err
	}
	return r.f, nil
}

var givenSections = []string{"cluster", "machines", "topology", "software", "arguments", "remarks"}

type givenReader struct {
	components []string
	f          *surroundings
	names      []string    // of the machines
	places     []yaml.Node // the machines that the topology mentions
}

func (r *givenReader) file(top yaml.Node) {
	top.Each(yaml.Keys{What: "the file", Names: givenSections}, func(k, v yaml.Node) {
		what := k.Text()
		switch what {
		case "cluster":
			r.f.Cluster = hostOf(v, what)
		case "machines":
			itemsOf(v, what, r.machine)
		case "topology":
			r.each(v, what, func(component string, v yaml.Node) {
				r.f.Topology[component] = textOf(v, "topology."+component)
				r.places = append(r.places, v)
			})
		case "software":
			r.each(v, what, func(component string, v yaml.Node) { r.f.Software[component] = programOf(v, component) })
		case "arguments":
			r.each(v, what, func(component string, v yaml.Node) {
				itemsOf(v, "arguments."+component, func(i yaml.Node) {
					r.f.Arguments[component] = append(r.f.Arguments[component], textOf(i, "arguments."+component))
				})
			})
		case "remarks":
			itemsOf(v, what, func(i yaml.Node) { r.f.Remarks = append(r.f.Remarks, textOf(i, "a remark")) })
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
func (r *givenReader) each(n yaml.Node, what string, f func(component string, v yaml.Node)) {
	n.Each(yaml.Keys{What: what, Names: r.components}, func(k, v yaml.Node) { f(k.Text(), v) })
}

func itemsOf(n yaml.Node, what string, f func(yaml.Node)) {
	if n.Kind() != yaml.List {
		n.Fail("write each on a line of its own after a -", "%s is not a list", what)
	}
	for _, i := range n.Items() {
		f(i)
	}
}

// text reads a value that must not be empty.
func textOf(n yaml.Node, what string) string {
	s := strings.Join(strings.Fields(n.Text()), " ")
	if n.Kind() != yaml.Scalar || s == "" || n.IsNull() {
		n.Fail("leave out what is not known", "%s has no text", what)
		return ""
	}
	return s
}

// machine reads one of the machines, which the topology refers to.
func (r *givenReader) machine(n yaml.Node) {
	m := hostOf(n, "a machine")
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

func hostOf(n yaml.Node, what string) host {
	m := host{Count: 1}
	n.Each(yaml.Keys{What: what, Names: []string{"name", "count", "cpu", "ram", "disk", "remark"}}, func(k, v yaml.Node) {
		if k.Text() == "count" {
			m.Count = int(v.Whole("count of "+what, 1, 10_000))
			return
		}
		*map[string]*string{"name": &m.Name, "cpu": &m.CPU, "ram": &m.RAM, "disk": &m.Disk, "remark": &m.Remark}[k.Text()] = textOf(v, k.Text()+" of "+what)
	})
	return m
}

func programOf(n yaml.Node, component string) (s program) {
	what := "software." + component
	n.Each(yaml.Keys{What: what, Names: []string{"image", "version"}}, func(k, v yaml.Node) {
		*map[string]*string{"image": &s.Image, "version": &s.Version}[k.Text()] = textOf(v, what+"."+k.Text())
	})
	return s
}
