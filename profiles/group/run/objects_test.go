package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/design"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// BenchmarkObjects is what making an object and its JSON costs: an order of Northwind,
// and one that a file defines with the same fields.
func BenchmarkObjects(b *testing.B) {
	const text = `groupNames: g1
g1: {operations: 'northwind,defined', threadCount: 1, totalInvocationCount: 1000}
northwind: {map: n, testCase: put, factory.class: order, factory.key.isRandom: false, factory.key.length: 11}
defined: {map: d, testCase: put, object: purchase}
objects:
  purchase:
    key: k########
    fields:
      customerId: {generator: sequence, pattern: "c-#########"}
      employeeId: {generator: sequence, pattern: "e##########"}
      orderDate: {type: time, range: 2025-12-25..2025-12-31}
      requiredDate: {type: time, range: 2026-01-01..2026-01-20}
      shippedDate: {type: time, range: 2026-01-01..2026-01-05}
      shipVia: {values: [1, 2, 3, 4, 5]}
      freight: {type: decimal, range: 0..100}
      shipName: company
      shipAddress: address
      shipCity: city
      shipRegion: state
      shipPostalCode: zip
      shipCountry: country
      createdOn: now
      updatedOn: now
`
	s := designed(b, text)
	for _, name := range []string{"northwind", "defined"} {
		b.Run(name, func(b *testing.B) {
			o := s.Ops[name]
			k := &task{w: &work{s: s}}
			c := model.Call{Op: o, Action: model.ActPut}
			n := int64(0)
			b.ReportAllocs()
			for b.Loop() {
				n++
				k.reset(&c)
				k.add(&c, n, "", nil)
			}
			b.SetBytes(int64(len(c.Entries[0].Val)))
		})
	}
}

// designed is what a design finds out of YAML for the memory store.
func designed(b *testing.B, yaml string) *model.Spec {
	b.Helper()
	vs := workload.Values{}
	for _, p := range design.Params() {
		if p.Default != "" {
			vs.Set(workload.Value{Name: p.Name, Text: p.Default, Origin: workload.OriginDefault})
		}
	}
	from, _, err := design.Read([]workload.File{{Path: "g.yaml", Data: []byte(yaml)}})
	require.NoError(b, err)
	for _, v := range from {
		vs.Set(v)
	}
	_, s, err := design.Design(workload.Inputs{Values: vs, Seed: 1, Namespace: "perfbench", Driver: "memory"})
	require.NoError(b, err)
	return s
}
