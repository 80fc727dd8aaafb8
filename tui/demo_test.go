package tui

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/widget"
)

var (
	demo       = flag.Bool("demo", false, "show the workbench on this terminal with a made-up run")
	demoTracks = flag.Int("demo-tracks", 1, "how many tracks the made-up run has")
	demoTheme  = flag.String("demo-theme", widget.ThemeAuto, "theme of the demo")
)

// TestDemo shows the screens to a person:
//
//	go test -c -o /tmp/demo ./tui && /tmp/demo -test.run TestDemo -demo
func TestDemo(t *testing.T) {
	if !*demo {
		t.Skip("for people: run with -demo")
	}
	run := tuitest.NewRun(*demoTracks)
	over := make(chan struct{})
	go func() { // ends with the test
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-over:
				return
			case <-tick.C:
				// The store is away from 20 s to 28 s.
				run.Mu.Lock()
				run.Gone = run.At > 20*time.Second && run.At < 28*time.Second
				run.Mu.Unlock()
				run.Tick(100 * time.Millisecond)
				if run.Snapshot().At >= time.Minute {
					run.Stop()
				}
			}
		}
	}()
	profiles := []workload.Profile{{Name: "ingestion", Title: "Bulk ingestion", Summary: "Fills maps in batches, as a nightly feed does.", Unit: "entries"}}
	final, err := Show(t.Context(), Options{Theme: *demoTheme, Start: true, Request: request.Request{Profile: "ingestion", Target: "redis://127.0.0.1"}}, partsOf(&tuitest.Bench{Next: run, Listed: profiles}))
	close(over)
	require.NoError(t, err)
	for _, o := range final.Outcomes {
		t.Log(o.Summary, "report:", o.Dir)
	}
}
