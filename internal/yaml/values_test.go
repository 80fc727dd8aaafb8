package yaml_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
)

func TestValues(t *testing.T) {
	vs, err := yaml.Values("a.yaml", []byte("# top\nthreads: 16\nprofile:\n  testCase: put\n  payload: 1KiB\nmapNames: [eligibility, profile]\nempty:\ncompat: on\nplain.name: 010\n"), nil)
	require.NoError(t, err)
	nth := 0
	file := func(name, text, where string) workload.Value {
		nth++
		return workload.Value{Name: name, Text: text, Origin: workload.OriginFile, Where: where, Order: nth}
	}
	assert.Equal(t, []workload.Value{
		file("threads", "16", "a.yaml:2"),
		file("profile.testCase", "put", "a.yaml:4"),
		file("profile.payload", "1KiB", "a.yaml:5"),
		file("mapNames", "eligibility,profile", "a.yaml:6"),
		file("empty", "", "a.yaml:7"),
		file("compat", "on", "a.yaml:8"),
		file("plain.name", "010", "a.yaml:9"),
	}, vs)
	vs, err = yaml.Values("b.yaml", []byte("# only a comment\n"), nil)
	require.NoError(t, err)
	assert.Empty(t, vs)
}

func TestValuesNameTheirPlaces(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no YAML", "a: [", "a.yaml:1: not YAML"},
		{"a list at the top", "- a\n- b", "a.yaml:1:1: expected lines of the form name: value"},
		{"a repeated name, once nested", "a.b: 1\na:\n  b: 2", "a.yaml:3:3: a.b is already on line 1"},
		{"a list in a list", "x: 1\na: [[b]]", "a.yaml:2:5: a: an item of a list must be a plain value"},
		{"an alias", "a: &x 1\nb: *x", "a.yaml:2:4: b: anchors"},
		{"a mapping as a name", "{a: b}: c", "a.yaml:1:1: a name must be plain text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := yaml.Values("a.yaml", []byte(c.text), nil)
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		})
	}
}

func FuzzValues(f *testing.F) {
	f.Add([]byte("a: 1\nb: {c: [d, e]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		vs, err := yaml.Values("f", data, nil)
		if err != nil {
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			return
		}
		seen := map[string]bool{}
		for _, v := range vs {
			assert.False(t, seen[v.Name], "%s is returned once", v.Name)
			seen[v.Name] = true
			assert.Equal(t, workload.OriginFile, v.Origin)
		}
	})
}
