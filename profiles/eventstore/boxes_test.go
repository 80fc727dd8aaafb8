package eventstore

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/eventstoretest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

var yamlBlock = regexp.MustCompile("(?s)### (woodpecker|estore)\n\n```yaml\n(.*?)```")

// The boxes in the document are what was run: read again by --file they make the same
// plan.
func TestTheBoxesOfTheDocumentAreReadAgain(t *testing.T) {
	t.Parallel()
	vs, _, err := read([]workload.File{{Path: "w.yml", Data: []byte(woodpeckerBox)}, {Path: "e.yml", Data: []byte(estoreBox)}})
	require.NoError(t, err)
	p, err := Design(workload.Inputs{Values: vs, Namespace: "x"})
	require.NoError(t, err)
	s := p.Binder.(*spec)
	f := eventstoretest.Facts()
	f.Config = s.config
	f.Steps[0].Batch = s.load.start.Batch
	documents, err := report.Formats()[0].Encode(eventstoretest.Folder(t, f))
	require.NoError(t, err)
	var files []workload.File
	for _, m := range yamlBlock.FindAllStringSubmatch(string(documents[0].Data), -1) {
		files = append(files, workload.File{Path: m[1] + ".yml", Data: []byte(m[2])})
	}
	require.Len(t, files, 2)
	again, found, err := read(files)
	require.NoError(t, err)
	assert.Empty(t, found.Warnings, "every key has an effect")
	q, err := Design(workload.Inputs{Values: again, Namespace: "x"})
	require.NoError(t, err)
	r := q.Binder.(*spec)
	r.config = s.config
	assert.Equal(t, s, r)
	assert.Contains(t, string(files[0].Data), "maxBatchSize: 175\n")
	assert.Contains(t, string(files[1].Data), "compressionType: ZLIB\n")
	assert.Contains(t, string(files[1].Data), "retryDelayBase: 5000\n")
}
