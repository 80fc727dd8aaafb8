package session_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// viaTiny is tiny with a parameter that is a target, which it must be given whole.
func viaTiny(t *testing.T, given *string) session.Env {
	t.Helper()
	p := tiny
	p.Params = append([]workload.Param{{Name: "via", Kind: workload.Target, Default: "direct"}}, p.Params...)
	p.Design = func(in workload.Inputs) (*workload.Plan, error) {
		plan, err := designTiny(in)
		*given = in.Values["via"].Text
		plan.Parameters = append(plan.Parameters, in.Values["via"], workload.Value{Name: "agent", Text: in.Agent})
		return plan, err
	}
	e := env(t)
	e.Profiles = []workload.Profile{p}
	e.Agent = func(target string) string { return "agent of " + target }
	e.Resolve = func(target string) (string, error) {
		switch target {
		case "lab:broker":
			return "amqp://127.0.0.1:1234", nil
		case "lab:other":
			return "", store.ErrUnsupported
		}
		return target, nil
	}
	return e
}

func prepareVia(t *testing.T, via string) (given string, p *session.Prepared, err error) {
	t.Helper()
	r := asked(t)
	if via != "" {
		r = asked(t, "via", via)
	}
	p, err = session.Prepare(context.Background(), viaTiny(t, &given), r)
	return given, p, err
}

func TestTargetsAmongParametersAreResolvedAndShowNoSecrets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ via, given, shown string }{
		{"", "direct", "direct"},
		{"lab:broker", "amqp://127.0.0.1:1234", "amqp://127.0.0.1:1234"},
		{"amqp://me:hush@h:5672/v", "amqp://me:hush@h:5672/v", "amqp://me:***@h:5672/v"},
	} {
		given, p, err := prepareVia(t, tt.via)
		require.NoError(t, err, tt.via)
		assert.Equal(t, tt.given, given)
		shown := map[string]string{}
		for _, v := range p.Plan.Parameters {
			shown[v.Name] = v.Text
		}
		assert.Equal(t, tt.shown, shown["via"])
		assert.Equal(t, "agent of memory:", shown["agent"])
		assert.NotContains(t, fmt.Sprint(p.Preview()), "hush")
		assert.Equal(t, tt.given != tt.shown, len(p.Warnings) > 0, "%v", p.Warnings)
	}
}

func TestBadTargetsAmongParametersAreNamed(t *testing.T) {
	t.Parallel()
	for via, want := range map[string]string{
		"amqq://h":                "via (flag --via): target: unknown scheme \"amqq\"",
		"amqp:h":                  "via (flag --via): amqp: // is missing after the colon",
		"lab:other":               "via: ",
		"amqp://u:hu/sh@h:5672/v": "via (flag --via): amqp: user or password contains a character",
	} {
		_, _, err := prepareVia(t, via)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "sh@")
	}
}
