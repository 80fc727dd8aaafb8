// Package facts reads --facts files: what a client cannot know about the environment of
// a run, such as the machines, what runs on each of them, and how it was started.
// Formats that have fields for this use it to fill in what was not measured.
package facts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/workload"
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
// input and are joined, each one sentence with the line.
func Parse(path string, data []byte, components []string) (*Facts, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fault.Input(fmt.Errorf("%s: not YAML: %w", path, preset.YAMLError(err, data)), "the documentation of the format has an example")
	}
	r := &reader{path: path, components: components, f: &Facts{Topology: map[string]string{}, Software: map[string]Software{}, Arguments: map[string][]string{}}}
	if len(doc.Content) == 0 {
		return nil, fault.Input(fmt.Errorf("%s: the file of --facts is empty", path), "it may have "+strings.Join(sections, ", "))
	}
	r.file(doc.Content[0])
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	return r.f, nil
}

var sections = []string{"cluster", "machines", "topology", "software", "arguments", "remarks"}

type reader struct {
	path       string
	components []string
	f          *Facts
	problems   workload.Problems
	places     []*yaml.Node // the machines that the topology mentions
}

func (r *reader) bad(n *yaml.Node, hint, format string, args ...any) {
	r.problems.Add(fault.Input(fmt.Errorf("%s:%d: %s", r.path, n.Line, fmt.Sprintf(format, args...)), hint))
}

func (r *reader) file(n *yaml.Node) {
	r.each(n, "the file", sections, func(k, v *yaml.Node) {
		switch k.Value {
		case "cluster":
			r.f.Cluster = r.machine(v, "cluster", false)
		case "machines":
			r.list(v, "machines", func(i *yaml.Node) { r.f.Machines = append(r.f.Machines, r.machine(i, "a machine", true)) })
		case "topology":
			r.each(v, "topology", r.components, func(k, v *yaml.Node) {
				r.f.Topology[k.Value] = r.text(v, "topology."+k.Value)
				r.places = append(r.places, v)
			})
		case "software":
			r.each(v, "software", r.components, func(k, v *yaml.Node) { r.f.Software[k.Value] = r.software(v, k.Value) })
		case "arguments":
			r.each(v, "arguments", r.components, func(k, v *yaml.Node) {
				r.list(v, "arguments."+k.Value, func(i *yaml.Node) {
					r.f.Arguments[k.Value] = append(r.f.Arguments[k.Value], r.text(i, "arguments."+k.Value))
				})
			})
		case "remarks":
			r.list(v, "remarks", func(i *yaml.Node) { r.f.Remarks = append(r.f.Remarks, r.text(i, "a remark")) })
		}
	})
	r.meet()
}

// meet checks that the topology mentions only existing machines.
func (r *reader) meet() {
	var names []string
	for _, m := range r.f.Machines {
		if slices.Contains(names, m.Name) {
			r.problems.Add(fault.Input(fmt.Errorf("%s: machines: %q is listed twice", r.path, m.Name), "give each its own name, or one of them a count"))
		}
		names = append(names, m.Name)
	}
	for _, n := range r.places {
		if n.Value != "" && !slices.Contains(names, n.Value) {
			r.bad(n, hintNear(n.Value, names), "topology: %q is not one of the machines", n.Value)
		}
	}
}

func hintNear(word string, words []string) string {
	if len(words) == 0 {
		return "describe it under machines"
	}
	return suggest.Hint(word, words)
}

// each calls f for every key of a mapping; a key that is not in known is an error.
func (r *reader) each(n *yaml.Node, what string, known []string, f func(k, v *yaml.Node)) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		r.bad(n, "", "%s is not a mapping of names to values", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch {
		case !slices.Contains(known, k.Value):
			r.bad(k, suggest.Hint(k.Value, known), "%s has no %q", what, k.Value)
		case seen[k.Value]:
			r.bad(k, "say it once", "%s has %q twice", what, k.Value)
		default:
			f(k, n.Content[i+1])
		}
		seen[k.Value] = true
	}
}

func (r *reader) list(n *yaml.Node, what string, f func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.bad(n, "write each on a line of its own after a -", "%s is not a list", what)
		return
	}
	for _, i := range n.Content {
		f(i)
	}
}

// text reads a value that must not be empty.
func (r *reader) text(n *yaml.Node, what string) string {
	s := strings.Join(strings.Fields(n.Value), " ")
	if n.Kind != yaml.ScalarNode || s == "" || n.Tag == "!!null" {
		r.bad(n, "leave out what is not known", "%s has no text", what)
		return ""
	}
	return s
}

var machineKeys = []string{"name", "count", "cpu", "ram", "disk", "remark"}

func (r *reader) machine(n *yaml.Node, what string, named bool) Machine {
	m := Machine{Count: 1}
	r.each(n, what, machineKeys, func(k, v *yaml.Node) {
		to := map[string]*string{"name": &m.Name, "cpu": &m.CPU, "ram": &m.RAM, "disk": &m.Disk, "remark": &m.Remark}[k.Value]
		if to != nil {
			*to = r.text(v, k.Value+" of "+what)
			return
		}
		var err error
		if m.Count, err = strconv.Atoi(v.Value); err != nil || m.Count < 1 || m.Count > 10_000 {
			r.bad(v, "", "count of %s: %q is not a whole number of 1 to 10000", what, v.Value)
			m.Count = 1
		}
	})
	if named && m.Name == "" && n.Kind == yaml.MappingNode {
		r.bad(n, "the topology refers to machines by their names", "%s has no name", what)
	}
	return m
}

func (r *reader) software(n *yaml.Node, component string) (s Software) {
	r.each(n, "software."+component, []string{"image", "version"}, func(k, v *yaml.Node) {
		text := r.text(v, "software."+component+"."+k.Value)
		if k.Value == "image" {
			s.Image = text
		} else {
			s.Version = text
		}
	})
	return s
}
