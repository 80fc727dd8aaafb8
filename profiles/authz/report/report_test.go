package report

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

func TestRatesOfTheOriginal(t *testing.T) {
	for _, c := range []struct {
		num, ms int64
		want    float64
	}{
		{50, 138, 362.3188405797101},
		{5, 58, 86.20689655172414},
		{52, 495, 105.05050505050505},
		{104, 114, 912.280701754386},
		{500, 5641, 88.63676653075696},
		{10000, 24655, 405.5972419387548},
		{5000, 42222, 118.42167590355739},
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
		Mode: ModeChecks, JSON: mode, Concurrent: 2, Compat: compat == "on",
		Phases: []PhaseFacts{{
			Tenants: []string{"perf-test-1347714329374-4-0", "perf-test-1347714329374-4-1"},
			Load:    []Step{{Name: "users", Num: 50, TimeMS: 138}, {Name: "groups", Num: 5, TimeMS: 58}, {Name: "memberships", Num: 52, TimeMS: 495}},
			Tests:   []Step{{Name: "valid", Total: 104, TotalMS: 114}, {Name: "sweep", Total: 500, TotalMS: 5641}},
		}},
	}
	data, err := json.Marshal(f)
	require.NoError(t, err)
	return &rundir.Folder{Run: rundir.Run{Mode: ModeChecks, Facts: data, Store: rundir.Store{Name: "cassandra"}}}
}

func TestDocumentWithTheKeysOfTheReadme(t *testing.T) {
	files, err := encodeJSON(sampleFolder(t, "seed", ""))
	require.NoError(t, err)
	assert.Equal(t, "authz-checks-cassandra.json", files[0].Name)
	//nolint:testifylint // the order of the keys is part of the document
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

// cells are the texts of a table's cells, row by row, as a program that parses the
// table sees them.
func cells(t *testing.T, data []byte) [][]string {
	t.Helper()
	var table struct {
		Rows []struct {
			Cells []struct {
				Text string `xml:",chardata"`
			} `xml:",any"`
		} `xml:"tr"`
	}
	require.NoError(t, xml.Unmarshal(data, &table))
	var out [][]string
	for _, r := range table.Rows {
		var row []string
		for _, c := range r.Cells {
			row = append(row, c.Text)
		}
		out = append(out, row)
	}
	return out
}

// at is a step whose rate is the one wanted.
func at(name string, rate float64) Step {
	n := int64(math.Round(rate * 100))
	return Step{Name: name, Num: n, TimeMS: 100_000, Total: n, TotalMS: 100_000}
}

// run is a run whose phases came to these rates, in the order of the columns.
func run(t *testing.T, mode string, concurrent int, took time.Duration, phases ...[]float64) *document {
	t.Helper()
	f := Facts{Mode: mode, JSON: "superset", Concurrent: concurrent}
	for _, r := range phases {
		p := PhaseFacts{Load: []Step{at("profileSections", r[0])}, Tests: []Step{at("profile", r[1])}}
		if mode == ModeChecks {
			p = PhaseFacts{Load: []Step{at("users", r[0]), at("groups", r[1]), at("memberships", r[2])}, Tests: []Step{at("valid", r[3]), at("sweep", r[4])}}
		}
		f.Phases = append(f.Phases, p)
	}
	data, err := json.Marshal(f)
	require.NoError(t, err)
	began := time.Date(2012, 9, 15, 0, 0, 0, 0, time.UTC)
	folder := &rundir.Folder{Run: rundir.Run{Mode: mode, Facts: data, Store: rundir.Store{Name: "cassandra"}, Started: began, Ended: began.Add(took)}}
	return &document{f: folder, facts: &f}
}

// The original's baseline of checks, each cell of it.
func TestTableOfTheBaselineCellByCell(t *testing.T) {
	table := newTable(ModeChecks)
	for i, d := range []*document{
		run(t, ModeChecks, 1, 0, []float64{7.9, 266.4, 186.5, 1133.6, 245.9}),
		run(t, ModeChecks, 4, 0, []float64{3.63, 84.4, 57.58, 1893.2, 298.5}),
		run(t, ModeChecks, 4, 0, []float64{3.57, 86.2, 61.5, 692, 94.3}, []float64{2.6, 32.6, 23.3, 232.8, 95.1}, []float64{2.4, 20, 14.7, 393.4, 99.3}),
	} {
		table.tests = append(table.tests, d.test(i+1))
	}
	assert.Equal(t, [][]string{
		{"Phase", "Users/s", "Groups/s", "Memberships/s", "Positive Checks / sec", "Checks Sweep #1 (checks/s)"},
		{"Test #1: 1 phase; 1 concurrent tenant per phase"},
		{"0", "7.9", "266.4", "186.5", "1133.6", "245.9"},
		{"Test #2: 1 phase, 4 concurrent tenants per phase"},
		{"0", "3.63", "84.4", "57.58", "1893.2", "298.5"},
		{"Test #3: 3 phases, 4 concurrent tenants per phase"},
		{"0", "3.57", "86.2", "61.5", "692", "94.3"},
		{"1", "2.6", "32.6", "23.3", "232.8", "95.1"},
		{"2", "2.4", "20", "14.7", "393.4", "99.3"},
	}, cells(t, table.html()))
	assert.True(t, strings.HasPrefix(string(table.html()), "<table>\n  <tr>\n    <th>Phase</th>\n"))
	assert.Contains(t, string(table.html()), "    <th colspan=\"6\">Test #1: ")
}

// The original's baseline of profiles, each cell of it.
func TestTableOfProfilesCellByCell(t *testing.T) {
	table := newTable(ModeProfiles)
	for i, d := range []*document{
		run(t, ModeProfiles, 1, 26225*time.Millisecond, []float64{1148.5, 424.5}),
		run(t, ModeProfiles, 4, 90806*time.Millisecond, []float64{423.5, 123.2}),
		run(t, ModeProfiles, 4, 237107*time.Millisecond, []float64{458.6, 87}, []float64{287, 83.8}, []float64{290.5, 121.9}),
	} {
		table.tests = append(table.tests, d.test(i+1))
	}
	assert.Equal(t, [][]string{
		{"Phase", "Sections created/s", "Profiles retrieved/s", "time spent"},
		{"Test #1: 1 phase; 1 concurrent tenant per phase"},
		{"0", "1148.5", "424.5", "0m26.225s"},
		{"Test #2: 1 phase, 4 concurrent tenants per phase"},
		{"0", "423.5", "123.2", "1m30.806s"},
		{"Test #3: 3 phases, 4 concurrent tenants per phase"},
		{"0", "458.6", "87", ""},
		{"1", "287", "83.8", ""},
		{"2", "290.5", "121.9", "3m57.107s"},
	}, cells(t, table.html()))
	assert.Contains(t, string(table.html()), `<th colspan="6">Test #1`, "though it has four columns")
	assert.Contains(t, string(table.html()), `<table style="width:100%">`)
}

func TestTableOfARun(t *testing.T) {
	files, err := encodeHTML(sampleFolder(t, "seed", ""))
	require.NoError(t, err)
	assert.Equal(t, "authz-checks-cassandra.html", files[0].Name)
	assert.Equal(t, []string{"0", "362.32", "86.21", "105.05", "912.28", "88.64"}, cells(t, files[0].Data)[2])
	assert.Empty(t, cell(nil))
	files, err = encodeHTML(run(t, ModeProfiles, 1, time.Second, []float64{10, 20}).f)
	require.NoError(t, err)
	assert.Equal(t, []string{"0", "10", "20", "0m1.000s"}, cells(t, files[0].Data)[2])
}

// keysOf lists the keys of an object in a document, in their order.
func keysOf(t *testing.T, text, object string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(text, `"`+object+`":{`)
	require.True(t, ok, object)
	rest, _, _ = strings.Cut(rest, "}")
	var keys []string
	for _, m := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(rest, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

// The keys of the code, of the README's profiles, and those that the superset adds.
func TestKeysOfTheDocuments(t *testing.T) {
	files, err := encodeJSON(sampleFolder(t, "code", ""))
	require.NoError(t, err)
	text := string(files[0].Data)
	for _, test := range []string{"valid-permissions", "all-permissions"} {
		assert.Equal(t, []string{"duration", "checks", "checksPerSecond"}, keysOf(t, text, test))
	}
	assert.NotContains(t, text, "meta")
	d := run(t, ModeProfiles, 2, time.Second, []float64{10, 20})
	for mode, want := range map[string][]string{
		"seed": {"duration", "profiles", "profilesPerSecond", "msg"},
		"superset": {
			"duration", "profiles", "profilesPerSecond", "msg", "durationMs", "profilesTotal", "profilesPerSecondTotal", "operations", "perSec",
			"sectionsShown", "sectionsHidden", "errors", "storeOps", "latencyMs", "p50", "p95", "p99", "p999", "max",
		},
	} {
		d.facts.JSON = mode
		data, err := json.Marshal(d.facts)
		require.NoError(t, err)
		d.f.Run.Facts = data
		files, err := encodeJSON(d.f)
		require.NoError(t, err)
		text := string(files[0].Data)
		assert.Equal(t, want, keysOf(t, text, "get-full-profile"))
		assert.Equal(t, 1, strings.Count(text, "\n"), "one line")
		if mode == "seed" {
			assert.Equal(t, []string{"num", "time", "perSecond"}, keysOf(t, text, "profileSections"))
			assert.NotContains(t, text, "meta")
		}
	}
}

// Several runs make the published table, and beside it how they differ from it.
func TestSeveralRunsMakeOneTable(t *testing.T) {
	var fs []*rundir.Folder
	for _, d := range []*document{
		run(t, ModeChecks, 1, time.Second, []float64{7.9, 266.4, 186.5, 1133.6, 245.9}),
		run(t, ModeChecks, 4, time.Second, []float64{3.63, 84.4, 57.58, 1893.2, 597}),
		run(t, ModeChecks, 2, time.Second, []float64{1, 2, 3, 4, 5}),
		run(t, ModeProfiles, 4, time.Minute, []float64{458.6, 87}, []float64{287, 83.8}, []float64{290.5, 121.9}),
	} {
		fs = append(fs, d.f)
	}
	files, err := joinHTML(fs)
	require.NoError(t, err)
	require.Len(t, files, 4)
	got := cells(t, files[0].Data)
	assert.Equal(t, [][]string{
		{"Phase", "Users/s", "Groups/s", "Memberships/s", "Positive Checks / sec", "Checks Sweep #1 (checks/s)"},
		{"Test #1: 1 phase; 1 concurrent tenant per phase"}, {"0", "7.9", "266.4", "186.5", "1133.6", "245.9"},
		{"Test #2: 1 phase, 4 concurrent tenants per phase"}, {"0", "3.63", "84.4", "57.58", "1893.2", "597"},
		{"Test #3: 1 phase, 2 concurrent tenants per phase"}, {"0", "1", "2", "3", "4", "5"},
	}, got)
	assert.Equal(t, "authz-checks-tests-published.md", files[1].Name)
	lines := strings.Split(strings.TrimSpace(string(files[1].Data)), "\n")
	assert.Equal(t, "| Test #2 | 0 | 3.63 / 3.63 (×1) | 84.4 / 84.4 (×1) | 57.58 / 57.58 (×1) | 1893.2 / 1893.2 (×1) | 597 / 298.5 (×2) |", lines[len(lines)-1], "what is published of no such test is left out")
	assert.Contains(t, string(files[2].Data), "<td>1m0.000s</td>")
	assert.Contains(t, string(files[3].Data), "| Test #1 | 2 | 290.5 / 290.5 (×1) | 121.9 / 121.9 (×1) |")
}

// A run of the three tests makes the published table by itself, with the difference
// beside it, and one document for each test as the original printed them.
func TestOneRunOfThreeTestsMakesTheTable(t *testing.T) {
	d := run(t, ModeChecks, 1, 0,
		[]float64{7.9, 266.4, 186.5, 1133.6, 245.9}, []float64{3.63, 84.4, 57.58, 1893.2, 597},
		[]float64{3.57, 86.2, 61.5, 692, 94.3}, []float64{2.6, 32.6, 23.3, 232.8, 95.1}, []float64{2.4, 20, 14.7, 393.4, 99.3})
	d.facts.Series = []Series{{1, 1}, {1, 4}, {3, 4}}
	data, err := json.Marshal(d.facts)
	require.NoError(t, err)
	d.f.Run.Facts = data
	files, err := encodeHTML(d.f)
	require.NoError(t, err)
	require.Len(t, files, 2)
	assert.Equal(t, [][]string{
		{"Phase", "Users/s", "Groups/s", "Memberships/s", "Positive Checks / sec", "Checks Sweep #1 (checks/s)"},
		{"Test #1: 1 phase; 1 concurrent tenant per phase"},
		{"0", "7.9", "266.4", "186.5", "1133.6", "245.9"},
		{"Test #2: 1 phase, 4 concurrent tenants per phase"},
		{"0", "3.63", "84.4", "57.58", "1893.2", "597"},
		{"Test #3: 3 phases, 4 concurrent tenants per phase"},
		{"0", "3.57", "86.2", "61.5", "692", "94.3"},
		{"1", "2.6", "32.6", "23.3", "232.8", "95.1"},
		{"2", "2.4", "20", "14.7", "393.4", "99.3"},
	}, cells(t, files[0].Data))
	assert.Equal(t, "authz-checks-cassandra-published.md", files[1].Name)
	assert.Contains(t, string(files[1].Data), "| Test #2 | 0 | 3.63 / 3.63 (×1) | 84.4 / 84.4 (×1) | 57.58 / 57.58 (×1) | 1893.2 / 1893.2 (×1) | 597 / 298.5 (×2) |\n| Test #3 | 0 |")
	files, err = encodeJSON(d.f)
	require.NoError(t, err)
	require.Len(t, files, 3)
	for i, phases := range []int{1, 1, 3} {
		assert.Equal(t, fmt.Sprintf("authz-checks-cassandra-test%d.json", i+1), files[i].Name)
		assert.Equal(t, phases, strings.Count(string(files[i].Data), `"performanceTest"`))
		assert.Contains(t, string(files[i].Data), `{"phase-0":`)
	}
	joined, err := joinHTML([]*rundir.Folder{d.f})
	require.NoError(t, err)
	assert.Contains(t, string(joined[0].Data), "Test #3: 3 phases")
}
