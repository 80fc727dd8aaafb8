package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// venom is what a text of somebody else's folder may hold: it would set the title of a
// terminal, ring its bell, write over what is there, run a script in a page, and a command in
// a spreadsheet.
const venom = "=cmd|'/C calc'!A0\x1b]0;VENOM\x07\r\b\u009b31m\u202e<script>VENOM()</script><img src=x onerror=VENOM()>,=VENOM"

// poisoned puts venom into all texts of a JSON value but those that say what the file is.
func poisoned(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = poisoned(v[k], k)
		}
	case []any:
		for i := range v {
			v[i] = poisoned(v[i], name)
		}
	case string:
		if !slices.Contains([]string{"profile", "mode", "started", "ended", "measured", "ended_by", "id", "state", "unit", "track", "op", "plan", "causes", "shape", "kind", "role", "origin"}, name) && !strings.HasSuffix(name, "_at") {
			if _, err := strconv.ParseFloat(v, 64); err != nil {
				return venom + v
			}
		}
	}
	return v
}

// poison rewrites a file of a run.
func poison(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	if strings.HasSuffix(path, ".json") {
		var v any
		require.NoError(t, json.Unmarshal(data, &v))
		data, err = json.MarshalIndent(poisoned(v, ""), "", "  ")
		require.NoError(t, err)
	} else {
		data = append(data, venom...)
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// control is what no output has: it could control the terminal that shows it.
var control = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f]|\x{9b}|\x{202e}`)

// harmlessText wants an output to control nothing.
func harmlessText(t *testing.T, what string, text []byte) {
	t.Helper()
	if at := control.FindIndex(text); at != nil {
		assert.Fail(t, "a control character", "%s: %q", what, text[max(0, at[0]-80):min(len(text), at[1]+20)])
	}
}

// Whatever a folder of a run says that somebody else has made, no command and no document
// hands on what controls a terminal; no page has a tag of it, and no table a formula.
func TestAHostileFolderControlsNothing(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"ingestion": {"ingestion", "--count", "100"}, "group": {"group", "--count", "10"}, "pbm": {"tx", "--count", "20"},
		"saga": {"tx", "--preset", "saga", "--set", "transactions=10"}, "baseline": {"tx", "--preset", "baseline", "--set", "requests=20"},
		"authz": {"authz", "--set", "users=10", "--set", "groups=4"}, "event-store": {"event-store", "--set", "events=50", "--set", "queries=2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if slices.Contains([]string{"group", "saga", "baseline", "event-store"}, name) {
				tier.Full(t, "the cases ingestion, pbm and authz, with the formats that all share")
			}
			out := filepath.Join(t.TempDir(), "results")
			for range 2 {
				doing(t, nil, append([]string{"run", "--quiet", "--target", "memory:", "--out", out, "--tag", "a=b", "--threshold", "p99<1h"}, args...)...)
			}
			dirs, err := filepath.Glob(filepath.Join(out, "*"))
			require.NoError(t, err)
			require.Len(t, dirs, 2)
			for _, dir := range dirs {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "note.txt"), []byte(venom), 0o600))
				poison(t, filepath.Join(dir, "run.json"))
			}
			formats := []string{"plan", "text", "markdown", "html", "junit", "csv", "hgrm", "padogrid-csv"}
			for _, f := range cli.DefaultFormats(strings.Fields(args[0])[0]) {
				if !slices.Contains(formats, f) {
					formats = append(formats, f)
				}
			}
			for _, line := range []string{"report -1", "report -2 --against -1 --format text --out -", "history", "history --json", "compare -2 -1", "compare -2 -1 --format markdown", "compare -2 -1 --format html", "compare -2 -1 --format junit"} {
				for _, terminal := range []bool{false, true} {
					harmlessText(t, line, said(t, terminal, append(strings.Fields(line), "--runs", out)...))
				}
			}
			docs := t.TempDir()
			for _, f := range formats { // not each profile has each
				harmlessText(t, f, said(t, false, "report", "-1", "--runs", out, "--format", f, "--out", docs))
			}
			require.NoError(t, filepath.WalkDir(docs, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				base := filepath.Base(path)
				harmlessText(t, base, data)
				switch filepath.Ext(base) {
				case ".html", ".md":
					assert.NotContains(t, outsideFences(string(data)), "<script>VENOM", base)
					assert.NotContains(t, outsideFences(string(data)), "<img src=x", base)
				case ".csv":
					noFormulas(t, base, data)
				}
				return nil
			}))
		})
	}
}

// said is all that a command says, whatever comes of it.
func said(t *testing.T, terminal bool, args ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	run(t.Context(), cli.Env{Args: args, Environ: []string{"NO_COLOR=1", "TERM=xterm", "LANG=C.UTF-8"}, Stdin: strings.NewReader(""), Stdout: &b, Stderr: &b, StdoutTerminal: terminal, StdoutWidth: 120})
	require.NotEmpty(t, b.Bytes(), args)
	return b.Bytes()
}

// outsideFences is Markdown without its fenced blocks, which are shown as they are.
func outsideFences(text string) string {
	out, fenced := "", false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced {
			out += line
		}
	}
	return out
}

// noFormulas wants no cell to be one, in a table whose cells are parted by commas, with or
// without blanks.
func noFormulas(t *testing.T, name string, data []byte) {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	rows, err := r.ReadAll()
	require.NoError(t, err, name)
	for _, row := range rows {
		for _, cell := range row {
			text := strings.TrimSpace(cell)
			if _, err := strconv.ParseFloat(text, 64); err != nil && text != "" {
				assert.NotContains(t, "=+-@", text[:1], "%s: %q", name, cell)
			}
		}
	}
}
