package yaml

import (
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// ofValues is the form of a file of values.
var ofValues = Form{Example: "a file of values has lines such as  threads: 16", Keys: fault.SeeKnobs}

// Values parses a file of named values, in order, as values of origin OriginFile with
// "name:line" as Where: flat names, or mappings whose names are joined with points, so
// that
//
//	profile:
//	  testCase: put
//
// is profile.testCase=put. A list becomes its items separated by commas. stranger returns
// advice about a name that there is not, and "" for any other; it may be nil. Errors have
// the code of bad input.
func Values(path string, data []byte, stranger func(name string) string) ([]workload.Value, error) {
	top, err := ofValues.Parse(path, data)
	if err != nil || top.Kind() == Nothing {
		return nil, err
	}
	f := flat{lines: map[string]int{}, stranger: stranger}
	f.mapping("", top)
	return f.values, top.Err()
}

// Values returns the named values of a mapping, as the function of that name does for a
// whole file. What is wrong is noted.
func (n Node) Values() []workload.Value {
	if n.Kind() != Mapping {
		n.Fail("", "expected lines of the form name: value")
		return nil
	}
	f := flat{lines: map[string]int{}}
	f.mapping("", n)
	return f.values
}

// flat joins names with points.
type flat struct {
	values   []workload.Value
	lines    map[string]int
	stranger func(name string) string
}

func (f *flat) mapping(prefix string, n Node) {
	for key, value := range n.Pairs() {
		if key.Kind() != Scalar {
			key.Fail("", "a name must be plain text")
			continue
		}
		f.value(prefix+key.Text(), key, value)
	}
}

func (f *flat) value(name string, key, n Node) {
	switch n.Kind() {
	case Mapping:
		f.mapping(name+".", n)
	case Scalar:
		text := n.Text()
		if n.IsNull() {
			text = ""
		}
		f.put(name, text, key)
	case List:
		if items, ok := n.Texts(name); ok {
			f.put(name, strings.Join(items, ","), key)
		}
	default:
		n.Fail("", "%s: anchors and aliases are not supported here", name)
	}
}

func (f *flat) put(name, text string, at Node) {
	if first, ok := f.lines[name]; ok {
		at.Fail("", "%s is already on line %d", name, first)
		return
	}
	f.lines[name] = at.Line()
	v := at.Value(name, workload.OriginFile)
	v.Text, v.Order = text, len(f.values)+1
	f.values = append(f.values, v)
	if f.stranger == nil {
		return
	}
	if hint := f.stranger(name); hint != "" {
		at.Unknown(hint, "there is no knob or parameter %q", name)
	}
}
