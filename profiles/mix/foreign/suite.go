package foreign

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// suite is a suite of redis-benchmarks-specification: YAML around one command line, or
// two, of which the first loads.
type suite struct {
	notes
	path, name string
	load, run  yaml.Node
}

const suiteTool = "redis-benchmarks-specification"

// What is said of keys that describe a suite, and of those that are about its machines.
const (
	describes = "no effect: it describes the suite"
	machines  = "no effect: perfbench runs where it is started, against a server that is there"
)

func readSuite(path string, n yaml.Node) (*model.Workload, []workload.FileKey, error) {
	s := &suite{path: path}
	for key, value := range n.Pairs() {
		s.top(key, value)
	}
	if s.run.Kind() != yaml.Scalar && Refusal(s.notes) == nil {
		n.Fail("", "this suite has no clientconfig with arguments, so there is nothing to run")
	}
	if err := n.Err(); err != nil {
		return nil, nil, err
	}
	if s.run.Kind() != yaml.Scalar {
		return &model.Workload{Name: s.name}, s.notes, nil
	}
	run, err := s.command(s.run)
	if err != nil {
		return nil, nil, err
	}
	if s.load.Kind() == yaml.Scalar {
		load, err := s.command(s.load)
		if err != nil {
			return nil, nil, err
		}
		run.loadedBy(load)
	}
	w := run.workload()
	w.Name = s.name
	return w, append(s.notes, run.notes...), nil
}

// command reads the arguments of a tool.
func (s *suite) command(n yaml.Node) (*memtier, error) {
	commands, err := commandsOf(s.path, n.Text(), n.Line())
	switch {
	case err != nil:
		return nil, err
	case len(commands) != 1:
		return nil, fault.Input(fmt.Errorf("%s: arguments: expected the options of one command of %s", n.Where(), memtierTool), "")
	}
	words := commands[0]
	if isMemtier(words[0]) {
		words = words[1:]
	}
	return newMemtier(s.path, n.Line(), words), nil
}

// top reads a key of the suite.
func (s *suite) top(key, value yaml.Node) {
	where, name := key.Where(), key.Text()
	switch name {
	case "name":
		if value.Kind() == yaml.Scalar {
			s.name = value.Text()
		}
		s.done(where, name)
	case "version", "description", "tested-groups", "tested-commands", "priority", "metadata":
		s.about(where, name, describes)
	case "redis-topologies", "build-variants", "setups", "platforms", "exporter", "resources":
		s.about(where, name, machines)
	case "clientconfig":
		s.client(name, value, &s.run)
	case "clientconfigs":
		switch items := value.Items(); len(items) {
		case 1:
			s.client(name, items[0], &s.run)
		default:
			s.refuse(where, name, "a run has one client with one command line, and this asks for %d at a time", len(items))
		}
	case "dbconfig":
		for k, v := range value.Pairs() {
			s.database(k, v)
		}
	default:
		s.unknown(where, name, suiteTool, []string{
			"name", "version", "description", "tested-groups", "tested-commands", "priority", "metadata", "redis-topologies", "build-variants", "clientconfig", "clientconfigs", "dbconfig",
		})
	}
}

// database reads a key of what is said of the server.
func (s *suite) database(key, value yaml.Node) {
	where, name := key.Where(), "dbconfig."+key.Text()
	switch key.Text() {
	case "configuration-parameters", "module-configuration-parameters", "resources", "topology":
		s.about(where, name, machines)
	case "check":
		s.about(where, name, "no effect: what is there before a run is checked record by record")
	case "preload_tool":
		s.client(name, value, &s.load)
	case "init_commands", "init_lua", "dataset", "dataset_name", "dataset_load_timeout_secs":
		s.refuse(where, name, "nothing is written before a run but records that --key-minimum to --key-maximum of preload_tool say; bring the server into this state, and take the key out")
	default:
		s.unknown(where, name, suiteTool, []string{
			"dbconfig.configuration-parameters", "dbconfig.resources", "dbconfig.check", "dbconfig.preload_tool", "dbconfig.init_commands", "dbconfig.init_lua", "dbconfig.dataset", "dbconfig.dataset_name",
		})
	}
}

// client reads what is said of a tool that is run, and keeps its arguments.
func (s *suite) client(under string, n yaml.Node, to *yaml.Node) {
	if !n.IsMapping() {
		n.Fail("", "%s is not a mapping with tool and arguments", under)
		return
	}
	for key, value := range n.Pairs() {
		where, name := key.Where(), under+"."+key.Text()
		switch key.Text() {
		case "tool":
			if tool := strings.TrimSpace(scalar(value)); tool != memtierTool {
				s.refuse(where, name, "%q: only command lines of %s are read", tool, memtierTool)
				continue
			}
			s.done(where, name)
		case "arguments":
			if value.Kind() != yaml.Scalar {
				value.Fail("", "%s: expected the options in one line", name)
				continue
			}
			*to = value
			s.done(where, name)
		case "run_image", "resources", "min-tool-version", "min-tool-memory":
			s.about(where, name, machines)
		default:
			s.unknown(where, name, suiteTool, []string{under + ".tool", under + ".arguments", under + ".run_image", under + ".resources"})
		}
	}
}

// scalar returns a plain value, "" for any other node.
func scalar(n yaml.Node) string {
	if n.Kind() != yaml.Scalar {
		return ""
	}
	return n.Text()
}
