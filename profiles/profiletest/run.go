package profiletest

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
)

// Case is a run as a user asks for it.
type Case struct {
	Profile workload.Profile
	// Formats are the documents of the profile, all of which are written.
	Formats []rundir.Format
	Target  string
	Preset  string
	// Files are the paths of --file, Set the "name=value" texts of --set: parameters,
	// settings, and what every run has ("cleanup=on").
	Files, Set []string
	// Out is the folder of results, a new one for each run when it is empty. Runs of one
	// namespace share one, or those begun in the same second go by the same id.
	Out string
	// Timetable holds the live changes of --at.
	Timetable []string
	// Errors says that the run is one in which operations fail.
	Errors bool
}

// With is the case with more set.
func (c Case) With(set ...string) Case {
	c.Set = append(append([]string(nil), c.Set...), set...)
	return c
}

// request is what the command makes of its flags.
func (c Case) request(t testing.TB) session.Request {
	req := session.Request{
		Profile: c.Profile.Name, Preset: c.Preset, Target: c.Target, Files: c.Files, Timetable: c.Timetable,
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

// Prepare gets the run ready and begins nothing.
func (c Case) Prepare(ctx context.Context, t testing.TB) (*session.Prepared, error) {
	t.Helper()
	return session.Prepare(ctx, c.env(), c.request(t))
}

// version is that of perfbench in all processes of a test.
const version = "test"

// env is what a command would take from its surroundings.
func (c Case) env() session.Env {
	return session.Env{
		Profiles: []workload.Profile{c.Profile}, Formats: report.All(c.Formats...), Drivers: drivers.All(), Version: version, Log: slog.New(slog.DiscardHandler),
	}
}

// Start begins the run, with the engine and on the store that a user would have.
func (c Case) Start(ctx context.Context, t testing.TB) (*session.Live, error) {
	t.Helper()
	p, err := c.Prepare(ctx, t)
	if err != nil {
		return nil, err
	}
	return p.Start(ctx, nil)
}

// Run carries out the whole run, which must begin.
func (c Case) Run(t testing.TB) *session.Outcome {
	t.Helper()
	l, err := c.Start(t.Context(), t)
	require.NoError(t, err)
	return Finish(t, l)
}

// enough bounds every wait for a run.
const enough = 5 * time.Minute

// Finish waits for the end of a run.
func Finish(t testing.TB, l *session.Live) *session.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), enough)
	defer cancel()
	select {
	case <-l.Done():
	case <-ctx.Done():
		l.Kill()
		<-l.Done()
		t.Error("the run did not come to its end")
	}
	return l.Finish(ctx)
}

// Facts reads the facts of a run.
func Facts[F any](t testing.TB, o *session.Outcome) F {
	t.Helper()
	var f F
	require.NoError(t, json.Unmarshal(o.Run.Facts, &f))
	return f
}
