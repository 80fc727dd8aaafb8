package tx

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestLookUpsOnCassandra(t *testing.T) {
	url := labtest.Cassandra(t).URL() + "?read_timeout=30s&dial_timeout=30s"
	for _, layout := range []string{layoutMap, layoutGroup} {
		p, _ := ready(t, url, apart("c"+layout, append(small, "eligibility.testCase=getall", "profile.testCase=get", "layout="+layout)...))
		drive(t.Context(), t, p, nil)
		v := p.Verify(t.Context())
		assert.Equal(t, workload.Passed, v.State, "%+v", v)
		f := p.Facts().(*PBMFacts)
		assert.Equal(t, int64(200), f.Maps[0].Done)
		assert.Equal(t, int64(99), f.Maps[1].Done)
		assert.Zero(t, f.Maps[0].Missing+f.Maps[1].Missing)
		require.NoError(t, p.Teardown(t.Context()))
	}
}

// What Cassandra cannot do is refused with what to do instead.
func TestNoTransactionsOnCassandra(t *testing.T) {
	for _, words := range [][]string{{"mode=pbm"}, {"mode=saga"}, {"mode=baseline"}} {
		in := inputs(given(words...))
		if words[0] == "mode=pbm" {
			in = inputs(given(append(small, "testCase=tx")...))
		}
		p, err := Design(in)
		require.NoError(t, err)
		_, err = p.Bind(t.Context(), "cassandra", nil, "")
		require.ErrorContains(t, err, "does not run on Cassandra")
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		assert.Contains(t, fault.HintOf(err), "getall")
	}
}
