package pbm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/profiletest/sample"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// ofCoherence is written in the shape of PadoGrid's Coherence flavour.
var ofCoherence = sample.Text("padogrid-coherence/tx.properties")

func fromFile(t *testing.T, text string, pairs ...string) workload.Values {
	t.Helper()
	vs, _, err := values.Properties(workload.File{Path: "c.properties", Data: []byte(text)}, func(string) string { return "" })
	require.NoError(t, err)
	all := given(append([]string{"mode=pbm"}, pairs...)...)
	for _, v := range vs {
		all.Set(v)
	}
	return all
}

func TestTheCoherenceFlavour(t *testing.T) {
	p, c := ready(t, "memory:", inputs(fromFile(t, ofCoherence)))
	profiletest.Work(t, p)
	f := p.Facts(nil).(*Facts)
	require.Len(t, f.Maps, 3)
	for i, want := range []struct {
		name, word string
		done       int64
	}{{"eligibility", caseGetAll, 200}, {"profile", caseGet, 64}, {"summary", caseGet, 60}} {
		m := f.Maps[i]
		assert.Equal(t, want.name, m.Map)
		assert.Equal(t, want.word, m.TestCase, "getall is the default of that flavour")
		assert.Equal(t, want.done, m.Done, m.Map)
		assert.Zero(t, m.Missing, m.Map)
	}
	assert.Equal(t, workload.Passed, p.Verify(t.Context()).State)
	assert.Contains(t, strings.Join(p.Writes, "\n"), "summary where it is missing: 60 entries of 32 B")

	t.Run("again on what is there", func(t *testing.T) {
		in := inputs(fromFile(t, ofCoherence))
		again := bound(t, c, "memory", in)
		require.NoError(t, again.Setup(t.Context(), nil))
		assert.Contains(t, again.Facts(nil).(*Facts).Loaded.Found, "tx")
	})
	t.Run("transactions do not write into it", func(t *testing.T) {
		p := bound(t, c, "memory", inputs(fromFile(t, strings.Replace(ofCoherence, ",summary", "", 1), "eligibility.testCase=tx", "layout=group")))
		err := p.Setup(t.Context(), nil)
		require.Error(t, err)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	})
	_, err := mode.Plan(inputs(fromFile(t, ofCoherence, "eligibility.testCase=tx")))
	require.ErrorContains(t, err, "summary is what tx writes")
}

func TestAFileWithoutATestCase(t *testing.T) {
	const text = "mapNames=eligibility,profile\neligibility.totalEntryCount=100\neligibility.threadCount=2\nprofile.totalEntryCount=100\nprofile.threadCount=2\n"
	p, err := mode.Plan(inputs(fromFile(t, text)))
	require.NoError(t, err)
	for _, m := range p.Binder.(*Spec).maps {
		assert.Equal(t, caseGetAll, m.op, "PadoGrid runs getall where its files name no test case")
		assert.Equal(t, "putall", m.word, "and prints its default for Redis")
	}
	p, err = mode.Plan(inputs(given("mode=pbm")))
	require.NoError(t, err)
	assert.Equal(t, caseTx, p.Binder.(*Spec).maps[0].op, "without a file, transactions are what this profile is for")
}
