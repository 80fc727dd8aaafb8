package dataset

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

func TestGeneratorIsDeterministicAndLikeTheOriginal(t *testing.T) {
	tier.Slow(t, tier.Computes)
	first, second := Generate("classic", 50, 25, 7), Generate("classic", 50, 25, 7)
	assert.Equal(t, first, second)
	assert.NotEqual(t, Generate("classic", 50, 25, 7), Generate("classic", 50, 25, 8))
	d := Generate("classic", 50, 25, 7)
	a, p := Sections(d, 3)
	a2, p2 := Sections(Generate("classic", 50, 25, 7), 3)
	assert.Equal(t, a+p, a2+p2)
	count := func(shape string, users, groups int, mode string) (float64, float64) {
		edges, allowed := 0.0, 0.0
		const seeds = 5
		for seed := range int64(seeds) {
			m, err := model.New(Generate(shape, users, groups, seed), mode, true)
			require.NoError(t, err)
			edges += float64(len(m.Edges)) / seeds
			o, role := model.NewOracle(m), int(m.Role("member"))
			for u := range users {
				for g := range 50 {
					if ok, _ := o.Allowed(int32(u), int32(users+g), role); ok {
						allowed += 100 / float64(seeds*users*50)
					}
				}
			}
		}
		return edges, allowed
	}
	edges, _ := count("classic", 500, 250, model.Committed)
	assert.InDelta(t, 590, edges, 40)
	edges, share := count("classic", 500, 250, model.Roles)
	assert.InDelta(t, 5360, edges, 700)
	assert.InDelta(t, 2, share, 1)
	nested, share := count("classic", 500, 250, model.Nested)
	assert.InDelta(t, 600, nested-edges, 120)
	assert.InDelta(t, 40, share, 12)
	edges, _ = count("hilary", 1000, 2000, model.Roles)
	assert.InDelta(t, 54000, edges, 4000)
	nested, _ = count("hilary", 1000, 2000, model.Nested)
	assert.InDelta(t, 160, nested-edges, 60)
}
