package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

// listed is what a list command writes on a terminal of some width; 0 is a pipe.
func listed(t *testing.T, width int, args ...string) (lines []string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(context.Background(), cli.Env{Args: append([]string{"list"}, args...), Stdout: &out, Stderr: &errs, StdoutWidth: width})
	require.Zero(t, code, errs.String())
	return strings.Split(out.String(), "\n")
}

func TestListsFitTheScreen(t *testing.T) {
	lists := [][]string{{"profiles"}, {"stores"}, {"formats"}}
	for _, name := range cli.StoreNames() {
		lists = append(lists, []string{"stores", name})
	}
	for _, p := range cli.Profiles() {
		if p.Design != nil {
			lists = append(lists, []string{"presets", p.Name}, []string{"knobs", p.Name})
		}
	}
	for _, list := range lists {
		for _, width := range []int{0, 80, 200} {
			if width == 80 && list[0] == "knobs" {
				continue // names, defaults and ranges alone take more
			}
			want := cli.Widest
			if width > 0 {
				want = min(width, cli.Widest)
			}
			for _, line := range listed(t, width, list...) {
				assert.LessOrEqual(t, ansi.StringWidth(line), want, "list %v at %d: %s", list, width, line)
			}
		}
	}
}

// A row of history is one line of a terminal, whatever there is to say; in a pipe it is whole.
func TestHistoryFitsTheScreen(t *testing.T) {
	out := t.TempDir()
	note := strings.Repeat("a long note ", 12)
	quiet := func(width int, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), cli.Env{Args: args, Stdout: &stdout, Stderr: &stderr, StdoutWidth: width})
		require.Zero(t, code, stderr.String())
		return stdout.String()
	}
	quiet(0, "run", "ingestion", "--target", "memory:", "--count", "200", "--quiet", "--out", out, "--tag", "build=1.4.2", "--tag", "team=of-the-long-names")
	quiet(0, "history", "note", "latest", note, "--runs", out)
	for _, width := range []int{60, 80, 120, 200} {
		lines := strings.Split(strings.TrimSpace(quiet(width, "history", "--runs", out)), "\n")
		require.Len(t, lines, 2)
		for _, l := range lines {
			assert.LessOrEqual(t, ansi.StringWidth(l), width, l)
		}
		assert.Regexp(t, `-ingestion-memory +run .*(VALID|DEGRADED|INVALID)`, lines[1], "what matters stays")
	}
	whole := quiet(0, "history", "--runs", out)
	assert.Contains(t, whole, strings.TrimSpace(note))
	assert.Contains(t, whole, "build=1.4.2 team=of-the-long-names")
}
