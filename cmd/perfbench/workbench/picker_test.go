package workbench

import (
	"cmp"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles"
	"github.com/perfbench/perfbench/tui/picker"
)

// What matters most comes first: at most twelve rows, and with d the rest, in groups.
func TestThePickerBeginsWithTwelveRowsAtMost(t *testing.T) {
	a := command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}
	formRow := regexp.MustCompile(`│ (?:  | ▸|▸ )([a-z]\S*)`)
	for _, p := range profiles.All() {
		for _, mode := range append([]string{""}, p.Modes...) {
			t.Run(p.Name+mode, func(t *testing.T) {
				b := newBench(&surroundings{env: a.Session(), out: t.TempDir(), soft: context.Background(), hard: context.Background()})
				r := request.Request{Profile: p.Name, Target: "memory:", Values: workload.Values{}}
				if mode != "" {
					r.Values["mode"] = workload.Value{Name: "mode", Text: mode, Origin: workload.OriginFlag}
				}
				stage := tuitest.NewStage(t, picker.New(b.screens(nil).Picker, r, request.RunParams()), 120, 100)
				picture := stage.Picture(t)
				first, _, found := strings.Cut(picture, "d shows ")
				require.True(t, found, picture)
				require.NotContains(t, first, "Changes and conditions")
				var rows []string
				for _, line := range strings.Split(first, "\n") {
					runes := []rune(line)
					if len(runes) < 60 {
						continue
					}
					if m := formRow.FindStringSubmatch(string(runes[49:])); m != nil {
						rows = append(rows, m[1])
					}
				}
				assert.LessOrEqual(t, len(rows), 12, cmp.Or(strings.Join(rows, " "), picture))
				assert.Subset(t, rows, []string{"preset", "target", "duration", "threads"}, picture)
			})
		}
	}
}

// The plan of the first screen is whole at 120×40, but that of a group, whose functions are many.
func TestThePlanOfTheFirstScreenIsWhole(t *testing.T) {
	a := command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}
	for _, name := range []string{"ingestion", "tx", "authz", "event-store"} {
		b := newBench(&surroundings{env: a.Session(), out: t.TempDir(), soft: context.Background(), hard: context.Background()})
		r := request.Request{Profile: name, Out: "results", Values: workload.Values{}}
		p := picker.New(b.screens(nil).Picker, r, request.RunParams())
		stage := tuitest.NewStage(t, p, 120, 40)
		stage.Perform(t, p.Start(stage.Env))
		assert.Contains(t, stage.Picture(t), "Reports     json, csv, hlog", name)
		assert.NotRegexp(t, `What will happen .* of `, stage.Picture(t), name)
	}
}

// A wrong value is one of its own row, and said once, whichever it is.
func TestAWrongValueIsOneOfItsRow(t *testing.T) {
	a := command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}
	for _, p := range profiles.All() {
		b := newBench(&surroundings{env: a.Session(), out: t.TempDir(), soft: context.Background(), hard: context.Background()})
		preview, err := b.requests.Preview(request.Request{Profile: p.Name, Target: "memory:", Values: workload.Values{}})
		require.NoError(t, err)
		names := map[string]bool{}
		for _, q := range append(request.RunParams(), p.Params...) {
			names[q.Name] = true
		}
		for _, k := range preview.Settings {
			names[k.Name] = true
		}
		wrong := 0
		for name := range names {
			for _, text := range []string{"xyz", "0"} {
				_, err := b.requests.Preview(request.Request{
					Profile: p.Name, Target: "memory:", Values: workload.Values{name: {Name: name, Text: text, Origin: workload.OriginFlag}},
				})
				if err == nil {
					continue
				}
				wrong++
				if parts := fault.Parts(err); assert.Len(t, parts, 1, "%s %s=%s: %v", p.Name, name, text, err) {
					assert.Equal(t, name, fault.FieldOf(parts[0]), "%s=%s: %v", name, text, err)
				}
			}
		}
		assert.Greater(t, wrong, 20, p.Name)
	}
}
