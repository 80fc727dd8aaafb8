package report_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/eventstoretest"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// The report names what kept a step from storing more.
func TestTheReportSaysWhatBinds(t *testing.T) {
	for want, change := range map[string]func(f *report.Facts, s *report.Step, cpus *any){
		"the rate that was offered: perfbench used":                                         func(_ *report.Facts, s *report.Step, _ *any) { s.Stored = s.Offered },
		"the processors of this machine, 4: perfbench used 2.50, cassandra used 1.20 cores": func(*report.Facts, *report.Step, *any) {},
		"for room under the limits 1.0 threads waited on average": func(_ *report.Facts, s *report.Step, cpus *any) {
			*cpus, s.BlockedNs = 16, s.ToNs-s.FromNs
		},
		"not the limits of the store stage, and not the processors: perfbench used": func(_ *report.Facts, _ *report.Step, cpus *any) { *cpus = 16.0 },
		"what the processes used is not known":                                      func(f *report.Facts, _ *report.Step, _ *any) { f.Processes = nil },
	} {
		f := eventstoretest.Facts()
		s := &f.Steps[0]
		s.Stored.Events = s.Offered.Events / 2
		folder := eventstoretest.Folder(t, f)
		cpus := any(4)
		change(f, s, &cpus)
		folder.Run.Environment["cpus"] = cpus
		assert.Contains(t, report.Binds(&folder.Run, f, s), want)
	}
	f := eventstoretest.Facts()
	folder := eventstoretest.Folder(t, f)
	folder.Run.Workers = []rundir.Worker{{Host: "a", CPUs: 2}, {Host: "a", CPUs: 2}, {Host: "b", CPUs: 2}}
	f.Steps[0].Stored.Events = f.Steps[0].Offered.Events / 2
	assert.Contains(t, report.Binds(&folder.Run, f, &f.Steps[0]), "the processors of the workers' machines, 4: perfbench used")
}
