package tx

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/profiletest/sample"
	"github.com/perfbench/perfbench/internal/workload"
)

// shown is the text of a parameter in effect.
func shown(p *workload.Plan, name string) string {
	for _, v := range p.Parameters {
		if v.Name == name {
			return v.Text
		}
	}
	return ""
}

func TestPropertiesUnchanged(t *testing.T) {
	vs, found, err := Read([]workload.File{{Path: "tx.properties", Data: []byte(sample.Text("padogrid/tx.properties"))}})
	require.NoError(t, err)
	all := given("mode=pbm")
	for _, v := range vs {
		all.Set(v)
	}
	p, err := Design(inputs(all))
	require.NoError(t, err)
	assert.Equal(t, "4096", shown(p, "eligibility.totalEntryCount"), "a leading 0 is octal, as in Java")
	assert.Equal(t, "tx", shown(p, "eligibility.testCase"))
	assert.Equal(t, "get", shown(p, "profile.testCase"))
	assert.Contains(t, strings.Join(found.Warnings, "\n"), "did you mean profile.threadCount?")
	assert.Contains(t, strings.Join(p.Warnings, "\n"), "octal")
	assert.Contains(t, strings.Join(p.Warnings, "\n"), "blanks around")
}

func TestAFileOfTheGroupTestIsRefused(t *testing.T) {
	_, _, err := Read([]workload.File{{Path: "g.properties", Data: []byte("prefix=x\ngroupNames=g1&g2")}})
	require.ErrorContains(t, err, "g.properties:2: groupNames: this is a file of PadoGrid's group test")
	assert.Contains(t, fault.HintOf(err), "--profile group")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

// What is of another mode is said to have no effect, when somebody gave it by hand.
func TestParametersOfOtherModes(t *testing.T) {
	for words, want := range map[string]string{
		"mode=saga atomic=watch":                 "atomic (flag --set) has no effect with mode=saga: it belongs to mode=pbm",
		"mode=pbm branches=3 threads=4":          "branches (flag --set) has no effect with mode=pbm: it belongs to mode=saga",
		"mode=baseline prefix=y":                 "prefix (flag --set) has no effect with mode=baseline: it belongs to mode=pbm",
		"mode=baseline branches=3":               "",
		"mode=saga zipf=1 branches=3":            "",
		"mode=pbm zipf=1 atomic=watch threads=4": "",
	} {
		p, err := Design(inputs(given(strings.Fields(words)...)))
		require.NoError(t, err)
		if want == "" {
			assert.Empty(t, p.Warnings, words)
			continue
		}
		assert.Equal(t, []string{want}, p.Warnings)
	}
}

func TestBadInput(t *testing.T) {
	for words, want := range map[string]string{
		"mode=sage":                            "did you mean saga",
		"mode=pbm mapNames=summary":            "is not one of eligibility, profile",
		"mode=pbm prefix={x}":                  "braces",
		"mode=pbm testCase=txx":                "did you mean tx",
		"mode=saga branches=1":                 "accounts=off",
		"mode=baseline transType=tcc":          "mode=baseline works out how fast sagas could be",
		"mode=saga failAt=3":                   "more than the 2 branches",
		"mode=saga accountCount=1":             "fewer",
		"mode=saga retryInterval=0s":           "retryInterval",
		"mode=saga finishedExpire=1500ms":      "whole seconds",
		"mode=saga failRate=2":                 "failRate",
		"mode=pbm eligibility.threadCount=0":   "threadCount",
		"mode=pbm totalEntryCount=3 threads=8": "fewer than its 8 threads",
	} {
		t.Run(words, func(t *testing.T) {
			_, err := Design(inputs(given(strings.Fields(words)...)))
			require.Error(t, err)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			assert.Contains(t, err.Error()+" "+fault.HintOf(err), want)
		})
	}
}

// The count that is advised in place of one that is too small is enough.
func TestACountForAllThreads(t *testing.T) {
	in := inputs(given("mode=pbm", "mapNames=eligibility,profile", "threads=9"))
	in.Count = 1
	_, err := Design(in)
	require.ErrorContains(t, err, "count: 1 is too few")
	assert.Equal(t, "count at least 10, or use fewer threads", fault.HintOf(err))
	in.Count = 10
	_, err = Design(in)
	require.NoError(t, err)
}

// A plan has the knob where something carries what it turns.
func TestWhereThereIsAPayload(t *testing.T) {
	for words, want := range map[string][]string{
		"testCase=tx":     {"eligibility"},
		"testCase=getall": nil,
		"load=only":       nil,
		"mode=baseline":   nil,
		"mode=saga":       {"saga"},
	} {
		p, err := Design(inputs(given("mapNames=eligibility,profile", words)))
		require.NoError(t, err)
		k, ok := p.Knob("payload")
		assert.Equal(t, want != nil, ok, words)
		var tracks []string
		for _, tr := range p.Tracks() {
			if ok && tr.Turns(k) {
				tracks = append(tracks, tr.Name)
			}
		}
		assert.Equal(t, want, tracks, words)
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

// What is no pbm is refused on Coherence.
func TestOnlyPBMOnCoherence(t *testing.T) {
	for _, mode := range []string{"saga", "baseline"} {
		plan, err := Design(inputs(given("mode=" + mode)))
		require.NoError(t, err)
		_, err = plan.Bind(t.Context(), "coherence", nil, "")
		require.Error(t, err)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		assert.Contains(t, fault.HintOf(err), "mode=pbm")
	}
}

// A coordinator runs sagas and nothing else.
func TestOnlySagasRunOnACoordinator(t *testing.T) {
	p, err := Design(inputs(given("mode=pbm")))
	require.NoError(t, err)
	_, err = p.Bind(t.Context(), "dtm", nil, "")
	require.ErrorContains(t, err, "mode=pbm does not run on a dtm server")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

// Workers share the work of pbm and saga, and of baseline it is said why they cannot.
func TestModesThatWorkersCannotDivide(t *testing.T) {
	for mode, want := range map[string]string{"pbm": "", "saga": "", "baseline": "it measures what one client machine can do"} {
		p, err := Design(inputs(given("mode="+mode, "threads=8")))
		require.NoError(t, err)
		err = p.Divide(1, 3)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "mode="+mode+" cannot be divided among workers: "+want)
	}
}
