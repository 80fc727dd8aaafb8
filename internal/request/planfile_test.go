package request_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
)

const whole = `# Puts against the store of the team.
profile: ingestion
target: redis://app:${PW}@${HOST}:6379?connections=8
password-file: secret.txt
preset: small
file: [a.properties, /etc/b.properties]
threads: 16
rate: 5e3
duration: 60s
namespace: ""
cleanup: true
set:
  mapNames: [eligibility, profile]
  eligibility:
    testCase: put
  profile.payload: 4KiB
  note: $${HOME} and ${HOST}
at:
  - 10s:threads=32,payload=4KiB
  - 20s: {threads: 64, eligibility: {rate: 100}}
  - 30s: paused=on
threshold: p99<5ms
repeat: 3
against: redis://${HOST}
against-set: [threads=4, payload=1]
tolerance: 5%
out: results/put
format: json, csv
facts: facts.yaml
`

var environ = []string{"HOST=db1", "PW=s3c:ret", "EMPTY=", "N=7"}

func read(t *testing.T, text string) *request.File {
	t.Helper()
	f, err := request.Read("plans/ci.yaml", []byte(text), environ)
	require.NoError(t, err)
	return f
}

func TestAPlanSaysWhatFlagsCan(t *testing.T) {
	f := read(t, whole)
	require.Len(t, f.Runs, 1)
	assert.False(t, f.Suite)
	r := f.Runs[0]
	assert.Equal(t, filepath.FromSlash("plans/secret.txt"), r.Request.PasswordFile)
	q := r.Request
	assert.Equal(t, []string{"ingestion", "small", "redis://app:s3c:ret@db1:6379?connections=8", "results/put", filepath.FromSlash("plans/facts.yaml")},
		[]string{q.Profile, q.Preset, q.Target, q.Out, q.Facts})
	assert.Equal(t, []string{filepath.FromSlash("plans/a.properties"), "/etc/b.properties"}, q.Files, "paths are relative to the plan")
	assert.Equal(t, []string{"10s:threads=32,payload=4KiB", "20s:threads=64,eligibility.rate=100", "30s:paused=on"}, q.Timetable)
	assert.Equal(t, []string{"p99<5ms"}, q.Thresholds)
	assert.Equal(t, []string{"json", "csv"}, q.Formats)
	assert.Equal(t, request.Repeat{Times: "3", Against: "redis://db1", Tolerance: "5%", Sets: []string{"threads=4", "payload=1"}}, r.Repeat)
	assert.Equal(t, request.Repeat{Times: "9", Against: "redis://db1", Tolerance: "5%", Sets: []string{"a=b"}},
		request.Repeat{Times: "9", Sets: []string{"a=b"}}.Over(r.Repeat))
	texts := map[string]string{}
	for _, v := range q.Values {
		assert.Equal(t, workload.OriginPlan, v.Origin, v.Name)
		texts[v.Name] = v.Text
	}
	assert.Equal(t, map[string]string{
		"threads": "16", "rate": "5e3", "duration": "60s", "namespace": "", "cleanup": "true", "mapNames": "eligibility,profile",
		"eligibility.testCase": "put", "profile.payload": "4KiB", "note": "${HOME} and db1",
	}, texts)
	assert.Equal(t, "plan plans/ci.yaml:15", q.Values["eligibility.testCase"].From())
	assert.Equal(t, "plan plans/ci.yaml:3", q.From["target"])
}

func TestASuiteSharesWhatItDoesNotSayOfEachRun(t *testing.T) {
	f := read(t, `
profile: ingestion
threads: 8
count: 100
set: {testCase: put, batchSize: 10}
threshold: [p99<5ms]
stop-on-failure: yes
runs:
  - name: put
  - name: get
    threads: 2
    count:
    set: {testCase: get}
    threshold: [p99<1ms, errors<1%]
  - set: {threads: 3}
    target: "memory:"
`)
	require.Len(t, f.Runs, 3)
	assert.True(t, f.Suite)
	assert.True(t, f.StopOnFailure)
	text := func(i int, name string) string { return f.Runs[i].Request.Values[name].Text }
	assert.Equal(t, []string{"put", "get", "run 3"}, []string{f.Runs[0].Name, f.Runs[1].Name, f.Runs[2].Name})
	assert.Equal(t, []string{"8", "2", "3"}, []string{text(0, "threads"), text(1, "threads"), text(2, "threads")})
	assert.Equal(t, []string{"put", "get", "put"}, []string{text(0, "testCase"), text(1, "testCase"), text(2, "testCase")})
	assert.Equal(t, "10", text(1, "batchSize"))
	assert.NotContains(t, f.Runs[1].Request.Values, "count", "an empty value takes a shared one away")
	assert.Equal(t, []string{"p99<1ms", "errors<1%"}, f.Runs[1].Request.Thresholds)
	assert.Equal(t, "memory:", f.Runs[2].Request.Target)
}

func TestASearchForRecoveryIsASwitch(t *testing.T) {
	f := read(t, "profile: ingestion\nclient: deadline=50ms\nruns:\n  - find: {recovers: on}\n  - find: {under: recovers<1m}\n  - find: {recovers: off, under: p99<1ms}\n")
	require.Len(t, f.Runs, 3)
	for i, want := range []string{"recovers", "recovers<1m", "p99<1ms"} {
		assert.Equal(t, []string{want}, f.Runs[i].Find.Under)
	}
	assert.Equal(t, "deadline=50ms", f.Runs[0].Request.Values["client"].Text)
}

func TestARunMayBeASearchOrASweep(t *testing.T) {
	f := read(t, `
profile: ingestion
repeat: 4
find: {under: p99<10ms, to: 9e3}
runs:
  - name: search
    repeat:
    find: {over: threads, under: [p50<1ms, "errors<1%"], from: '${N}'}
  - name: plain
    find:
  - name: over targets
    find:
    sweep:
      over: {threads: [1, 2, …, 8], target: "redis://:${PW}@a,b,redis://c"}
  - name: three times
    find:
    sweep: {over: ["threads=1,2", "payload=1KiB,2KiB"], repeat: 3}
`)
	require.Len(t, f.Runs, 4)
	assert.Equal(t, &find.Asked{Under: []string{"p50<1ms", "errors<1%"}, Over: "threads", From: "7", To: "9e3"}, f.Runs[0].Find)
	assert.Nil(t, f.Runs[1].Find, "an empty word takes a shared one away")
	assert.Equal(t, "4", f.Runs[1].Repeat.Times)
	targets := "target=redis://:s3c:ret@a,b,redis://c"
	assert.Equal(t, &request.Sweep{
		Over: []string{"threads=1,2,…,8", targets}, Repeat: "4",
		Spelled: map[string]string{targets: "target=redis://:${PW}@a,b,redis://c"},
	}, f.Runs[2].Sweep, "it is repeated as all runs are")
	assert.Equal(t, &request.Sweep{Over: []string{"threads=1,2", "payload=1KiB,2KiB"}, Repeat: "3"}, f.Runs[3].Sweep)
	assert.Zero(t, f.Runs[3].Repeat)

	written := string(request.Write("", f))
	assert.Contains(t, written, "- target=redis://:${PW}@a,b,redis://c\n", "a secret stays spelled as it was")
	f.Runs[2].Sweep.Spelled = nil
	written = string(request.Write("", f))
	assert.Contains(t, written, "# A secret is left out (password)")
	assert.Contains(t, written, "- target=redis://a,b,redis://c\n")
	assert.NotContains(t, written, "s3c")
	again := read(t, written)
	f.Runs[2].Sweep.Over[1] = "target=redis://a,b,redis://c"
	for i, r := range again.Runs {
		assert.Equal(t, comparable(t, f.Runs[i]), comparable(t, r), written)
	}
}

func TestMistakesAreNamedWithTheirLines(t *testing.T) {
	for _, c := range []struct{ name, text, want, hint string }{
		{"no YAML", "profile: [", "p.yaml:1: not YAML", ""},
		{"nothing", "# only words\n", "p.yaml: says nothing", "profile: ingestion"},
		{"a list", "- a\n", "p.yaml:1:1: expected lines of the form name: value", ""},
		{"two documents", "profile: tx\n---\nprofile: tx\n", "p.yaml:2:1: begins another document", "runs"},
		{"an unknown word", "profile: tx\nduraton: 5s\n", `p.yaml:2:1: a plan has no key "duraton"`, "did you mean duration"},
		{"letters that changed places", "profile: tx\nraet: 5\n", `p.yaml:2:1: a plan has no key "raet"`, "did you mean rate"},
		{"a parameter outside set", "profile: tx\nzzz: 5s\n", `p.yaml:2:1: a plan has no key "zzz"`, "under set:"},
		{"a repeated word", "profile: tx\nprofile: tx\n", "p.yaml:2:1: profile is already on line 1", ""},
		{"a word that is set too", "threads: 1\nset:\n  threads: 2\n", "p.yaml:3: threads is given already, in p.yaml:1", ""},
		{"a timetable as a value", "set:\n  at: 10s:threads=1\n", "p.yaml:2: the timetable cannot be set like a value", "at:"},
		{"a list where one is meant", "profile: [a, b]\n", "p.yaml:1:10: profile takes one value", ""},
		{"a mapping where a list is meant", "threshold:\n  p99: 5ms\n", "p.yaml:2:3: threshold takes a list of values", ""},
		{"a list in a list", "file: [[a]]\n", "p.yaml:1:8: file: an item of a list must be a plain value", ""},
		{"an unset variable", "target: redis://${HOSTS}\n", "p.yaml:1: target: the environment variable HOSTS is not set", "did you mean HOST"},
		{"a default as in a shell", "target: ${HOST:-x}\n", "p.yaml:1: target: ${HOST:-x} is not written ${NAME}", "$${"},
		{"an open brace", "set:\n  a: ${HOST\n", "p.yaml:2: a: ${HOST is not written ${NAME}", ""},
		{"no runs", "runs: 5\n", "p.yaml:1:1: runs is not a list of runs", ""},
		{"a run that is text", "runs:\n  - put\n", "p.yaml:2:5: a run has lines", ""},
		{"two runs of a name", "runs:\n  - name: a\n  - name: a\n", `p.yaml:3: the run on line 2 already has the name "a"`, ""},
		{"a shared name", "name: a\nruns:\n  - threads: 1\n", "p.yaml:1: the runs of a suite cannot share a name", ""},
		{"a run with runs", "runs:\n  - runs: []\n", `p.yaml:2:5: a plan has no key "runs"`, ""},
		{"a search in a word", "find: p99<10ms\n", "p.yaml:1:1: find takes keys of its own", "below it"},
		{"an unknown word of a search", "find:\n  undr: p99<10ms\n", `p.yaml:2:3: find has no key "undr"`, "did you mean under"},
		{"a list that commas take apart", "sweep: {over: threads=1,2}\n", `p.yaml:1:25: sweep has no key "2"`, "needs quotes"},
		{"a repeated word of a search", "find: {to: 1,\n to: 2}\n", "p.yaml:2:2: to is already on line 1", ""},
		{"two conditions in one", "find: {under: {p99: 5ms}}\n", "p.yaml:1:15: under takes a list of values", ""},
		{"a search that is a sweep", "find: {to: 1}\nsweep: {repeat: 1}\n", "find: a run is a search or a sweep, and not both", "empty find:"},
		{"a sweep against another", "sweep: {repeat: 1}\nagainst: 'redis://b'\n", "p.yaml:2: against: the runs of a sweep are compared with no other", ""},
		{"a sweep over a mapping", "sweep: {over: {threads: {from: 1}}}\n", "p.yaml:1:16: over: threads takes a list of values", "threads: [1, 2"},
		{"an unset variable of a search", "find: {under: 'p99<${LIMIT}'}\n", "p.yaml:1: find.under: the environment variable LIMIT is not set", ""},
		{"a stop for one run", "stop-on-failure: on\n", "p.yaml:1:1: stop-on-failure is for a file with several runs", ""},
		{"a stop that is no switch", "stop-on-failure: perhaps\nruns: [{threads: 1}]\n", `p.yaml:1: stop-on-failure: "perhaps" is not on or off`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := request.Read("p.yaml", []byte(c.text), environ)
			require.ErrorContains(t, err, c.want)
			assert.Contains(t, fault.HintOf(fault.Parts(err)[0]), c.hint)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			assert.Len(t, fault.Parts(err), 1, "and nothing else")
		})
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	f, err := request.Read("p.yaml", []byte("profil: tx\nthreads: [1]\nduration: 5s\n"), nil)
	assert.Len(t, fault.Parts(err), 2)
	require.NotNil(t, f, "what was understood can be checked further")
	assert.Equal(t, "5s", f.Runs[0].Request.Values["duration"].Text)
	_, err = request.Read("p.yaml", []byte("target: redis://${A}:${B}@h\n"), nil)
	assert.Len(t, fault.Parts(err), 2)
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	for name, text := range map[string]string{
		"one run": whole,
		"a suite": "stop-on-failure: true\nprofile: tx\nset: {a: ' x', b: 'y: z', c: '#', d: 010, e: null, f: '${EMPTY}', g: '- h', i: \"l\\nm\"}\nruns: [{name: a}, {threads: 1}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			first := read(t, text)
			written := request.Write("Two\nlines.", first)
			assert.True(t, strings.HasPrefix(string(written), "# Two\n# lines.\n"), string(written))
			again, err := request.Read("elsewhere.yaml", written, environ)
			require.NoError(t, err, string(written))
			assert.Equal(t, first.Suite, again.Suite)
			assert.Equal(t, first.StopOnFailure, again.StopOnFailure)
			require.Len(t, again.Runs, len(first.Runs))
			for i, r := range again.Runs {
				assert.Equal(t, comparable(t, first.Runs[i]), comparable(t, r), string(written))
			}
		})
	}
}

// comparable is a run without the places where its values stood, and with absolute paths.
func comparable(t *testing.T, r request.Run) request.Run {
	t.Helper()
	absolute := func(path string) string {
		if path == "" {
			return ""
		}
		out, err := filepath.Abs(path)
		require.NoError(t, err)
		return out
	}
	r.Request.From, r.Request.Spelled = nil, nil
	for name, v := range r.Request.Values {
		v.Where, v.Order = "", 0
		r.Request.Values[name] = v
	}
	r.Request.PasswordFile, r.Request.Facts = absolute(r.Request.PasswordFile), absolute(r.Request.Facts)
	for i, f := range r.Request.Files {
		r.Request.Files[i] = absolute(f)
	}
	return r
}

func TestNoSecretIsWritten(t *testing.T) {
	f := read(t, "profile: tx\ntarget: redis://app:${PW}@${HOST}\nset:\n  broker: amqp://me:hush@h?token=hush2\n")
	written := string(request.Write("", f))
	assert.Contains(t, written, "target: redis://app:${PW}@${HOST}\n", "what the plan spelled with variables stays")
	assert.Contains(t, written, "# A secret is left out (password, token)")
	assert.Contains(t, written, "broker: amqp://me@h\n")
	assert.NotContains(t, written, "hush")
	assert.NotContains(t, written, "s3c")
}

func TestWhatIsAPlan(t *testing.T) {
	assert.True(t, request.Is([]byte("profile: ingestion\n")))
	assert.True(t, request.Is([]byte("runs:\n  - threads: 1\n")))
	assert.False(t, request.Is([]byte("profile:\n  testCase: put\n")), "a map of that name")
	assert.False(t, request.Is([]byte("threads: 1\n")))
	assert.False(t, request.Is([]byte("a: [")))
	assert.True(t, request.Is([]byte("# Puts.\nprofile: [\n")), "what is wrong with it is said")
	assert.False(t, request.Is([]byte("a: [\n  profile: x\n")), "not at the beginning of a line")
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("sweep: {over: {threads: [1, 2]}, repeat: 2}\nruns: [{find: {under: p99<1s}, sweep: }]"))
	f.Add([]byte("runs: [{name: a}, {name: b, at: {1s: {threads: 2}}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := request.Read("f.yaml", data, environ)
		if err != nil {
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			return
		}
		again, err := request.Read("f.yaml", request.Write("", file), environ)
		require.NoError(t, err)
		assert.Len(t, again.Runs, len(file.Runs))
	})
}

func TestAPresetMayBeAPlan(t *testing.T) {
	presets := fstest.MapFS{
		"small.yaml":  {Data: []byte("# Few.\nthreads: 1\n")},
		"mine.yaml":   {Data: []byte("profile: tx\npreset: small\ntarget: redis://${HOST}\nthreads: 4\nrate: 7\n")},
		"nested.yaml": {Data: []byte("profile: tx\npreset: mine\n")},
		"suite.yaml":  {Data: []byte("runs: [{profile: tx}]\n")},
		"other.yaml":  {Data: []byte("profile: authz\n")},
		"search.yaml": {Data: []byte("profile: tx\nfind: {under: p99<1s}\n")},
	}
	unfold := func(r request.Request) (request.Request, error) { return request.Unfold(r, presets, environ) }
	faster := workload.Values{"rate": {Name: "rate", Text: "9", Origin: workload.OriginFlag}}
	got, err := unfold(request.Request{Profile: "tx", Preset: "mine", Values: faster})
	require.NoError(t, err)
	assert.Equal(t, []string{"small", "redis://db1", "4", "9"}, []string{got.Preset, got.Target, got.Values["threads"].Text, got.Values["rate"].Text})
	for _, name := range []string{"", "small", "unknown"} {
		got, err := unfold(request.Request{Profile: "tx", Preset: name})
		require.NoError(t, err)
		assert.Equal(t, request.Request{Profile: "tx", Preset: name}, got, "no plan stays as it is")
	}
	for name, want := range map[string]string{
		"nested": "its preset mine is a plan as well", "suite": "a plan of several runs", "search": "the plan of a search or a sweep", "other": "a plan for the profile authz, and this run uses tx",
	} {
		_, err := unfold(request.Request{Profile: "tx", Preset: name})
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}
