package report_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// brief is a whole format: a line for each operation, and one for what they are worth.
var brief = rundir.Format{
	ID: "brief", Title: "a few lines, for a chat",
	Doc: "# brief: brief.txt\n\nOperation, calls and p99 of the response time, as in `run.json`; then the verdict.\n",
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		var b bytes.Buffer
		for _, o := range f.Run.Operations {
			fmt.Fprintf(&b, "%s.%s: %d calls, p99 %s\n", o.Track, o.Op, o.Calls, units.Duration(time.Duration(o.Response.P99)))
		}
		fmt.Fprintf(&b, "%s\n", f.Run.Verdict.State)
		return []rundir.File{{Name: "brief.txt", Data: b.Bytes()}}, nil
	},
}

// The example of docs/internals.md makes a document of the run that all formats are tried on.
func TestTheExampleFormatWrites(t *testing.T) {
	f, err := rundir.Load("../../testdata/runs/open-loop")
	require.NoError(t, err)
	files, err := brief.Documents(f)
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, "brief.txt", files[0].Name)
	assert.Equal(t, "eligibility.putall: 2635 calls, p99 1.58 ms\nprofile.put: 2590 calls, p99 1.55 ms\nVALID\n", string(files[0].Data))
}
