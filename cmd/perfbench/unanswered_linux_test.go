package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// Writes whose answers came too late are there, and those that never arrived are not: reading back
// decides, in every profile where it can.
func TestWritesWithoutAnAnswerAreDecided(t *testing.T) {
	tier.Full(t, "internal/workload's TestWritesWithoutAnAnswer")
	t.Parallel()
	srv, path := labtest.Redis(t), binary(t)
	events := filepath.Join(t.TempDir(), "events.yaml")
	require.NoError(t, os.WriteFile(events, []byte("data: {event: {records: 1, size: 200}, stock: {type: counter, records: 100}}\noperations: {store: {insert: event}, count: {add: stock}}\n"), 0o600))
	for name, args := range map[string][]string{
		"mix":       {"mix", "--file", events},
		"ingestion": {"ingestion"},
		"saga":      {"tx", "--set", "mode=saga"},
		"group":     {"group", "--preset", "list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(path, append([]string{
				"run", "--target", srv.URL(), "--namespace", labtest.Fresh("doubt" + name), "--duration", "4s", "--rate", "300", "--threads", "8", "--client", "deadline=100ms", "--quiet",
				"--at", "1s..1500ms:fault=delay:300ms", "--at", "2500ms..3300ms:fault=half-open",
			}, args...)...)
			c.Dir = t.TempDir()
			out, err := c.CombinedOutput()
			require.NoError(t, err, "%s", out)
			found, err := filepath.Glob(filepath.Join(c.Dir, "results", "*", "run.json"))
			require.NoError(t, err)
			require.Len(t, found, 1)
			f, err := rundir.Load(filepath.Dir(found[0]))
			require.NoError(t, err)
			v := f.Run.Verification
			assert.Equal(t, workload.Passed, v.State, v.Summary)
			u := v.Unanswered
			require.NotNil(t, u)
			assert.Positive(t, u.Stored, "%+v", u)
			assert.Positive(t, u.Absent, "%+v", u)
			assert.Zero(t, u.Undecided, "%+v", u)
			assert.Equal(t, u.Writes, u.Stored+u.Absent)
			assert.Contains(t, v.Summary, u.Words())
			var read struct {
				Verification struct{ Unanswered map[string]int64 }
			}
			data, err := os.ReadFile(found[0])
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(data, &read))
			assert.Equal(t, map[string]int64{"writes": u.Writes, "stored": u.Stored, "absent": u.Absent, "undecided": 0}, read.Verification.Unanswered)
		})
	}
}
