package rundir

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(RunSchema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("run.json", doc))
	s, err := c.Compile("run.json")
	require.NoError(t, err)
	return s
}

func validate(t *testing.T, dir string) error {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, RunFile))
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	return compiled(t).Validate(doc)
}

func TestRunFilesFollowTheSchema(t *testing.T) {
	o := options(t)
	j := start(t, o)
	settled(t, j)
	assert.NoError(t, validate(t, j.Dir()), "before the first second")
	f := newFakeRun(1)
	for s := -1; s < 3; s++ {
		require.NoError(t, j.Second(f.second(s)))
	}
	assert.NoError(t, validate(t, kill(t, j)), "cut short")
	finish(t, j, f)
	assert.NoError(t, validate(t, j.Dir()), "finished")

	j = start(t, o)
	require.NoError(t, j.Second(f.second(0)))
	r := j.Run()
	r.EndedBy = "duration"
	r.Verification = workload.Verification{State: workload.Failed, Summary: "missing", Checks: []workload.Check{{
		Name: "count", Want: "3", Got: "2", Examples: []string{"key"},
	}}}
	r.Tags = map[string]string{"build": "1"}
	r.Turn = &Turn{Series: "s", Round: 1}
	r.Observed = &verdict.Observed{
		Steps:       []verdict.Step{{AtS: 1, ByS: -3}},
		Suspensions: []verdict.Suspension{{AtS: 1, ForS: 2, Untimed: 1}},
		Growth:      &verdict.Growth{FromS: 1, ToS: 3, From: 1, To: 9, Rate: 4, PausedS: 0.5, Taken: &verdict.Taken{Used: 0.5, Others: 1.2, Waited: 0.4}},
		Restarts:    []verdict.Restart{{AtS: 12, Node: "a:1", Kept: new(int64(0))}},
		Pauses:      3, PausedS: 0.9, PausesAt: []verdict.Pause{{AtS: 2, ForS: 0.3}}, Pressure: 0.1,
		Ceilings: []verdict.PhaseCeiling{{Phase: "load", PerS: 410_000}},
		Processes: []verdict.Process{{
			Role: "redis", PID: 5, Name: "redis-server", Note: "n", CPU: new(0.5), CPUMost: new(1.5), Queue: new(0.2), RSSMost: new(int64(9)), NetIn: new(1.0), NetOut: new(2.0),
		}, {Role: "cassandra", Note: "it is on another machine", Elsewhere: true}},
		Store: &verdict.Used{CPU: new(0.5), Calls: new(int64(1)), Kind: "scripts", Received: new(int64(1)), Sent: new(int64(1)), Memory: new(int64(1))},
	}
	r.Workers = []Worker{{
		Number: 1, Host: "a", PID: 5, CPUs: 2, State: "gone", OffsetMS: 1.5, RoundTripMS: 0.1, SkewMS: -0.2, ChangeMS: 3, Stalls: 1,
		KnownS: new(3.0), LostS: new(5.5), Doubts: []string{"hot"}, Company: &verdict.Company{Machine: "a", Cores: 2, CPU: 0.5, Store: 0.4, Busy: 1.9, Queue: new(0.3), StoreQueue: 0.1, Pressure: 0.7, Under: 4}, Fault: "killed",
	}}
	r.Resumed = []Resumed{{AtS: 12, ForS: 3.5}}
	r.Verdict = r.Judge()
	assert.Equal(t, verdict.Invalid, r.Verdict.State)
	require.NoError(t, j.Finish(r))
	assert.NoError(t, validate(t, j.Dir()), "failed")
}

func TestSchemaRefusesStrangers(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, RunFile), []byte(`{"schema":1,"surprise":true}`), 0o644))
	assert.Error(t, validate(t, dir))
}

// The schema and the model must not drift apart: each field of one is in the other.
func TestSchemaNamesEveryField(t *testing.T) {
	text := string(RunSchema)
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] || typ.Name() == "Time" {
			return
		}
		seen[typ] = true
		for field := range typ.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" { // in a file of its own
				continue
			}
			assert.Contains(t, text, `"`+name+`": {`, typ.Name())
			walk(field.Type)
		}
	}
	walk(reflect.TypeFor[Run]())
	assert.Len(t, seen, 46)
}

func TestPublishedSchemaIsTheOneBuiltIn(t *testing.T) {
	published, err := os.ReadFile("../../docs/run.schema.json")
	require.NoError(t, err)
	assert.Equal(t, string(RunSchema), string(published), "run go generate ./internal/rundir")
}
