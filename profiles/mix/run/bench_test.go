package run

import (
	"testing"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// BenchmarkChooseAndMake is what a client does for a write before the store is called: it
// chooses a key among a million and makes a value of 1 KiB.
func BenchmarkChooseAndMake(b *testing.B) {
	for _, k := range []datagen.Keys{{Kind: datagen.UniformKeys}, {Kind: datagen.ZipfKeys, Exponent: 0.99}, {Kind: datagen.LatestKeys, Exponent: 0.99}} {
		b.Run(string(k.Kind), func(b *testing.B) {
			choose := datagen.NewChooser(k, 1, 1_000_000)
			s := &set{Data: &model.Data{Key: model.KeyForm{Length: 10}}, columns: 1, base: 1_000_000}
			s.slots, s.stride, s.tracked = make(slots, 1_000_000), 1, 1_000_000
			var key, val []byte
			b.ReportAllocs()
			defer bench.PerCall(b)()
			for i := range uint64(b.N) {
				record := choose.Choose(i, s.base)
				key = s.Key.Append(key[:0], record)
				slot := s.slot(record, 0)
				val = s.append(val[:0], owner(key, 0), datagen.VersionOf(1, s.slots.begin(slot)), 1024)
				s.slots.end(slot, true)
			}
		})
	}
}
