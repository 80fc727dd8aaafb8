package pbm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/profiletest"
)

func TestLookUpsOnCassandra(t *testing.T) {
	url := labtest.Cassandra(t).URL() + "?read_timeout=30s&dial_timeout=30s"
	for _, layout := range []string{layoutMap, layoutGroup} {
		p, _ := ready(t, url, apart("c"+layout, append(small, "eligibility.testCase=getall", "profile.testCase=get", "layout="+layout)...))
		profiletest.Work(t, p)
		v := p.Verify(t.Context())
		assert.Equal(t, workload.Passed, v.State, "%+v", v)
		f := p.Facts().(*Facts)
		assert.Equal(t, int64(200), f.Maps[0].Done)
		assert.Equal(t, int64(99), f.Maps[1].Done)
		assert.Zero(t, f.Maps[0].Missing+f.Maps[1].Missing)
		require.NoError(t, p.Teardown(t.Context()))
	}
}
