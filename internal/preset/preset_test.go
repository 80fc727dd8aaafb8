package preset_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestRead(t *testing.T) {
	vs, err := preset.Read("a.yaml", []byte("# top\nthreads: 16\nprofile:\n  testCase: put\n  payload: 1KiB\nmapNames: [eligibility, profile]\nempty:\ncompat: on\nplain.name: 010\n"))
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
	vs, err = preset.Read("b.yaml", []byte("# only a comment\n"))
	require.NoError(t, err)
	assert.Empty(t, vs)
}

func TestReadNamesLines(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no YAML", "a: [", "a.yaml: not YAML: line 1"},
		{"a list at the top", "- a\n- b", "a.yaml:1: expected lines of the form name: value"},
		{"a repeated name, once nested", "a.b: 1\na:\n  b: 2", "a.yaml:3: a.b is already on line 1"},
		{"a list in a list", "x: 1\na: [[b]]", "a.yaml:2: a: an item of a list must be a plain value"},
		{"an alias", "a: &x 1\nb: *x", "a.yaml:2: b: anchors"},
		{"a mapping as a name", "{a: b}: c", "a.yaml:1: a name must be plain text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := preset.Read("a.yaml", []byte(c.text))
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		})
	}
}

func TestListAndLoad(t *testing.T) {
	fsys := fstest.MapFS{
		"small.yaml": {Data: []byte("# A few\n#   seconds.\n\n# not this\nthreads: 2\n")},
		"big.yaml":   {Data: []byte("threads: 64\n")},
		"note.txt":   {Data: []byte("no preset")},
	}
	all, err := preset.List(fsys)
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, "big", all[0].Name)
	assert.Empty(t, all[0].Description)
	assert.Equal(t, "A few seconds.", all[1].Description)

	vs, err := preset.Load(fsys, "small")
	require.NoError(t, err)
	assert.Equal(t, []workload.Value{{Name: "threads", Text: "2", Origin: workload.OriginPreset, Where: "small", Order: 1}}, vs)
	_, err = preset.Load(fsys, "smal")
	require.ErrorContains(t, err, `unknown preset "smal"`)
	assert.Equal(t, "did you mean small? perfbench list presets shows all", fault.HintOf(err))
	all, err = preset.List(nil)
	require.NoError(t, err)
	assert.Empty(t, all)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("a: 1\nb: {c: [d, e]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		vs, err := preset.Read("f", data)
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
