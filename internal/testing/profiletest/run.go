package profiletest

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/workload"
)

// Case is a run as users request it.
type Case struct {
	Profile workload.Profile
	// Formats are the profile's documents, all of which are written.
	Formats []rundir.Format
	Target  string
	Preset  string
	// Files are the paths of --file, Set the "name=value" texts of --set: parameters,
	// settings, and what every run has ("cleanup=on").
	Files, Set []string
	// Out is the folder for results, a new one for each run if empty. Runs of one
	// namespace must share one, or runs begun in the same second get the same id.
	Out string
	// Timetable holds the live changes of --at.
	Timetable []string
	// Errors means that operations are expected to fail.
	Errors bool
	// Closed means that the plan takes no rate.
	Closed bool
}

// With returns the case with more settings.
func (c Case) With(set ...string) Case {
	c.Set = append(append([]string(nil), c.Set...), set...)
	return c
}

// request returns what the command would make of its flags.
func (c Case) request(t testing.TB) session.Request {
	t.Helper()
	if labtest.IsCommon(c.Target) { // the default namespace there belongs to the tests of the command
		require.True(t, slices.ContainsFunc(c.Set, func(s string) bool { return strings.HasPrefix(s, "namespace=") }),
			"the tests of all packages share %s: name a namespace", c.Target)
	}
	target := c.Target
	if !c.Errors {
		target = patient(target)
	}
	req := session.Request{
		Profile: c.Profile.Name, Preset: c.Preset, Target: target, Files: c.Files, Timetable: c.Timetable,
		Out: c.Out, Values: Given(nil, c.Set...), Formats: []string{"json", "csv", "hlog"},
	}
	if req.Out == "" {
		req.Out = filepath.Join(t.TempDir(), "results")
	}
	for _, f := range c.Formats {
		req.Formats = append(req.Formats, f.ID)
	}
	return req
}

// Prepare prepares the run without starting anything.
func (c Case) Prepare(ctx context.Context, t testing.TB) (*session.Prepared, error) {
	t.Helper()
	return session.Prepare(ctx, c.env(), c.request(t))
}

// version is the version of perfbench in all processes of a test.
const version = "test"

// env returns what a command would take from its surroundings.
func (c Case) env() session.Env {
	return session.Env{
		Profiles: []workload.Profile{c.Profile}, Formats: report.All(c.Formats...), Drivers: drivers.All(), Version: version, Log: slog.New(slog.DiscardHandler),
	}
}

// Start starts the run, with the engine and on the store that a user would have.
func (c Case) Start(ctx context.Context, t testing.TB) (*session.Driven, error) {
	t.Helper()
	p, err := c.Prepare(ctx, t)
	if err != nil {
		return nil, err
	}
	return p.Start(ctx, nil)
}

// Run carries out the whole run, which must be able to start.
func (c Case) Run(t testing.TB) *session.Concluded {
	t.Helper()
	l, err := c.Start(t.Context(), t)
	require.NoError(t, err)
	return Finish(t, l)
}

// enough is the limit of every wait for a run, on a machine with many times as much to do
// as it can.
const enough = 10 * time.Minute

// Finish waits for the end of a run.
func Finish(t testing.TB, l *session.Driven) *session.Concluded {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), enough)
	defer cancel()
	select {
	case <-l.Done():
	case <-ctx.Done():
		var stacks strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		t.Log(stacks.String()) // what it waits for
		l.Kill()
		<-l.Done()
		t.Error("the run did not come to its end")
	}
	return l.Conclude(ctx)
}

// Facts decodes the facts of a run.
func Facts[F any](t testing.TB, o *session.Concluded) F {
	t.Helper()
	var f F
	require.NoError(t, json.Unmarshal(o.Run.Facts, &f))
	return f
}
