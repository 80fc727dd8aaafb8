package store

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

// answers is a server in a few words: what it answers, and how often it was asked.
type answers struct {
	say   map[Ability]error
	asked int
}

func questions(names ...Ability) []Question[*answers] {
	var out []Question[*answers]
	for _, n := range names {
		out = append(out, Question[*answers]{Trait{n, "the " + string(n), "less"}, func(_ context.Context, s *answers) error {
			s.asked++
			return s.say[n]
		}})
	}
	return out
}

func TestAServerIsAskedOnce(t *testing.T) {
	no := errors.New("NOPERM")
	s, table := &answers{say: map[Ability]error{"b": no, "c": ErrPointless}}, questions("a", "b", "c")
	var asked Asked
	for range 2 {
		got, err := Ask(t.Context(), &asked, table, s)
		require.NoError(t, err)
		assert.Equal(t, []Fact{{table[0].Trait, nil}, {table[1].Trait, no}}, got, "what does not arise is left out")
	}
	assert.Equal(t, 3, s.asked)
	assert.Equal(t, []Trait{table[0].Trait, table[1].Trait, table[2].Trait}, TraitsOf(table))
}

func TestWhatIsNotKnownIsAskedAgain(t *testing.T) {
	s := &answers{say: map[Ability]error{"a": ErrUnknown}}
	var asked Asked
	_, err := Ask(t.Context(), &asked, questions("a"), s)
	require.ErrorIs(t, err, ErrUnknown)
	delete(s.say, "a")
	got, err := Ask(t.Context(), &asked, questions("a"), s)
	require.NoError(t, err)
	assert.Len(t, got, 1)
}

func TestWhatIsLackingIsOneSentence(t *testing.T) {
	f := Facts{Where: "redis: h:1", All: []Fact{{Trait{"a", "wings", ""}, nil}, {Trait{"b", "fins", ""}, errors.New("ERR no")}}}
	require.NoError(t, f.Lacking([]Need{{Ability: "a"}, {Ability: "unheard of"}}))
	err := f.Lacking([]Need{{Ability: "a", For: "x"}, {Ability: "b", For: "mode=swim", Instead: "walk"}})
	require.EqualError(t, err, "redis: h:1: mode=swim needs fins, which this server lacks: ERR no")
	assert.Equal(t, "walk", fault.HintOf(err))
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
}
