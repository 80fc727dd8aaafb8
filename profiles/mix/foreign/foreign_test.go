package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

const sec = int64(time.Second)

func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, name := range []string{"session.sh", "suite.yml", "orders.properties", "readings.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		out[name] = data
	}
	return out
}

// fixture reads a file of testdata that nothing of is refused.
func fixture(t *testing.T, name string) (*model.Workload, []workload.FileKey) {
	t.Helper()
	w, notes, err := Read(workload.File{Path: name, Data: fixtures(t)[name]})
	require.NoError(t, err)
	require.NoError(t, Refusal(notes))
	return w, notes
}

// said returns what was said of a key, with its line.
func said(notes []workload.FileKey, key string) (out []string) {
	for _, n := range notes {
		if n.Key == key {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", n.Where, n.State, n.Text)))
		}
	}
	return out
}

func TestAScriptOfMemtierThatLoadsAndRuns(t *testing.T) {
	w, notes := fixture(t, "session.sh")
	d := w.Data[0]
	assert.Equal(t, model.Data{
		Name: "memtier", Type: model.Value, Records: 200_001, Size: model.One(512), TTL: model.Between(60*sec, 300*sec),
		Key: model.KeyForm{Prefix: "session:"}, Cached: true, Warm: true,
	}, d)
	sizes := model.Number{Kind: model.Weighted, Table: []model.Choice{{Weight: 60, Min: 100, Max: 100}, {Weight: 30, Min: 1000, Max: 1000}, {Weight: 10, Min: 8192, Max: 8192}}}
	assert.Equal(t, []model.Operation{
		{Name: "set", Weight: 1, Steps: []model.Step{{
			Do: model.Put, Data: "memtier", Size: sizes, Pipeline: 8, Where: "session.sh:10",
			Keys: model.Keys{Kind: model.Gaussian, To: 200_001, Mean: 50_000 / 200_001.0, Deviation: 20_000 / 200_001.0},
		}}},
		{Name: "get", Weight: 9, Steps: []model.Step{{
			Do: model.Get, Data: "memtier", Pipeline: 8, Where: "session.sh:10", Keys: model.Keys{Kind: model.ZipfInOrder, To: 200_001, Exponent: 1.2},
		}}},
	}, w.Operations)
	assert.Equal(t, model.Run{Threads: 100, Rate: 5000, Duration: 2 * time.Minute}, w.Run)
	assert.Equal(t, []string{"session.sh:12 done"}, said(notes, "--data-size-list"))
	assert.Contains(t, said(notes, "--hide-histogram")[0], "session.sh:10 approximated no effect")
	assert.Contains(t, said(notes, "memtier_benchmark")[0], "session.sh:7 approximated the records")
}

func TestASuiteAroundCommandLines(t *testing.T) {
	w, notes := fixture(t, "suite.yml")
	keys := model.Keys{Kind: model.Uniform, From: 1, To: 5001}
	assert.Equal(t, "cart-expiring-100B", w.Name)
	assert.True(t, w.Data[0].Warm)
	require.Len(t, w.Operations, 3)
	assert.Equal(t, model.Operation{Name: "setex", Weight: 1, Steps: []model.Step{{
		Do: model.Put, Data: "memtier", Keys: keys, Size: model.One(100), TTL: model.One(10 * sec), Pipeline: 1, Where: "suite.yml:27",
	}}}, w.Operations[0])
	assert.Equal(t, "get", w.Operations[1].Name)
	assert.InDelta(t, 9, w.Operations[1].Weight, 0)
	assert.Equal(t, model.ZipfInOrder, w.Operations[1].Steps[0].Keys.Kind)
	assert.Equal(t, "HSET cart:all ? ?", w.Operations[2].Steps[0].Text)
	assert.Equal(t, []model.Arg{{Kind: model.ArgKey, Data: "memtier", Keys: keys}, {Kind: model.ArgValue, Data: "memtier", Number: model.One(100)}}, w.Operations[2].Steps[0].Args)
	assert.Equal(t, model.Run{Threads: 100, Duration: time.Minute}, w.Run)
	assert.Len(t, said(notes, "--command"), 3)
	assert.Contains(t, said(notes, "dbconfig.configuration-parameters")[0], "suite.yml:5 approximated no effect")
}

func TestOptionsAlone(t *testing.T) {
	for text, want := range map[string]func(w *model.Workload) bool{
		"--ratio 1:10": func(w *model.Workload) bool {
			return w.Run.Threads == 200 && w.Run.Count == 2_000_000 && w.Data[0].Records == 10_000_001
		},
		"--ratio=0:1 -n allkeys -c 1 -t 1":   func(w *model.Workload) bool { return len(w.Operations) == 1 && w.Run.Count == 10_000_000 },
		"--key-pattern S:S\n--key-maximum=9": func(w *model.Workload) bool { return w.Operations[0].Steps[0].Keys.Kind == model.Sequential },
		"--ratio 1:10 --multi-key-get 5": func(w *model.Workload) bool {
			return w.Operations[1].Weight == 2 && w.Operations[1].Steps[0].Batch.Max == 5
		},
		"-R -d 10 --data-size-range=4-8":        func(w *model.Workload) bool { return w.Data[0].Size.Min == 4 && w.Data[0].Size.Max == 8 },
		"--threads 3 --req 5 --clients 2 -x 1":  func(w *model.Workload) bool { return w.Run.Threads == 6 && w.Run.Count == 30 },
		"--command='MGET __key__ __key__'":      func(w *model.Workload) bool { return w.Operations[0].Steps[0].Batch.Max == 2 },
		"--command 'SET __key__ __data__ PX 9'": func(w *model.Workload) bool { return w.Operations[0].Steps[0].TTL.Min == 9_000_000 },
		"--command 'PING' --command 'ping'": func(w *model.Workload) bool {
			return w.Operations[1].Name == "ping-2" && w.Operations[1].Steps[0].Do == model.Statement
		},
		`--command 'SET a "b c" __key__ NX'`:     func(w *model.Workload) bool { return w.Operations[0].Steps[0].Text == `SET a "b c" ? NX` },
		"-DRc 4 # the rest is a comment 'and so": func(w *model.Workload) bool { return w.Run.Threads == 16 },
	} {
		w, notes, err := Memtier("--memtier", text)
		require.NoError(t, err, text)
		require.NoError(t, Refusal(notes), text)
		assert.True(t, want(w), "%s: %+v", text, w)
	}
}

// Every option that memtier_benchmark has, and what becomes of it.
func TestNoOptionIsForgotten(t *testing.T) {
	for name, o := range memtierOptions {
		text := "--" + name
		if !o.plain {
			text += " 1"
		}
		_, notes, err := Memtier("x", "--command PING "+text)
		require.NoError(t, err)
		assert.Len(t, notes, 2, name)
		if o.do == nil {
			assert.NotEmpty(t, notes[1].Text, name)
		}
	}
	for short, long := range memtierShort {
		assert.Contains(t, memtierOptions, long, "-%c", short)
	}
}

func TestWhatMemtierIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"--data-import f.csv":              "--data-import: perfbench makes its data itself",
		"--ratios 1:2":                     "did you mean --ratio?",
		"--ratio 1":                        "not of the form",
		"--ratio 0:0":                      "nothing is to be done",
		"--key-pattern P:R":                "P must be both",
		"--key-pattern X:R":                "letters G",
		"--data-size":                      "the value is missing",
		"--data-size 0":                    "whole number from 1",
		"--data-size-list 3:0":             "a size with a weight",
		"--data-size-range 9-3":            "does not lead",
		"--expiry-range 9":                 "not of the form",
		"--protocol redi":                  "did you mean",
		"--command-ratio 3":                "no --command before",
		"--command 'SET x__key__ 1'":       "as words of their own",
		"--command ''":                     "not one command",
		"--key-zipf-exp 5":                 "below 5",
		"--key-minimum 10 --key-maximum 5": "above --key-maximum",
		"--wait-ratio 1:1":                 "no WAIT",
		"--hide-histogram=1":               "has no value",
		"-q":                               "memtier_benchmark has nothing of this name",
		"--clients 1000000 -t 1000000 -n 100000000": "more than can be counted",
		"--ratio 1:1 stray":                         "neither an option",
	} {
		_, notes, err := Memtier("x.sh", text)
		require.NoError(t, err, text)
		err = Refusal(notes)
		require.ErrorContains(t, err, want, text)
		assert.Regexp(t, `^x\.sh:1: `, err.Error())
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	_, notes, err := Memtier("x.sh", "memtier_benchmark --ratio 1:1\nmemtier_benchmark --ratio 1:10\n")
	require.NoError(t, err)
	assert.ErrorContains(t, Refusal(notes), "x.sh:1: memtier_benchmark: a file is one workload")
}

// What is on our own command line is kept with the run.
func TestPasswordsAreForFilesOnly(t *testing.T) {
	for _, text := range []string{"-a geheim", "--uri redis://me:geheim@host"} {
		_, notes, err := Memtier("--memtier", text)
		require.NoError(t, err)
		err = Refusal(notes)
		require.ErrorContains(t, err, "use --password-file")
		assert.NotContains(t, err.Error(), "geheim")
		_, notes, err = Memtier("x.sh", text)
		require.NoError(t, err)
		require.NoError(t, Refusal(notes))
		assert.NotContains(t, fmt.Sprint(notes), "geheim")
	}
}

func TestScriptsThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"memtier_benchmark --ratio '1:10":                 "s.sh:1: the quote",
		"\nmemtier_benchmark --key-maximum $(nproc)":      "s.sh:2: the shell would compute",
		"# x\n\nmemtier_benchmark -n $N":                  "s.sh:3: the variable N has no value",
		"memtier_benchmark -n ${N":                        "s.sh:1: the ${",
		"memtier_benchmark -n ${N%x}":                     "more than the value",
		"memtier_benchmark -n \"$1\"":                     "known only while",
		"A=1234567890\n" + strings.Repeat("A=$A$A\n", 40): "come to more",
		"echo memtier_benchmark_x":                        "no command of this file runs",
	} {
		if strings.HasPrefix(text, "A=") {
			text += "memtier_benchmark -n $A"
		}
		_, _, err := Read(workload.File{Path: "s.sh", Data: []byte(text)})
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

func TestPropertiesOfYCSB(t *testing.T) {
	w, notes := fixture(t, "orders.properties")
	assert.Equal(t, "orders", w.Name)
	assert.Equal(t, model.Data{
		Name: "orders", Type: model.Hash, Records: 50_000, Size: model.Between(50, 250),
		Fields: []model.Field{{Name: "f0"}, {Name: "f1"}, {Name: "f2"}, {Name: "f3"}}, Key: model.KeyForm{Prefix: "user", Length: 16},
	}, w.Data[0])
	latest := model.Keys{Kind: model.Latest, Exponent: 0.99}
	step := func(line int, s model.Step) []model.Step {
		s.Data, s.Where = "orders", fmt.Sprintf("orders.properties:%d", line)
		return []model.Step{s}
	}
	assert.Equal(t, []model.Operation{
		{Name: "read", Weight: 0.7, Steps: step(19, model.Step{Do: model.Get, Keys: latest, Fields: 1})},
		{Name: "update", Weight: 0.1, Steps: step(20, model.Step{Do: model.Update, Keys: latest, Fields: 1})},
		{Name: "insert", Weight: 0.1, Steps: step(21, model.Step{Do: model.Insert})},
		{Name: "scan", Weight: 0.05, Steps: step(22, model.Step{Do: model.Scan, Keys: latest, Fields: 1, Count: model.Number{Kind: model.Skewed, Min: 1, Max: 40, Exponent: 0.99}})},
		{Name: "readmodifywrite", Weight: 0.05, Steps: step(23, model.Step{Do: model.Modify, Keys: latest, Fields: 1})},
	}, w.Operations)
	assert.Equal(t, model.Run{Threads: 16, Rate: 5000, Count: 200_000, Duration: 90 * time.Second}, w.Run)
	assert.Equal(t, []string{"orders.properties:27 approximated no effect: the store, and how it is reached, are named by --target"}, said(notes, "redis.host"))
	for _, n := range notes[1:] {
		assert.NotEqual(t, notes[0], n)
	}
	assert.Len(t, notes, 25, "each key once")
}

func TestDistributionsOfYCSB(t *testing.T) {
	for text, want := range map[string]model.Keys{
		"requestdistribution=uniform":                         {Kind: model.Uniform, To: 1000},
		"requestdistribution=zipfian":                         {Kind: model.Zipf, Exponent: 0.99},
		"requestdistribution=hotspot\nhotspotdatafraction=.1": {Kind: model.HotSet, Hot: 0.1, HotCalls: 0.8},
		"requestdistribution=sequential\ninsertstart=5":       {Kind: model.Sequential, From: 5},
		"requestdistribution=exponential":                     {Kind: model.LatestExponential, Hot: 0.8571428571, HotCalls: 0.95},
		"insertstart=100\ninsertcount=50":                     {Kind: model.Uniform, From: 100, To: 150},
	} {
		w, notes, err := Read(workload.File{Path: "w", Data: []byte("recordcount=1000\n" + text)})
		require.NoError(t, err)
		require.NoError(t, Refusal(notes))
		assert.Equal(t, want, w.Operations[0].Steps[0].Keys, text)
		assert.Equal(t, []string{"read", "update"}, []string{w.Operations[0].Name, w.Operations[1].Name}, "what YCSB does if nothing is said")
	}
}

func TestWhatYCSBIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"recordcount=x":                                       "p:1: recordcount: \"x\" is not a whole number",
		"recordcount=1\nreadpropotion=1":                      "p:2: readpropotion: the core workload of YCSB has nothing of this name; did you mean readproportion",
		"recordcount=1\nworkload=a.TimeSeries":                "only CoreWorkload",
		"recordcount=1\nrequestdistribution=zip":              "not one of uniform, zipfian",
		"recordcount=1\nreadproportion=2e9":                   "not a number from 0",
		"recordcount=1\nreadallfields=yes":                    "neither true nor false",
		"recordcount=1\nreadproportion=0\nupdateproportion=0": "nothing is to be done",
		"recordcount=9\ninsertcount=10":                       "must be at least",
		"recordcount=1\nfieldlengthdistribution=histogram":    "another file",
		"recordcount=1\nhdrhistogram.percentile=3":            "did you mean hdrhistogram.percentiles",
		"recordcount=1\ntable=a;b":                            "begin with a letter",
		"recordcount=1\nminscanlength=9\nmaxscanlength=2":     "above maxscanlength",
	} {
		_, notes, err := Read(workload.File{Path: "p", Data: []byte(text)})
		require.NoError(t, err, text)
		assert.ErrorContains(t, Refusal(notes), want, text)
	}
	w, notes, err := Read(workload.File{Path: "p", Data: []byte("threadcount=4")})
	require.NoError(t, err)
	assert.EqualValues(t, unsaid, w.Data[0].Records)
	assert.Contains(t, said(notes, "recordcount")[0], "not set here")
}

func TestAUserProfileOfCassandraStress(t *testing.T) {
	w, notes := fixture(t, "readings.yaml")
	assert.Equal(t, model.Data{
		Name: "readings", Type: model.Hash, Records: 20_000, Size: model.Between(4, 8),
		Fields: []model.Field{
			{Name: "value", Size: model.One(8)}, {Name: "note", Size: model.Between(10, 40)},
			{Name: "raw", Size: model.Number{Kind: model.Skewed, Min: 64, Max: 4096, Exponent: 1}}, {Name: "tags"},
		},
	}, w.Data[0])
	require.Len(t, w.Operations, 3)
	put, newest, amend := w.Operations[0].Steps[0], w.Operations[1].Steps[0], w.Operations[2].Steps[0]
	assert.Equal(t, model.Put, put.Do)
	assert.Equal(t, model.One(3), put.Batch)
	assert.Equal(t, model.Gaussian, put.Keys.Kind)
	assert.InDelta(t, 0.5, put.Keys.Mean, 1e-4)
	assert.InDelta(t, 1.0/8, put.Keys.Deviation, 1e-4)
	assert.Equal(t, model.Step{Do: model.Get, Data: "readings", Keys: put.Keys, Names: []string{"value", "note"}, Where: "readings.yaml:32"}, newest)
	assert.Equal(t, model.Update, amend.Do)
	assert.Equal(t, []string{"note"}, amend.Names)
	assert.Equal(t, []string{"readings.yaml:19 done"}, said(notes, "columnspec.sensor.population"))
	assert.Contains(t, said(notes, "columnspec.at.cluster")[0], "a partition has one row")
	assert.Contains(t, said(notes, "ops")[0], "equally frequent")
}

func TestWhatCassandraStressIsRefused(t *testing.T) {
	const table = "table_definition: create table t (a text primary key, b int)\n"
	for text, want := range map[string]string{
		table + "colunmspec: []\ncolumnspec: []":                                    "p.yaml:2: colunmspec: cassandra-stress has nothing of this name; did you mean columnspec",
		table + "columnspec:\n - name: c\n   size: fixed(1)":                        "p.yaml:3: columnspec.c: table_definition has nothing of this name",
		table + "columnspec:\n - name: b\n   sise: fixed(1)":                        "did you mean columnspec.b.size",
		table + "columnspec:\n - name: b\n   size: unifrom(1..2)":                   "did you mean uniform",
		table + "columnspec:\n - name: b\n   size: uniform(9..2)":                   "not below",
		table + "keyspace: k\ninsert: {batchtype: X}":                               "not LOGGED",
		table + "keyspace: k\nqueries: {q: {cql: \"select * from t where b = ?\"}}": "queries.q: it does not ask for one partition: a = ?",
		table + "keyspace: k\nqueries: {q: {cql: grant all}}":                       "not one SELECT",
		table + "keyspace: k\nqueries: {q: {}}":                                     "no cql",
		table + "keyspace: k\nextra_definitions: [x]":                               "no other tables",
		table + "keyspace: k\ntoken_range_queries: {all: {}}":                       "token_range_queries.all: perfbench reads records by their keys",
		"keyspace: k\ntable: x\n" + table:                                           "it creates t, and table is x",
		"table_definition: |\n  create table t (\n    a text,\n    b\n  )":          "p.yaml:4: table_definition: the column b has no type",
		"table_definition: |\n  create table t (a int, b int\n":                     "p.yaml:2: table_definition: the bracket",
		"table_definition: create table t (a int primary key)":                      "no column besides",
		"table_definition: create table t (a int, b int, primary key (c))":          "which is not one of its columns",
		"table_definition: drop table t":                                            "does not begin as CREATE TABLE",
	} {
		_, notes, err := Read(workload.File{Path: "p.yaml", Data: []byte(text)})
		require.NoError(t, err, text)
		assert.ErrorContains(t, Refusal(notes), want, text)
	}
}

func TestFilesOfNobodyAreNamedInOneSentence(t *testing.T) {
	for name, c := range map[string]struct{ path, text, want string }{
		"empty":          {"a.properties", " \n", "a.properties: there is nothing in it"},
		"bytes":          {"a.bin", "x\ny\x00z", "a.bin:2: this is not text"},
		"prose":          {"a.txt", "Dear all,\n", "a.txt:1: this is not the file of a tool"},
		"other settings": {"a.properties", "log4j.rootLogger=INFO\n", "a.properties:1: this is not the file of a tool"},
		"broken yaml":    {"a.yml", "clientconfig: [\n", "a.yml:1: not YAML"},
		"no arguments":   {"a.yml", "clientconfig:\n  tool: memtier_benchmark\n", "a.yml:1:1: this suite has no clientconfig"},
		"no table":       {"a.yaml", "keyspace: x\ncolumnspec: []\n", "a.yaml:1:1: this profile has no table_definition"},
		"odd queries":    {"a.yaml", "keyspace: x\ntable_definition: create table t (a int primary key, b int)\nqueries: [a]", "a.yaml:3:10: queries is not a mapping"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Read(workload.File{Path: c.path, Data: []byte(c.text)})
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
	w, _, err := Read(workload.File{Path: "ours.yaml", Data: []byte("data: {}\noperations: {}\n")})
	assert.NoError(t, err)
	assert.Nil(t, w, "YAML that may be ours")
}

// A file that was cut short is read, or refused in words with a line: nothing panics, and
// what is read can be run.
func TestFilesCutShort(t *testing.T) {
	for name, data := range fixtures(t) {
		for n := range data {
			sane(t, name, data[:n])
		}
	}
}

func sane(t testing.TB, path string, data []byte) {
	t.Helper()
	w, notes, err := Read(workload.File{Path: path, Data: data})
	if err == nil {
		err = Refusal(notes)
	}
	if err != nil {
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), "%v", err)
		assert.Contains(t, err.Error(), path+":")
		return
	}
	if w == nil {
		return
	}
	require.NotEmpty(t, w.Operations)
	for _, d := range w.Data {
		assert.Positive(t, d.Records)
		assert.GreaterOrEqual(t, d.Size.Max+int64(len(d.Size.Table)), int64(1))
	}
	for _, o := range w.Operations {
		assert.Greater(t, o.Weight, 0.0)
		for _, s := range o.Steps {
			if s.Data != "" {
				assert.True(t, slices.ContainsFunc(w.Data, func(d model.Data) bool { return d.Name == s.Data }))
			}
			assert.LessOrEqual(t, s.Keys.From, max(s.Keys.To, s.Keys.From))
		}
	}
	assert.GreaterOrEqual(t, w.Run.Count, int64(0))
	assert.GreaterOrEqual(t, w.Run.Threads, 0)
}

func FuzzRead(f *testing.F) {
	for name, data := range fixtures(f) {
		f.Add(name, data)
	}
	for _, text := range []string{
		"--ratio 1:10 --data-size-range 1-2", "memtier_benchmark --command 'SET __key__ __data__' -n ${X:-3}", "a=$b\n'", "-c50 --key-pattern Z:G",
	} {
		f.Add("a.sh", []byte(text))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		path := "f" + filepath.Ext(name)
		if strings.ContainsAny(path, ":\n\x00/") || len(path) > 20 {
			path = "f"
		}
		sane(t, path, data)
	})
}
