package authz

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

func TestRatesOfTheOriginal(t *testing.T) {
	for _, c := range []struct {
		num, ms int64
		want    float64
	}{
		{50, 138, 362.3188405797101}, {5, 58, 86.20689655172414}, {52, 495, 105.05050505050505}, {104, 114, 912.280701754386},
		{500, 5641, 88.63676653075696}, {10000, 24655, 405.5972419387548}, {5000, 42222, 118.42167590355739},
	} {
		got := perSecond(c.num, c.ms)
		require.NotNil(t, got)
		assert.Equal(t, c.want, *got)
	}
	assert.Nil(t, perSecond(5, 0))
}

func sampleFolder(t *testing.T, mode, compat string) *rundir.Folder {
	t.Helper()
	f := Facts{
		Mode: modeChecks, JSON: mode, Concurrent: 2, Compat: compat == "on",
		Phases: []PhaseFacts{{
			Tenants: []string{"perf-test-1347714329374-4-0", "perf-test-1347714329374-4-1"},
			Load:    []Step{{Name: "users", Num: 50, TimeMS: 138}, {Name: "groups", Num: 5, TimeMS: 58}, {Name: "memberships", Num: 52, TimeMS: 495}},
			Tests:   []Step{{Name: "valid", Total: 104, TotalMS: 114}, {Name: "sweep", Total: 500, TotalMS: 5641}},
		}},
	}
	data, err := json.Marshal(f)
	require.NoError(t, err)
	return &rundir.Folder{Run: rundir.Run{Mode: modeChecks, Facts: data, Store: rundir.Store{Name: "cassandra"}}}
}

func TestDocumentWithTheKeysOfTheReadme(t *testing.T) {
	files, err := encodeJSON(sampleFolder(t, "seed", ""))
	require.NoError(t, err)
	assert.Equal(t, "authz-checks-cassandra.json", files[0].Name)
	assert.Equal(t, `{"phase-0":{"phase":["perf-test-1347714329374-4-0","perf-test-1347714329374-4-1"],`+
		`"dataload":{"users":{"num":50,"time":138,"perSecond":362.3188405797101},"groups":{"num":5,"time":58,"perSecond":86.20689655172414},`+
		`"memberships":{"num":52,"time":495,"perSecond":105.05050505050505}},`+
		`"performanceTest":{"valid-permissions":{"duration":114,"operations":104,"perSec":912.280701754386},`+
		`"all-permissions":{"durationMs":5641,"operations":500,"perSec":88.63676653075696}}}}`+"\n", string(files[0].Data))
}

func TestSupersetHasEveryAliasWithTheSameValue(t *testing.T) {
	files, err := encodeJSON(sampleFolder(t, "superset", ""))
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(files[0].Data), "\n"), "one line")
	var doc map[string]struct {
		Tests map[string]map[string]any `json:"performanceTest"`
	}
	require.NoError(t, json.Unmarshal(files[0].Data, &doc))
	for _, test := range []string{"valid-permissions", "all-permissions"} {
		m := doc["phase-0"].Tests[test]
		assert.Equal(t, m["duration"], m["durationMs"])
		assert.Equal(t, m["operations"], m["checks"])
		assert.Equal(t, m["perSec"], m["checksPerSecond"])
		assert.Equal(t, m["perSec"], m["perSecond"])
		assert.Contains(t, m, "latencyMs")
	}
	assert.Contains(t, doc, "meta")
}

func TestTableOfTheBaseline(t *testing.T) {
	files, err := encodeHTML(sampleFolder(t, "seed", ""))
	require.NoError(t, err)
	text := string(files[0].Data)
	assert.Contains(t, text, "<th colspan=\"6\">Test #1: 1 phase, 2 concurrent tenants per phase</th>")
	assert.Contains(t, text, "    <td>0</td>\n    <td>362.32</td>\n    <td>86.21</td>\n    <td>105.05</td>\n    <td>912.28</td>\n    <td>88.64</td>\n")
	for _, h := range []string{"Phase", "Users/s", "Groups/s", "Memberships/s", "Positive Checks / sec", "Checks Sweep #1 (checks/s)"} {
		assert.Contains(t, text, "<th>"+h+"</th>")
	}
	assert.Equal(t, "Test #1: 3 phases; 1 concurrent tenant per phase", title(1, 3, 1))
	for v, want := range map[float64]string{7.9: "7.9", 3.63: "3.63", 692: "692", 1133.6: "1133.6", 20: "20"} {
		assert.Equal(t, want, cell(&v))
	}
	assert.Empty(t, cell(nil))
}
