package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
)

func TestDriversAreComplete(t *testing.T) {
	names, schemes := map[string]bool{}, map[string]bool{}
	for _, d := range drivers.All() {
		assert.False(t, names[d.Name], d.Name)
		names[d.Name] = true
		assert.NotEmpty(t, d.Title, d.Name)
		assert.NotNil(t, d.Open, d.Name)
		require.NotEmpty(t, d.Schemes, d.Name)
		_, example, err := drivers.Parse(d.Example)
		require.NoError(t, err)
		assert.Equal(t, d.Name, example.Name)
		for _, s := range d.Schemes {
			assert.False(t, schemes[s], s)
			schemes[s] = true
			assert.Contains(t, store.Schemes(), s)
			got, err := drivers.ByScheme(s)
			require.NoError(t, err)
			assert.Equal(t, d.Name, got.Name)
		}
	}
}

func TestEverySchemeOpensOrSaysWhatDoes(t *testing.T) {
	opens := 0
	for _, s := range store.Schemes() {
		_, err := drivers.ByScheme(s)
		if err == nil {
			opens++
			continue
		}
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), s)
		assert.Contains(t, fault.HintOf(err), "embedded:", s)
	}
	assert.Positive(t, opens)
	_, err := drivers.ByScheme("reddis")
	require.Error(t, err)
	assert.Contains(t, fault.HintOf(err), "redis")
}

func TestParse(t *testing.T) {
	target, d, err := drivers.Parse("redis://h1?db=1")
	require.NoError(t, err)
	assert.Equal(t, "redis", d.Name)
	assert.Equal(t, []string{"h1"}, target.Hosts)
	for in, hint := range map[string]string{
		"redis://h1?dbb=1":            "did you mean db",
		"embedded:?conections=1":      "did you mean connections",
		"null:?x=1":                   "takes no parameters",
		"memory:?latencie=1ms":        "did you mean latency",
		"coherence://h1?conections=1": "did you mean connections",
		"rediss://h1?servernam=x":     "did you mean servername",
		"redis+cluster://h1?xyzzy=1":  "perfbench list stores shows all",
		"redis://h1?consistency=q":    "",
		"unix:///x?dial_timeouts=1":   "did you mean dial_timeout",
	} {
		_, _, err := drivers.Parse(in)
		require.Error(t, err, in)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), in)
		assert.Contains(t, fault.HintOf(err), hint, in)
	}
}

func TestOpen(t *testing.T) {
	for _, in := range []string{"memory:", "null:", "embedded:"} {
		target, err := store.ParseTarget(in)
		require.NoError(t, err)
		c, err := drivers.Open(t.Context(), target, store.OpenOptions{})
		require.NoError(t, err)
		info, err := c.Info(t.Context())
		require.NoError(t, err)
		assert.NotEmpty(t, info.NoFigure, in)
		require.NoError(t, c.Close())
	}
	target, err := store.ParseTarget("memory:?laten=1ms")
	require.NoError(t, err)
	_, err = drivers.Open(t.Context(), target, store.OpenOptions{})
	assert.ErrorContains(t, err, `unknown parameter "laten"`)
}
