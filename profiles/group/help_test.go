package group

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/design"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/report"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// given makes values: names and values of flags over the parameters' defaults.
func given(pairs ...string) workload.Values {
	return profiletest.Given(design.Params(), flags(pairs)...)
}

// flags joins names and values.
func flags(pairs []string) []string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, pairs[i]+"="+pairs[i+1])
	}
	return out
}

// fromFile designs the plan of a properties file with flags over it.
func fromFile(t *testing.T, text string, pairs ...string) (*workload.Plan, error) {
	t.Helper()
	vs := given(pairs...)
	from, found, err := design.Read([]workload.File{{Path: "f.properties", Data: []byte(text)}})
	if err != nil {
		return nil, err
	}
	for _, v := range from {
		vs.Set(v)
	}
	p, err := plan(workload.Inputs{Values: vs, Seed: 1, Namespace: "perfbench", Driver: "redis"})
	if p != nil {
		p.Warnings = append(found.Warnings, p.Warnings...)
	}
	return p, err
}

func specOf(t *testing.T, p *workload.Plan) *model.Spec {
	t.Helper()
	require.NotNil(t, p)
	return p.Binder.(binder).s
}

// caseOf is a run as the command carries it out.
func caseOf(target string, files []string, values ...string) profiletest.Case {
	c := profiletest.Case{
		Profile: Profile(), Formats: []rundir.Format{Format(), padogrid.CSVFormat(Name, Format())}, Target: target, Files: files,
	}
	for _, f := range flags(values) {
		if name, ok := strings.CutPrefix(f, "preset="); ok {
			c.Preset = name
			continue
		}
		c.Set = append(c.Set, f)
	}
	return c
}

// runs carries out a whole run, and returns its outcome with the facts.
func runs(t *testing.T, target string, files []string, values ...string) (*session.Concluded, report.Facts) {
	t.Helper()
	o, err := try(t, target, files, values...)
	require.NoError(t, err)
	require.NoError(t, o.Err)
	return o, profiletest.Facts[report.Facts](t, o)
}

// driven is runs beside data of others, and with --cleanup.
func driven(t *testing.T, target string, files []string, values ...string) (*session.Concluded, report.Facts) {
	t.Helper()
	o := profiletest.Drive(t, caseOf(target, files, values...)).Concluded
	return o, profiletest.Facts[report.Facts](t, o)
}

// try is runs where something may go wrong.
func try(t *testing.T, target string, files []string, values ...string) (*session.Concluded, error) {
	t.Helper()
	l, err := caseOf(target, files, values...).Start(t.Context(), t)
	if err != nil {
		return nil, err
	}
	return profiletest.Finish(t, l), nil
}

// write makes a file in a folder of the test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func open(t *testing.T, target string) store.Conn {
	t.Helper()
	return profiletest.Open(t, target)
}

// errorless asserts that nothing failed and that what was stored was compared.
func errorless(t *testing.T, o *session.Concluded) {
	t.Helper()
	assert.Empty(t, o.Run.Errors)
	want := workload.Passed
	if o.Run.Parameters["preset"] == "get" { // it writes nothing
		want = workload.Skipped
	}
	assert.Equal(t, want, o.Run.Verification.State, "%+v", o.Run.Verification)
	assert.NotEmpty(t, o.Run.Operations)
}

func opOf(t *testing.T, o *session.Concluded, track, op string) rundir.Operation {
	t.Helper()
	for _, x := range o.Run.Operations {
		if x.Track == track && x.Op == op {
			return x
		}
	}
	require.Fail(t, "no such operation", "%s.%s", track, op)
	return rundir.Operation{}
}

func presetNames(t *testing.T) []string {
	t.Helper()
	all, err := request.Presets(Profile().Presets)
	require.NoError(t, err)
	var out []string
	for _, p := range all {
		out = append(out, p.Name)
	}
	return out
}
