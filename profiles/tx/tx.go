// Package tx is the profile of transactions, in three modes. pbm is PadoGrid's
// transaction test: a pharmacy benefit manager's look-ups of eligibility and profiles,
// and a transaction that reads a client group's members and writes their summary
// atomically. saga is dtm's: distributed transactions of several branches with the
// records that their coordinator keeps, and accounts between which they move money, so
// that it can be checked that none is lost. baseline measures the calls of which
// transactions consist, and computes from them how fast the transaction could be.
//
// Design works out a plan from values alone; a binding connects the plan to a store.
// The engine drives the tasks; this package does not depend on it.
package tx

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/ab"
	"github.com/perfbench/perfbench/profiles/tx/baseline"
	"github.com/perfbench/perfbench/profiles/tx/pbm"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

// Name is the profile's name.
const Name = "tx"

var modes = []string{pbm.Mode, saga.Mode, baseline.Mode}

//go:embed presets/*.yaml
var presets embed.FS

// Profile returns the profile's description.
func Profile() workload.Profile {
	fsys, _ := fs.Sub(presets, "presets") // cannot fail: the name is valid
	var ids []string
	for _, f := range Formats() {
		ids = append(ids, f.ID)
	}
	return workload.Profile{
		Name:  Name,
		Title: "Transactions",
		Summary: "A pharmacy benefit manager's look-ups and group summaries (pbm), sagas across services (saga), " +
			"and the calls that they are made of (baseline).",
		Modes:         modes,
		Unit:          "transactions",
		Reads:         "PadoGrid tx.properties; YAML of names and values",
		Writes:        "PadoGrid tx text; ab and redis-benchmark style; ceiling analysis",
		Thread:        "a client",
		Formats:       ids,
		Presets:       fsys,
		DefaultPreset: "small",
		Params:        params(),
		Stores:        bindings(),
		Read:          Read,
		Design:        Design,
	}
}

// Formats returns the profile's documents.
func Formats() []rundir.Format {
	all := append([]rundir.Format{pbm.Format(), ab.Format()}, baseline.Formats()...)
	for i := range all {
		all[i].Profile = Name
	}
	return all
}

// Design works out the plan. It touches nothing; all problems are returned
// joined, with the code of bad input.
func Design(in workload.Inputs) (*workload.Plan, error) {
	r := values.New(in.Values)
	v := r.Pick(modeParam, modeParam.Name)
	mode, err := v.Choice(modes...)
	if err != nil {
		return nil, fault.Field("mode", fault.Input(fmt.Errorf("mode: %q (%s) is not one of %s", v.Text, v.From(), strings.Join(modes, ", ")), fault.Meant(v.Text, modes)))
	}
	r.Show("mode", mode, v)
	var p *workload.Plan
	switch mode {
	case saga.Mode:
		if in.Driver == ab.Driver {
			p, err = ab.Design(r, in)
			break
		}
		p, err = saga.Design(r, in)
	case baseline.Mode:
		p, err = baseline.Design(r, in)
	default:
		p, err = pbm.Design(r, in)
	}
	if err != nil {
		return nil, err
	}
	idle(r, mode)
	p.Mode, p.Parameters, p.Warnings, p.Binder = mode, r.Shown, r.Warnings, binder{p.Binder, mode}
	return p, nil
}

// idle warns about values given explicitly that belong to another mode. mode=baseline
// runs sagas too.
func idle(r *values.Reader, mode string) {
	own := map[string][]workload.Param{pbm.Mode: pbm.Params(), saga.Mode: saga.Params(), baseline.Mode: baseline.Params()}
	for _, of := range modes {
		if of == mode || of == saga.Mode && mode == baseline.Mode {
			continue
		}
		for _, p := range own[of] {
			if v, ok := r.Values[p.Name]; ok && v.Origin > workload.OriginFile {
				r.Warn("%s (%s) has no effect with mode=%s: it belongs to mode=%s", p.Name, v.From(), mode, of)
			}
		}
	}
}
