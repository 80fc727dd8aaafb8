package eventstore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/profiletest/sample"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// woodpeckerBox and estoreBox are as they are given to th2, wrapper included.
var woodpeckerBox = sample.Text("th2/woodpecker.yml")

var estoreBox = sample.Text("th2/estore.yml")

func TestBoxesOfTh2AreRead(t *testing.T) {
	vs, found, err := read([]workload.File{{Path: "woodpecker.yml", Data: []byte(woodpeckerBox)}, {Path: "estore.yml", Data: []byte(estoreBox)}})
	require.NoError(t, err)
	for name, want := range map[string]string{
		"tickRate": "1", "batch": "175", "bookName": "my_book", "scope": "my_scope", "generationMode": "SINGLE_ROOT", "treeDepth": "0", "failureRate": "0",
		"maxTaskCount": "64", "maxTaskDataSize": "536870912", "maxRetryCount": "3", "retryDelayBase": "5000ms", "processingThreads": "3",
		"timeout": "4000ms", "resultPageSize": "1000", "counterPersistenceInterval": "15000ms", "compressOver": "5120", "compression": "zlib", "prefetchCount": "160",
	} {
		assert.Equal(t, want, vs[name].Text, name)
		assert.Equal(t, workload.OriginFile, vs[name].Origin, name)
	}
	assert.Equal(t, "woodpecker.yml:11", vs["batch"].Where)
	warnings := found.Warnings
	require.Len(t, warnings, 4)
	assert.Contains(t, warnings[0], "woodpecker.yml:23: bodyDataLenght is unknown in eventGeneratorSettings and has no effect; did you mean bodyDataLength?")
	assert.Contains(t, warnings[1], "messageGeneratorSettings has no effect")
	assert.Equal(t, "woodpecker.yml: keys without effect here: imageName (line 6), imageVersion (line 7), type (line 8), pins (line 26)", warnings[2])
	assert.Equal(t, "estore.yml: keys without effect here: prepareStorage (line 14)", warnings[3])
	vs.Set(workload.Value{Name: "rate", Text: "1000", Origin: workload.OriginFlag})
	p, err := Design(workload.Inputs{Values: vs, Namespace: "x"})
	require.NoError(t, err)
	s := p.Binder.(*spec)
	assert.Equal(t, 175, p.Tracks()[0].Start.Batch)
	assert.Equal(t, wire.Zlib, s.stage.Codec)
	assert.Equal(t, 64, s.stage.MaxTasks)
	assert.Equal(t, "woodpecker", vs["woodpeckerName"].Text)
	assert.NotContains(t, vs, "estoreName", "this one has no metadata")
	assert.Equal(t, 1155, p.Tracks()[0].Start.Payload)
	became := map[string]string{}
	for _, k := range found.Keys {
		became[k.Key] = k.Value + k.Text
	}
	assert.Equal(t, "has no effect here", became["pins"])
	assert.Equal(t, "5000", became["retryDelayBase"])
}

func TestNameAndBodiesAreThoseOfTheBox(t *testing.T) {
	vs, _, err := read([]workload.File{
		{Path: "w.yml", Data: []byte("metadata: {name: wp-2}\nspec: {customConfig: {generatorSettings: {eventGeneratorSettings: {bodyDataLength: 400}}}}\n")},
		{Path: "e.yml", Data: []byte("metadata: {name: store-1}\nspec: {customConfig: {maxTaskCount: 7}}\n")},
	})
	require.NoError(t, err)
	assert.Equal(t, "wp-2 store-1", vs["woodpeckerName"].Text+" "+vs["estoreName"].Text)
	p, err := Design(workload.Inputs{Values: vs, Namespace: "x"})
	require.NoError(t, err)
	assert.Equal(t, 2310, p.Tracks()[0].Start.Payload)
	assert.Contains(t, strings.Join(p.Warnings, "\n"), "bodies are tables of 2310 bytes")
}

func TestWhatABoxDoesNotSayIsAsInTheOriginal(t *testing.T) {
	vs, _, err := read([]workload.File{{Path: "w.yml", Data: []byte("generatorSettings: {eventGeneratorSettings: {scope: s}}")}})
	require.NoError(t, err)
	assert.Equal(t, "3", vs["treeDepth"].Text)
	assert.Equal(t, "default_book", vs["bookName"].Text)
	assert.Equal(t, "s", vs["scope"].Text)
	vs, _, err = read([]workload.File{{Path: "ours.yml", Data: []byte("schema: cradle\nmaxTaskCount: 5\n")}})
	require.NoError(t, err)
	assert.Equal(t, "cradle", vs["schema"].Text)
	_, _, err = read([]workload.File{{Path: "ours.yml", Data: []byte("schema: cradle\nmaxTaskCuont: 5\n")}})
	require.ErrorContains(t, err, `ours.yml:2:1: there is no knob or parameter "maxTaskCuont"`)
	assert.Contains(t, fault.HintOf(err), "maxTaskCount")
	vs, _, err = read([]workload.File{{Path: "both.yml", Data: []byte("generators: {count: 2, customConfig: {maxBatchSize: 300}}\nstore: {schema: lean, customConfig: {maxTaskCount: 7}}\nevent: {bodyBytes: 900}\ncompat: {th2: true}\n")}})
	require.NoError(t, err)
	assert.Equal(t, "2 300 lean 7 900 true", vs["threads"].Text+" "+vs["batch"].Text+" "+vs["schema"].Text+" "+vs["maxTaskCount"].Text+" "+vs["payload"].Text+" "+vs["compat"].Text)
}

func TestBoxesOfEveryModeMakeEvents(t *testing.T) {
	for _, m := range []string{"MESSAGE_MODE", "MESSAGE_TRANSPORT_MODE", "EVENT_TRANSPORT_MODE", "true", "false"} {
		vs, found, err := read([]workload.File{{Path: "w.yml", Data: []byte("customConfig:\n  maxBatchSize: 7\n  useTransportMode: " + m + "\n")}})
		require.NoError(t, err)
		assert.Equal(t, "7", vs["batch"].Text)
		assert.Equal(t, []string{"w.yml:3: useTransportMode: " + m + " makes no batches of events in the original; here it does"}, found.Warnings)
	}
}

// The original compares with the threshold of message batches, whatever that of events
// says.
func TestThresholdOfCompressionIsAnothersInCompat(t *testing.T) {
	file := workload.File{Path: "e.yml", Data: []byte("cradleManager:\n  maxUncompressedTestEventSize: 100\n  maxUncompressedMessageBatchSize: 9000\n")}
	for compat, want := range map[string]int{"off": 100, "on": 9000} {
		vs, _, err := read([]workload.File{file})
		require.NoError(t, err)
		vs.Set(workload.Value{Name: "compat", Text: compat, Origin: workload.OriginFlag})
		p, err := Design(workload.Inputs{Values: vs, Namespace: "x"})
		require.NoError(t, err)
		assert.Equal(t, want, p.Binder.(*spec).stage.CompressOver)
		vs.Set(workload.Value{Name: "compressOver", Text: "7", Origin: workload.OriginFlag})
		p, err = Design(workload.Inputs{Values: vs, Namespace: "x"})
		require.NoError(t, err)
		assert.Equal(t, 7, p.Binder.(*spec).stage.CompressOver, "given by hand")
	}
}

// The steps of the woodpecker's service are settings at the start, a duration and live
// changes. A rate is that of one generator.
func TestStepsAreATimetable(t *testing.T) {
	read := func(text string) (workload.Values, []string) {
		t.Helper()
		vs, found, err := read([]workload.File{{Path: "s.yml", Data: []byte(text)}})
		require.NoError(t, err)
		return vs, found.Warnings
	}
	const documented = "generators: {count: 2}\nsteps:\n- {name: '1', duration: 1800, rate: 50000, maxBatchSize: 300}\n- {name: '2', duration: 1800, rate: 50000, maxBatchSize: 400}\n"
	vs, warnings := read(documented)
	assert.Empty(t, warnings)
	assert.Equal(t, "2 100000 300 3600s 1800s:batch=400", strings.Join([]string{vs["threads"].Text, vs["rate"].Text, vs["batch"].Text, vs["duration"].Text, vs["at"].Text}, " "))
	vs, _ = read(documented + "cycles: 2\n")
	assert.Equal(t, "7200s, 1800s:batch=400; 3600s:batch=300; 5400s:batch=400", vs["duration"].Text+", "+vs["at"].Text)
	vs, warnings = read("customConfig: {maxBatchSize: 175, tickRate: 10}\nsteps: [{duration: 5, rate: 1000, tickRate: 4}, {duration: 7, rate: 2000, tickRate: 5, settings: {}}, {duration: 1, rate: 2000}]\n")
	assert.Equal(t, "2 2000 175 4 13s 5s:rate=4000", strings.Join([]string{vs["threads"].Text, vs["rate"].Text, vs["batch"].Text, vs["tickRate"].Text, vs["duration"].Text, vs["at"].Text}, " "))
	require.Len(t, warnings, 2)
	assert.Contains(t, warnings[0], "settings has no effect in a step")
	assert.Contains(t, warnings[1], "tickRate 5 of step 2 has no effect")
	_, warnings = read("cycles: 2\nmqRouter: {}\n")
	assert.Equal(t, []string{"s.yml:1: cycles has no effect: there are no steps"}, warnings)
}

func TestBrokenBoxesNameTheLine(t *testing.T) {
	for want, text := range map[string]string{
		"b.yml:3: not YAML: did not find expected ',' or ']'":                             "spec:\n  customConfig:\n  tickRate: [1\n",
		"b.yml:2:13: tickRate is not a single":                                            "customConfig:\n  tickRate: [1]\n",
		"b.yml:1:15: customConfig is not a mapping":                                       "customConfig: 7\n",
		"b.yml:2:21: useTransportMode: \"MASSAGE_MODE\" is not a mode: one of EVENT_MODE": "customConfig:\n  useTransportMode: MASSAGE_MODE\n",
		"b.yml:3:19: retryDelayBase: \"soon\"":                                            "customConfig:\n  maxTaskCount: 1\n  retryDelayBase: soon\n",
		"b.yml:2:14: duration of a step: \"0\" is not a whole number of 1 or more":        "steps:\n- {duration: 0, rate: 5}\n",
		"b.yml:2:3: a step has no rate":                                                   "steps:\n- {duration: 5}\n",
		"b.yml:2:3: a step has no duration":                                               "steps:\n- {rate: 5}\n",
		"b.yml:1:8: steps is not a list":                                                  "steps: 7\n",
		"b.yml:1:8: 1 steps in 5000 cycles are more than 1000":                            "steps: [{duration: 5, rate: 5}]\ncycles: 5000\n",
		"b.yml:2:9: cycles: \"0\" is not a whole number of 1 or":                          "steps: [{duration: 5, rate: 5}]\ncycles: 0\n",
	} {
		_, _, err := read([]workload.File{{Path: "b.yml", Data: []byte(text)}})
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}
