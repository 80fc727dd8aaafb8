package yaml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/yaml"
)

var form = yaml.Form{Example: "write  a: 1", Several: "one file each", Keys: "the manual has all"}

// read reads the keys number, and inner with the key deep.
func read(top yaml.Node) (number int64) {
	top.Each(yaml.Keys{What: "the file", Names: []string{"number", "inner"}}, func(key, value yaml.Node) {
		switch key.Text() {
		case "number":
			number = value.Whole("number", 1, 1_000_000)
		case "inner":
			value.Each(yaml.Keys{What: "inner", Names: []string{"deep"}}, func(_, value yaml.Node) { value.Texts("deep") })
		}
	})
	return number
}

func TestEachMistakeNamesFileLineAndColumn(t *testing.T) {
	for _, c := range []struct{ name, text, want, hint string }{
		{"no YAML", "a: [", "f.yaml:1: not YAML: did not find expected node content", "write  a: 1"},
		{"a list", "- a\n", "f.yaml:1:1: expected lines of the form name: value", "write  a: 1"},
		{"two documents", "number: 1\n---\nnumber: 2\n", "f.yaml:2:1: begins another document", "one file each"},
		{"an unknown key", "number: 1\n" + "nubmer: 2\n", `f.yaml:2:1: the file has no key "nubmer"`, "did you mean number? the manual has all"},
		{"an unknown key below", "inner: {dep: 1}\n", `f.yaml:1:9: inner has no key "dep"`, "did you mean deep?"},
		{"a repeated key", "inner:\n  deep: []\n  deep: []\n", "f.yaml:3:3: deep is already on line 2", ""},
		{"a text where keys are meant", "inner: yes\n", "f.yaml:1:8: inner is not a mapping of names to values", ""},
		{"a word for a number", "number: many\n", `f.yaml:1:9: number: "many" is not a whole number of 1 to 1000000`, ""},
		{"an item that is indented deeper", "number: 1\ninner:\n  deep:\n    - a: b\n    - 4s:c\n     - d\n", "f.yaml:6:6: this item of the list is indented deeper than the one above it", "column 5"},
		{"a list in a list", "inner: {deep: [[a]]}\n", "f.yaml:1:16: deep: an item of a list must be a plain value", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			top, err := form.Parse("f.yaml", []byte(c.text))
			if err == nil {
				read(top)
				err = top.Err()
			}
			require.ErrorContains(t, err, c.want)
			assert.Contains(t, fault.HintOf(fault.Parts(err)[0]), c.hint)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		})
	}
}

func TestNumbersAreAsWeWriteThem(t *testing.T) {
	for text, want := range map[string]int64{"7": 7, "10_000": 10_000, "10k": 10_000, "1e3": 1000} {
		top, err := form.Parse("f.yaml", []byte("number: "+text))
		require.NoError(t, err)
		assert.Equal(t, want, read(top), text)
		assert.NoError(t, top.Err(), text)
	}
}

func TestAFileThatSaysNothing(t *testing.T) {
	for _, text := range []string{"", "# only words\n", "null\n", "---\n"} {
		top, err := form.Parse("f.yaml", []byte(text))
		require.NoError(t, err)
		assert.Equal(t, yaml.Nothing, top.Kind(), text)
	}
}

// A mapping that has itself below it ends, and so does one of more keys than anybody writes.
func TestFilesAreBounded(t *testing.T) {
	top, err := form.First("f.yaml", []byte("a: &x\n  a: *x\n"))
	require.NoError(t, err)
	var down func(n yaml.Node)
	down = func(n yaml.Node) {
		for _, value := range n.Pairs() {
			down(value)
		}
	}
	down(top)
	require.EqualError(t, top.Err(), "f.yaml:2:3: more than 10000 keys")

	var b strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&b, "k%d: x\n", i)
	}
	_, err = form.Parse("f.yaml", []byte(b.String()))
	require.EqualError(t, err, "f.yaml:1:1: more than 10000 keys")
}
