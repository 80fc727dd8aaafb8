package values

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

func TestTheFlavourOfAFile(t *testing.T) {
	known := func(name string) string { return Ignored(name, []string{"n", "a.map", "a.factory.class"}) }
	for _, tt := range []struct{ file, text, driver, given, want string }{
		{"a.properties", "coherence-addon.logging.type=log4j2\nn=1\n", "redis", "", FlavourCoherence},
		{"a.properties", "a.factory.class = org.oracle.coherence.addon.demo.nw.impl.OrderFactoryImpl\n", "redis", "", FlavourCoherence},
		{"a.properties", "redisson-adon.logging.type=log4j2\nn=1\n", "coherence", "", FlavourRedis},
		{"a.properties", "a.factory.class=org.redis.demo.nw.impl.OrderFactoryImpl\n", "coherence", "", FlavourRedis},
		{"a.properties", "n=1\ngeode.logging.type=log4j\n", "coherence", "", FlavourCoherence},
		{"a.properties", "n=1\n", "redis", "", FlavourRedis},
		{"a.properties", "coherence-addon.logging.type=log4j2\nn=1\n", "coherence", FlavourRedis, FlavourRedis},
		{"a.yaml", "n: 1\n", "coherence", "", FlavourRedis},
	} {
		vs, found, err := Files([]workload.File{{Path: tt.file, Data: []byte(tt.text)}, {Path: "again-" + tt.file, Data: []byte(tt.text)}},
			func(f workload.File) ([]workload.Value, workload.Found, error) {
				if IsYAML(f.Path) {
					vs, err := YAML(f, nil)
					return vs, workload.Found{}, err
				}
				return Properties(f, known)
			})
		require.NoError(t, err)
		for _, w := range found.Warnings {
			assert.NotContains(t, w, "flavour", "two files of one flavour do not contradict each other")
		}
		if tt.given != "" {
			vs[flavour] = workload.Value{Name: flavour, Text: tt.given, Origin: workload.OriginFlag}
		}
		r := New(vs)
		assert.Equal(t, tt.want, r.Flavour(tt.driver), "%s on %s", tt.text, tt.driver)
		require.NoError(t, r.Problems.Err())
	}
}

func TestCoherenceTrimsSomeValues(t *testing.T) {
	for _, compat := range []bool{false, true} {
		r := of("a.properties", "put1.map", " map1 ")
		r.Compat = compat
		v := r.Values["put1.map"]
		r.Flavour("coherence")
		assert.Equal(t, "map1", r.Trim(v))
		assert.Empty(t, r.Warnings)
		v.Name = "put1.comment"
		assert.Equal(t, !compat, r.Trim(v) == "map1")
	}
}

func TestSummaryIsAMapOfCoherence(t *testing.T) {
	r := of("a.properties", "summary.n", "1")
	r.MapNames(mapNames, []string{"eligibility", "profile"})
	assert.Equal(t, []string{"a.properties:3: summary.n has no effect: the map summary is written by transactions only"}, r.Warnings)
	r = of("a.properties", "summary.n", "1")
	r.MapNames(mapNames, []string{"eligibility", "profile", "summary"})
	assert.Empty(t, r.Warnings)
	r = of("a.properties", "mapNames", "summary")
	r.MapNames(mapNames, []string{"eligibility", "profile"})
	require.ErrorContains(t, r.Problems.Err(), `"summary" (file a.properties:3) is not one of`)
}
