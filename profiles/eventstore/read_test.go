package eventstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// woodpeckerBox and estoreBox are as they are given to th2, wrapper included.
const woodpeckerBox = `apiVersion: th2.exactpro.com/v2
kind: Th2Box
metadata:
  name: woodpecker
spec:
  imageName: example.com/th2-woodpecker
  imageVersion: 2.0.0
  type: th2-act
  customConfig:
    tickRate: 1
    maxBatchSize: 175
    useTransportMode: EVENT_MODE
    generatorSettings:
      eventGeneratorSettings:
        bookName: my_book
        scope: my_scope
        generationMode: SINGLE_ROOT
        treeDepth: 0
        childCount: 0
        failureRate: 0
        descriptionLength: 0
        bodyDataLength: 200
        bodyDataLenght: 7
      messageGeneratorSettings:
        protocol: fix
  pins: {}
`

const estoreBox = `customConfig:
  maxTaskCount: 64
  maxTaskDataSize: 536870912
  maxRetryCount: 3
  retryDelayBase: 5000
  processingThreads: 1
cradleManager:
  timeout: 4000
  resultPageSize: 1000
  composingServiceThreads: 3
  counterPersistenceInterval: 15000
  maxUncompressedTestEventSize: 5120
  compressionType: ZLIB
  prepareStorage: false
mqRouter:
  prefetchCount: 160
`

func TestBoxesOfTh2AreRead(t *testing.T) {
	vs, warnings, err := Read([]workload.File{{Path: "woodpecker.yml", Data: []byte(woodpeckerBox)}, {Path: "estore.yml", Data: []byte(estoreBox)}})
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
	require.Len(t, warnings, 2)
	assert.Contains(t, warnings[0], "woodpecker.yml:23: eventGeneratorSettings: bodyDataLenght is unknown and has no effect; did you mean bodyDataLength?")
	assert.Contains(t, warnings[1], "messageGeneratorSettings have no effect")
	vs.Set(workload.Value{Name: "rate", Text: "1000", Origin: workload.OriginFlag})
	p, err := Design(workload.Inputs{Values: vs, Namespace: "x"})
	require.NoError(t, err)
	s := p.Private.(*spec)
	assert.Equal(t, 175, p.Tracks()[0].Start.Batch)
	assert.Equal(t, codecZlib, s.codec)
	assert.Equal(t, 64, s.maxTasks)
}

func TestWhatABoxDoesNotSayIsAsInTheOriginal(t *testing.T) {
	vs, _, err := Read([]workload.File{{Path: "w.yml", Data: []byte("generatorSettings: {eventGeneratorSettings: {scope: s}}")}})
	require.NoError(t, err)
	assert.Equal(t, "3", vs["treeDepth"].Text)
	assert.Equal(t, "default_book", vs["bookName"].Text)
	assert.Equal(t, "s", vs["scope"].Text)
	vs, _, err = Read([]workload.File{{Path: "ours.yml", Data: []byte("schema: cradle\nmaxTaskCount: 5\n")}})
	require.NoError(t, err)
	assert.Equal(t, "cradle", vs["schema"].Text)
	vs, _, err = Read([]workload.File{{Path: "both.yml", Data: []byte("generators: {count: 2, customConfig: {maxBatchSize: 300}}\nstore: {schema: lean, customConfig: {maxTaskCount: 7}}\nevent: {bodyBytes: 900}\ncompat: {th2: true}\n")}})
	require.NoError(t, err)
	assert.Equal(t, "2 300 lean 7 900 true", vs["threads"].Text+" "+vs["batch"].Text+" "+vs["schema"].Text+" "+vs["maxTaskCount"].Text+" "+vs["payload"].Text+" "+vs["compat"].Text)
}

func TestBoxesOfEveryModeMakeEvents(t *testing.T) {
	for _, m := range []string{"MESSAGE_MODE", "MESSAGE_TRANSPORT_MODE", "EVENT_TRANSPORT_MODE", "true", "false"} {
		vs, warnings, err := Read([]workload.File{{Path: "w.yml", Data: []byte("customConfig:\n  maxBatchSize: 7\n  useTransportMode: " + m + "\n")}})
		require.NoError(t, err)
		assert.Equal(t, "7", vs["batch"].Text)
		assert.Equal(t, []string{"w.yml:3: useTransportMode: " + m + " makes no batches of events in the original; here they are made all the same"}, warnings)
	}
}

// The original compares with the threshold of message batches, whatever that of events
// says.
func TestThresholdOfCompressionIsAnothersInCompat(t *testing.T) {
	box := workload.File{Path: "e.yml", Data: []byte("cradleManager:\n  maxUncompressedTestEventSize: 100\n  maxUncompressedMessageBatchSize: 9000\n")}
	for compat, want := range map[string]int{"off": 100, "on": 9000} {
		vs, _, err := Read([]workload.File{box})
		require.NoError(t, err)
		vs.Set(workload.Value{Name: "compat", Text: compat, Origin: workload.OriginFlag})
		p, err := Design(workload.Inputs{Values: vs, Namespace: "x"})
		require.NoError(t, err)
		assert.Equal(t, want, p.Private.(*spec).compressOver)
		vs.Set(workload.Value{Name: "compressOver", Text: "7", Origin: workload.OriginFlag})
		p, err = Design(workload.Inputs{Values: vs, Namespace: "x"})
		require.NoError(t, err)
		assert.Equal(t, 7, p.Private.(*spec).compressOver, "given by hand")
	}
}

func TestBrokenBoxesNameTheLine(t *testing.T) {
	for want, text := range map[string]string{
		"b.yml: line 3: did not find expected ',' or ']'":                              "spec:\n  customConfig:\n  tickRate: [1\n",
		"b.yml:2: tickRate is not a single":                                            "customConfig:\n  tickRate: [1]\n",
		"b.yml:1: customConfig is not a mapping":                                       "customConfig: 7\n",
		"b.yml:2: useTransportMode: \"MASSAGE_MODE\" is not a mode: one of EVENT_MODE": "customConfig:\n  useTransportMode: MASSAGE_MODE\n",
		"b.yml:3: retryDelayBase: \"soon\"":                                            "customConfig:\n  maxTaskCount: 1\n  retryDelayBase: soon\n",
	} {
		_, _, err := Read([]workload.File{{Path: "b.yml", Data: []byte(text)}})
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}
