package workbench

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// What a run deletes of earlier ones is said while it goes on, and before it starts that it may.
func TestARunSaysWhatItDeletesOfEarlierOnes(t *testing.T) {
	t.Parallel()
	target := labtest.Redis(t).URL()
	b := newBench(&surroundings{env: command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}.Session(), out: t.TempDir(), state: t.TempDir(), soft: t.Context(), hard: t.Context()})
	asks := func(payload string) request.Request {
		r := request.Request{Profile: "mix", Target: target, Values: workload.Values{}}
		for name, text := range map[string]string{"workload": "{data: {product: {records: 20, size: 50}}, operations: {look: {get: product}}}", "payload": payload, "count": "1000000000"} {
			r.Values[name] = workload.Value{Name: name, Text: text, Origin: workload.OriginFlag}
		}
		return r
	}
	runs := func(payload string) string {
		t.Helper()
		v, err := b.requests.Preview(asks(payload))
		require.NoError(t, err)
		assert.Equal(t, []string{"earlier product, if of another size"}, v.Deletes)
		of, err := b.starter.Start(t.Context(), asks(payload))
		require.NoError(t, err)
		comes(t, func() bool { return of.Run.Progress().Stage == screen.Measuring })
		notice := of.Run.Progress().Notice
		of.Ending.Stop()
		<-of.Run.Done()
		require.NoError(t, of.Run.Outcome().Err)
		return notice
	}
	assert.Empty(t, runs("100"), "nothing was there")
	assert.Empty(t, runs("100"), "it is as large as that")
	assert.Contains(t, runs("200"), "deleted and loaded again with 200 B: perfbench:product, which run ")
}
