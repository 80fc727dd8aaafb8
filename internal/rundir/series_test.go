package rundir

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSeriesRowsReadBack(t *testing.T) {
	rows := []SeriesRow{
		{T: -3, Track: `a"b,c`, Op: "get", Count: 1, Throughput: 1.5, Rate: 1e6, Warmup: true},
		{T: 4, Track: "ø", Op: "put", Errors: 2, ResponseP50: 1, ResponseP99: 2, ResponseMax: 3, ServiceP99: 4, Backlog: 5, Threads: 6, Payload: 7, Batch: 8, Segment: 9},
	}
	data := SeriesCSV(rows)
	got, whole, err := readSeries(bytes.NewReader(data))
	require.NoError(t, err)
	assert.True(t, whole)
	assert.Equal(t, rows, got)
	assert.Equal(t, 3, strings.Count(string(data), "\n"))
}
