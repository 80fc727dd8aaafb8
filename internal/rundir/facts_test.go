package rundir_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

func TestDamagedFactsNameTheField(t *testing.T) {
	t.Parallel()
	type facts struct {
		Maps []struct{ Done int }
	}
	for text, want := range map[string]string{
		`{"Maps":[{"Done":"x"}]}`: "facts of run 1: facts.Maps.Done is a string, and a int belongs there",
		`[]`:                      "facts of run 1: facts is a array",
		`{`:                       "facts of run 1: unexpected end of JSON input",
	} {
		r := rundir.Run{ID: "1", Facts: json.RawMessage(text)}
		ok, err := r.DecodeFacts(&facts{})
		assert.False(t, ok)
		require.ErrorIs(t, err, rundir.ErrDamaged, text)
		assert.ErrorContains(t, err, want)
	}
	for _, text := range []string{"", "null"} {
		r := rundir.Run{Facts: json.RawMessage(text)}
		ok, err := r.DecodeFacts(&facts{})
		assert.NoError(t, err)
		assert.False(t, ok)
	}
}

// A format that breaks over damaged facts, or makes names of them, does no harm.
func TestDocumentsOfDamagedFacts(t *testing.T) {
	t.Parallel()
	f := &rundir.Folder{Run: rundir.Run{ID: "1"}}
	var list []int
	_, err := rundir.Format{Encode: func(*rundir.Folder) ([]rundir.File, error) { list[3]++; return nil, nil }}.Documents(f)
	assert.ErrorIs(t, err, rundir.ErrDamaged)
	files, err := rundir.Format{Encode: func(*rundir.Folder) ([]rundir.File, error) { return []rundir.File{{Name: "a\x1b[31m\nb.txt"}}, nil }}.Documents(f)
	require.NoError(t, err)
	assert.Equal(t, "a_[31m_b.txt", files[0].Name)
}
