package authz

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGeneratorIsDeterministicAndLikeTheOriginal(t *testing.T) {
	first, second := generate("classic", 50, 25, 7), generate("classic", 50, 25, 7)
	assert.Equal(t, first, second)
	assert.NotEqual(t, generate("classic", 50, 25, 7), generate("classic", 50, 25, 8))
	d := generate("classic", 50, 25, 7)
	a, p := sectionsOf(d, 3)
	a2, p2 := sectionsOf(generate("classic", 50, 25, 7), 3)
	assert.Equal(t, a+p, a2+p2)
	count := func(shape string, users, groups int, mode string) (float64, float64) {
		edges, allowed := 0.0, 0.0
		const seeds = 5
		for seed := range int64(seeds) {
			m, err := newModel(generate(shape, users, groups, seed), mode, true)
			require.NoError(t, err)
			edges += float64(len(m.edges)) / seeds
			o, role := newOracle(m), int(m.role("member"))
			for u := range users {
				for g := range 50 {
					if ok, _ := o.allowed(int32(u), int32(users+g), role); ok {
						allowed += 100 / float64(seeds*users*50)
					}
				}
			}
		}
		return edges, allowed
	}
	edges, _ := count("classic", 500, 250, modeCommitted)
	assert.InDelta(t, 590, edges, 40)
	edges, share := count("classic", 500, 250, modeRoles)
	assert.InDelta(t, 5360, edges, 700)
	assert.InDelta(t, 2, share, 1)
	nested, share := count("classic", 500, 250, modeNested)
	assert.InDelta(t, 600, nested-edges, 120)
	assert.InDelta(t, 40, share, 12)
	edges, _ = count("hilary", 1000, 2000, modeRoles)
	assert.InDelta(t, 54000, edges, 4000)
	nested, _ = count("hilary", 1000, 2000, modeNested)
	assert.InDelta(t, 160, nested-edges, 60)
}
