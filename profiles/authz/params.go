package authz

import (
	"slices"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// params returns the parameters.
func params() []workload.Param { return new(spec).declare().Params() }

// declare declares the parameters, and the fields into which they are read.
func (s *spec) declare() *values.Fields {
	p := &values.Fields{}
	p.Choice(&s.mode, "mode", report.ModeChecks, []string{report.ModeChecks, report.ModeProfiles}, "checks of permissions, or the profiles of users")
	s.declareData(p)
	s.declareTests(p)
	p.Users()
	p.Choice(&s.viewer, "viewer", ownerReads, append(slices.Clone(readers), mixedReaders), "who reads the profiles: mixed is each of the others in turn")
	p.Choice(&s.password, "passwordHash", "none", []string{"none", "bcrypt"}, "bcrypt hashes the passwords of users as they are loaded, as the original did: some 10 users a second")
	p.Choice(&s.load, "load", "auto", []string{"auto", "only", "never"}, "auto continues an interrupted load of the same data or loads anew; only loads and stops; never checks what is there")
	p.Int(&s.batch, "loadBatch", 100, 1, 1_000_000, "items", "items loaded between two records of progress")
	p.Choice(&s.json, "json", "superset", []string{"superset", "seed", "code"}, "keys of the JSON document: all, or strictly the original's README's or code's")
	p.Switch(&s.compat, "compat", false, "on sweeps one check more than the limit and keeps no empty closures, as the original does")
	return p
}

// declareData declares the parameters for what is read or generated, and how it is
// loaded.
func (s *spec) declareData(p *values.Fields) {
	p.Text(&s.folder, "folder", "", "the folder scripts that a model loader wrote; --file FOLDER sets it")
	p.Text(&s.batches, "batches", "all", "which batches of the folder: all, or numbers such as 0,2; the original read 0 only")
	p.Choice(&s.shape, "shape", "classic", []string{"classic", "hilary"}, "which generation of the model loader to generate like, without a folder")
	p.Int(&s.users, "users", 500, 1, 10_000_000, "users", "users to generate for each tenant")
	p.Int(&s.groups, "groups", 250, 1, 10_000_000, "groups", "top-level groups to generate for each tenant")
	p.Int(&s.runs, "runs", 1, 1, maxTenants, "tenants", "tenants asked for in all (-n); rounded up to whole phases")
	p.Int(&s.concurrent, "concurrent", 1, 1, maxConcurrent, "tenants", "tenants at the same time in each phase (-c)")
	p.Own(workload.Param{
		Name: "series", Kind: workload.Text,
		Help: "several tests one after the other, each RUNS/CONCURRENT, in place of runs and concurrent: the published baseline is 1/1,4/4,12/4",
	}, s.readRounds)
	p.Choice(&s.membership, "membership", model.Roles, []string{model.Roles, model.Nested, model.Flat, model.Committed}, "how groups become memberships; oae-committed is what the original's code really loaded")
	p.Choice(&s.variant, "variant", "v1", []string{"v1", "v2"}, "v1 loads users, groups and memberships with the original's checks; v2 memberships alone, each in one batch")
}

// declareTests declares the parameters for what is run on each tenant.
func (s *spec) declareTests(p *values.Fields) {
	p.Choice(&s.strategy, "strategy", Ancestry, Strategies, "how a check is decided")
	p.Own(workload.Param{Name: "tests", Kind: workload.List, Default: "valid,sweep", Help: "what is run on each tenant: valid, sweep, mix, staleness"}, s.readTests)
	p.Int(&s.sweepLimit, "sweepLimit", 0, 0, 1_000_000_000, "checks", "checks of the sweep per tenant; 0: every group with every user")
	p.Choice(&s.order, "sweepOrder", "reverse", []string{"reverse", "forward", "shuffle"}, "order of the sweep")
	p.Text(&s.permission, "sweepPermission", "member", "the role that the sweep asks for")
	p.Int(&s.mixOps, "mixOps", 10_000, 1, 1_000_000_000, "operations", "operations of the mix per tenant")
	p.Own(workload.Param{
		Name: "mix", Kind: workload.Text, Default: "check=94,list=2,expand=1,grant=1.5,revoke=1.5",
		Help: "weights of the mix; update=5 also stores principals anew, as large as the knob payload says",
	}, s.readMix)
	p.Float(&s.updates, "updateRate", 0, 0, 1, "", "share of the profiles of which a section is stored anew, as large as the knob payload says, instead of being read")
	p.Float(&s.zipf, "zipf", 0.99, 0, 5, "", "skew of users and groups in the mix; 0 is even")
	p.Int(&s.probes, "probes", 20, 1, 1_000_000, "probes", "revocations that the staleness probe watches, per tenant")
	p.Switch(&s.invalidate, "invalidate", true, "off leaves what is cached when a role is revoked, to see how long it is still granted")
	p.Duration(&s.staleLimit, "staleLimit", "1s", "how long the probe waits for a revoked permission to be denied")
	p.Duration(&s.ttl, "cacheTTL", "0s", "how long each worker keeps decisions in memory, as the processes of a site may do; 0: not at all")
}
