package ingestion

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// given makes values: "name=value" pairs of flags over the parameters' defaults.
func given(pairs ...[2]string) workload.Values {
	vs := workload.Values{}
	for _, p := range params() {
		if p.Default != "" {
			vs.Set(workload.Value{Name: p.Name, Text: p.Default, Origin: workload.OriginDefault})
		}
	}
	for _, p := range pairs {
		vs.Set(workload.Value{Name: p[0], Text: p[1], Origin: workload.OriginFlag, Where: "--set"})
	}
	return vs
}

// withFile adds the values of a file to vs.
func withFile(t *testing.T, vs workload.Values, name, text string) (workload.Values, []string) {
	t.Helper()
	from, found, err := Read([]workload.File{{Path: name, Data: []byte(text)}})
	require.NoError(t, err)
	for _, v := range from {
		vs.Set(v)
	}
	return vs, found.Warnings
}

// design makes a plan that must be possible.
func design(t *testing.T, in workload.Inputs) *workload.Plan {
	t.Helper()
	p, err := Design(in)
	require.NoError(t, err)
	return p
}

func specOf(p *workload.Plan) *spec { return p.Binder.(*spec) }

func open(t *testing.T, target string) store.Conn {
	t.Helper()
	return profiletest.Open(t, target)
}

// smallCase is a run on both maps with a few entries.
func smallCase(target string) profiletest.Case {
	return profiletest.Case{Profile: Profile(), Formats: []rundir.Format{Format()}, Target: target, Set: []string{
		"mapNames=eligibility,profile", "memberSetSize=5", "totalEntryCount=200", "threadCount=4", "batchSize=20", "payloadSize=32", "testCount=1", "testIntervalInMsec=0", "seed=7",
	}}
}

// bound designs a plan and binds it to a connection.
func bound(t *testing.T, c store.Conn, in workload.Inputs) *workload.Plan {
	t.Helper()
	return profiletest.Bind(t, Name, design(t, in), c, in, "run-1")
}

func setUp(t *testing.T, p *workload.Plan) {
	t.Helper()
	require.NoError(t, p.Setup(t.Context(), nil))
}
