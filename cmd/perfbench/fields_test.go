package main

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
)

// The form of the workbench shows what is wrong at the value that is wrong: every value
// that a run can be given names itself in the error, whichever profile refuses it.
func TestAWrongValueIsNamedInItsError(t *testing.T) {
	env := session.Env{
		Profiles: cli.Profiles(), Formats: cli.Formats(), Drivers: drivers.All(), Log: slog.New(slog.DiscardHandler),
		Resolve: func(target string) (string, error) { return target, nil },
	}
	wrong := func(p workload.Profile, set func(*session.Request)) (fields []string) {
		r := session.Request{Profile: p.Name, Target: "redis://127.0.0.1:6379", Values: workload.Values{}}
		set(&r)
		_, err := session.Prepare(t.Context(), env, r)
		for _, part := range fault.Parts(err) {
			fields = append(fields, fault.FieldOf(part))
		}
		return fields
	}
	for _, p := range env.Profiles {
		names := []string{"threads", "rate", "namespace", "no-such-value"}
		for _, q := range slices.Concat(p.Params, request.RunParams()) {
			if q.Kind != workload.Text && q.Kind != workload.List && q.Kind != workload.Target && q.Name != "mode" {
				names = append(names, q.Name)
			}
		}
		refused := 0
		for _, mode := range append(slices.Clone(p.Modes), "") {
			for _, name := range names {
				got := wrong(p, func(r *session.Request) {
					if mode != "" {
						r.Values.Set(workload.Value{Name: "mode", Text: mode, Origin: workload.OriginFlag})
					}
					r.Values.Set(workload.Value{Name: name, Text: "~ nonsense ~", Origin: workload.OriginFlag})
				})
				if len(got) == 0 {
					continue // of another mode, or of nothing that this plan does
				}
				refused++
				assert.True(t, slices.ContainsFunc(got, func(f string) bool { return f == name || strings.HasSuffix(f, "."+name) }), "%s %s: %s is none of %q", p.Name, mode, name, got)
			}
		}
		assert.Greater(t, refused, len(names)/2, p.Name)
		assert.Equal(t, []string{"target"}, wrong(p, func(r *session.Request) { r.Target = "nowhere" }), p.Name)
		assert.Equal(t, []string{"preset"}, wrong(p, func(r *session.Request) { r.Preset = "none of ours" }), p.Name)
		assert.Contains(t, wrong(p, func(r *session.Request) { r.Files = []string{"not-there.properties"} }), "file", p.Name)
		assert.Equal(t, []string{"at"}, wrong(p, func(r *session.Request) { r.Timetable = []string{"soon"} }), p.Name)
	}
}
