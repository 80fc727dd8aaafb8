package workbench

import (
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
)

// A run of two maps of 4000 and 1000 entries comes back as that, with all else it had.
func TestASavedRunIsListedAndComesBack(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("two.properties", []byte("eligibility.totalEntryCount=4000\nprofile.totalEntryCount=1000\n"), 0o600))
	a := command{&cli.Call{Env: cli.Env{Environ: []string{"XDG_CONFIG_HOME=" + t.TempDir(), "PERFBENCH_SEED=7"}}, Log: slog.New(slog.DiscardHandler)}}
	at := &surroundings{env: a.Session(), presets: a.PresetDir()}
	b := newBench(at)
	prepare := func(r request.Request) *session.Prepared {
		p, err := session.Prepare(t.Context(), at.env, r)
		require.NoError(t, err)
		return p
	}
	p := prepare(request.Request{
		Profile: "ingestion", Target: "memory:", Files: []string{"two.properties"}, Thresholds: []string{"p99<1s"}, Timetable: []string{"1s:threads=9"},
		Formats: []string{"json"}, Out: "there", Values: workload.Values{"duration": {Name: "duration", Text: "20s", Origin: workload.OriginFlag}},
	})
	want := p.Preview()
	path, err := b.presets.SavePreset("mine", p.Asked())
	require.NoError(t, err)
	assert.FileExists(t, path)
	_, err = b.presets.SavePreset("small", p.Asked())
	require.ErrorContains(t, err, `"small" is built in`)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))

	var listed []string
	for _, ps := range b.catalogue.Presets("ingestion") {
		listed = append(listed, ps.Name)
	}
	assert.Contains(t, listed, "mine")

	t.Chdir(t.TempDir()) // from anywhere
	at.env.Environ = nil
	got := prepare(request.Request{Profile: "ingestion", Preset: "mine"}).Preview()
	texts := func(lines []request.Line) map[string]string {
		out := map[string]string{}
		for _, l := range lines {
			out[l.Name] = l.Text
		}
		delete(out, "file") // has become absolute
		return out
	}
	assert.Equal(t, texts(want.Run), texts(got.Run))
	assert.Equal(t, texts(want.Parameters), texts(got.Parameters))
	assert.Equal(t, texts(want.Settings), texts(got.Settings))
	assert.Equal(t, "4000", texts(got.Parameters)["eligibility.totalEntryCount"])
	assert.Equal(t, []any{want.Timetable, want.Thresholds, want.Documents, want.Bytes}, []any{got.Timetable, got.Thresholds, got.Documents, got.Bytes})
}
