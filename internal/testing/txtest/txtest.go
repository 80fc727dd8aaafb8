// Package txtest holds what the tests of tx's modes share. It is for tests only.
package txtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
)

// Mode is the mode under test, or all of them.
type Mode struct {
	// Params are its parameters, Plan makes its plans.
	Params []workload.Param
	Plan   func(in workload.Inputs) (*workload.Plan, error)
}

// Of returns a mode with its own parameters in addition to the shared ones.
func Of(params []workload.Param, design func(r *values.Reader, in workload.Inputs) (*workload.Plan, error)) Mode {
	name := workload.Param{Name: "mode", Kind: workload.Text, Help: "is the one under test"}
	return Mode{append(slices.Clip(params), common.Zipf, common.Check, name), func(in workload.Inputs) (*workload.Plan, error) {
		r := values.New(in.Values)
		p, err := design(r, in)
		if err != nil {
			return nil, err
		}
		p.Parameters, p.Warnings = r.Shown, r.Warnings
		return p, nil
	}}
}

// Given makes values: "name=value" texts of flags on top of the parameters' defaults.
func (m Mode) Given(flags ...string) workload.Values { return profiletest.Given(m.Params, flags...) }

var runs atomic.Int64

// Inputs returns those of a run that is alone in its namespace.
func Inputs(vs workload.Values) workload.Inputs {
	return workload.Inputs{Values: vs, Seed: 1, Namespace: "t"}
}

// Alone returns inputs with a namespace of its own, for a server that others use too.
func Alone(vs workload.Values) workload.Inputs {
	in := Inputs(vs)
	in.Namespace = "pg_t" + // which careless patterns may take for the database's own
		strconv.FormatInt(runs.Add(1), 10)
	return in
}

// Case returns a run of the mode as the command carries it out, in a namespace of its
// own.
func (m Mode) Case(target string, flags ...string) profiletest.Case {
	p := workload.Profile{Name: "tx", Params: m.Params, Design: m.Plan}
	for _, d := range drivers.All() {
		p.Stores = append(p.Stores, workload.Binding{Driver: d.Name})
	}
	return profiletest.Case{Profile: p, Target: target, Set: flags}.With("namespace=" + Alone(nil).Namespace)
}

// Bound designs a plan and binds it, as a run of its own, to a connection of the
// target's driver.
func (m Mode) Bound(t testing.TB, c store.Conn, driver string, in workload.Inputs) *workload.Plan {
	t.Helper()
	in.Driver = driver
	p, err := m.Plan(in)
	require.NoError(t, err)
	return profiletest.Bind(t, "tx", p, c, in, fmt.Sprint(time.Now(), runs.Add(1)))
}

// DriverOf returns the name of a target's driver.
func DriverOf(t testing.TB, target string) string {
	t.Helper()
	_, d, err := drivers.Parse(target)
	require.NoError(t, err)
	return d.Name
}

// Ready opens a target, and binds and sets up a plan on it.
func (m Mode) Ready(t testing.TB, target string, in workload.Inputs) (*workload.Plan, store.Conn) {
	t.Helper()
	c := profiletest.Open(t, target)
	p := m.Bound(t, c, DriverOf(t, target), in)
	require.NoError(t, p.Setup(t.Context(), nil))
	return p, c
}

// TypedSQL opens a database.
func TypedSQL(t testing.TB, url string) sqlstore.Typed {
	t.Helper()
	c, ok := profiletest.Open(t, url).(sqlstore.Typed)
	require.True(t, ok)
	return c
}

// Apart returns the inputs of a run in a namespace of its own.
func (m Mode) Apart(namespace string, flags ...string) workload.Inputs {
	in := Inputs(m.Given(flags...))
	in.Namespace = namespace
	return in
}

// Rand returns a generator that always draws the same numbers.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) } //nolint:gosec // no secret
