// Package profiletest tests what every profile must satisfy, without a store, and helps
// tests to carry out runs of profiles. It is for tests only.
package profiletest

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
)

// Run checks a profile: its description is complete, its parameters are documented,
// each preset makes a plan, and knobs return what they are set to.
func Run(t *testing.T, p workload.Profile) {
	t.Run("description", func(t *testing.T) { describe(t, p) })
	t.Run("parameters", func(t *testing.T) { parameters(t, p) })
	t.Run("bindings", func(t *testing.T) { bindings(t, p) })
	presets, err := request.Presets(p.Presets)
	require.NoError(t, err)
	names := []string{}
	for _, q := range presets {
		names = append(names, q.Name)
		t.Run("preset "+q.Name, func(t *testing.T) {
			assert.NotEmpty(t, q.Description, "a comment at the top says what the preset is for")
			plan(t, p, q.Name)
		})
	}
	assert.Contains(t, names, p.DefaultPreset)
}

func describe(t *testing.T, p workload.Profile) {
	for what, text := range map[string]string{
		"name": p.Name, "title": p.Title, "summary": p.Summary, "unit": p.Unit, "reads": p.Reads, "writes": p.Writes, "thread": p.Thread,
	} {
		assert.NotEmpty(t, text, what)
	}
	assert.NotNil(t, p.Design)
}

func parameters(t *testing.T, p workload.Profile) {
	seen := map[string]bool{}
	for _, q := range p.Params {
		assert.False(t, seen[q.Name], "%s is listed once", q.Name)
		seen[q.Name] = true
		assert.NotEmpty(t, q.Help, q.Name)
		assert.NotEmpty(t, q.Kind.String(), q.Name)
		v := workload.Value{Name: q.Name, Text: q.Default, Origin: workload.OriginDefault}
		var err error
		switch q.Kind {
		case workload.Integer:
			_, err = v.Int(int64(q.Min), int64(q.Max))
		case workload.Number:
			_, err = v.Float(q.Min, q.Max)
		case workload.Size:
			_, err = v.Size(int64(q.Min), int64(q.Max))
		case workload.Duration:
			_, err = v.Duration()
		case workload.Switch:
			_, err = v.Bool()
		case workload.Choice:
			_, err = v.Choice(q.Choices...)
		case workload.Text, workload.List, workload.Target:
		}
		if q.Default != "" {
			assert.NoError(t, err, "the default is valid")
		}
	}
}

func bindings(t *testing.T, p workload.Profile) {
	able := 0
	for _, b := range p.Stores {
		assert.NotEmpty(t, b.Driver)
		if b.Refuse == "" {
			able++
		}
	}
	assert.Positive(t, able)
}

// Given makes values: "name=value" texts of flags on top of the parameters' defaults.
func Given(params []workload.Param, flags ...string) workload.Values {
	vs := workload.Values{}
	for _, p := range params {
		if p.Default != "" {
			vs.Set(workload.Value{Name: p.Name, Text: p.Default, Origin: workload.OriginDefault})
		}
	}
	for _, f := range flags {
		name, text, _ := strings.Cut(f, "=")
		vs.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--set"})
	}
	return vs
}

// Values returns a profile's defaults with a preset's values on top.
func Values(t *testing.T, p workload.Profile, name string) workload.Values {
	t.Helper()
	vs := Given(p.Params)
	from, err := request.LoadPreset(p.Presets, name)
	require.NoError(t, err)
	for _, v := range from {
		vs.Set(v)
	}
	return vs
}

func plan(t *testing.T, p workload.Profile, name string) {
	in := workload.Inputs{Values: Values(t, p, name), Namespace: "perfbench", Seed: 1}
	known := map[string]bool{"duration": true, "count": true, "warmup": true, "at": true, "namespace": true} // parameters of every run
	for _, q := range p.Params {
		known[q.Name] = true
	}
	plan, err := p.Design(in)
	require.NoError(t, err)
	require.NotEmpty(t, plan.Tracks())
	for _, b := range p.Stores {
		if b.Refuse == "" {
			assert.NotNil(t, plan.Binder.Connector(b.Driver), "the plan can be connected to %s", b.Driver)
		}
	}
	if len(p.Modes) == 0 || plan.Mode == p.Modes[0] { // other modes may use other units
		assert.Equal(t, p.Unit, plan.Unit)
	}
	assert.NotEmpty(t, plan.Unit)
	assert.NotEmpty(t, plan.Writes)
	assert.NotEmpty(t, plan.Parameters)
	for _, k := range plan.Knobs {
		known[k.Name] = true
		for _, tr := range plan.Tracks() {
			if !tr.Turns(k) {
				continue
			}
			v := k.Get(tr.Start)
			assert.Equal(t, tr.Start, k.Set(tr.Start, v), "%s set to what it is changes nothing", k.Name)
			assert.InDelta(t, v, k.Clamp(v), 0, "%s.%s starts within its range", tr.Name, k.Name)
		}
	}
	for _, tr := range plan.Tracks() {
		assert.NotEmpty(t, tr.Name)
		assert.NotEmpty(t, tr.Ops)
		if tr.Units != nil {
			assert.Positive(t, tr.Units(&tr.Start))
		}
	}
	for _, v := range plan.Parameters {
		known[v.Name] = true
	}
	for n, v := range in.Values {
		leaf := n[strings.LastIndexByte(n, '.')+1:]
		assert.True(t, known[n] || known[leaf], "%s (%s) is a parameter or a knob", n, v.From())
	}
	wrong := in
	wrong.Values = workload.Values{}
	maps.Copy(wrong.Values, in.Values)
	wrong.Values["threads"] = workload.Value{Name: "threads", Text: "many", Origin: workload.OriginFlag}
	_, err = p.Design(wrong)
	require.Error(t, err, "threads=many is refused")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
