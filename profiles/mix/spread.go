package mix

import (
	"slices"
	"sync"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/own"
)

// drawn is how many choices a picture is made of, and mostSpread among how many records at most.
const (
	drawn      = 1 << 14
	mostSpread = 1 << 20
)

// spreads are the distributions of the keys of a workload, each one once.
func spreads(w *model.Workload) (out []workload.KeySpread) {
	type choice struct {
		data string
		keys model.Keys
	}
	var seen []choice
	for i := range w.Operations {
		for j := range w.Operations[i].Steps {
			st := &w.Operations[i].Steps[j]
			at := w.Index(st.Data)
			if at < 0 || st.Do == model.Insert || st.Keys.Kind == model.Same || st.Keys.Kind == "" {
				continue
			}
			one := choice{st.Data, st.Keys}
			if slices.Contains(seen, one) {
				continue
			}
			seen = append(seen, one)
			s := &spread{keys: st.Keys, records: min(max(w.Data[at].Records, 1000), mostSpread)}
			out = append(out, workload.KeySpread{Name: st.Data, Of: s.of})
		}
	}
	return out
}

// spread is one distribution, with the last picture of it. It is safe for use by several
// goroutines.
type spread struct {
	keys    model.Keys
	records int64

	mu       sync.Mutex
	exponent float64
	shares   []float64
}

// of is the function of a workload.KeySpread.
func (s *spread) of(set workload.Settings, n int) (string, []float64) {
	keys := s.keys
	if zipf := model.ZipfAt(&set); keys.Exponent > 0 && zipf > 0 {
		keys.Exponent = zipf
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.shares) != n || s.exponent != keys.Exponent {
		s.exponent, s.shares = keys.Exponent, sharesOf(keys, s.records, n)
	}
	return own.KeysText(&keys), s.shares
}

// sharesOf makes choices, and returns the shares of n equal parts of the records.
func sharesOf(keys model.Keys, records int64, n int) []float64 {
	k := keys.Choice()
	k.Drift = 0
	if k.Kind == datagen.ZipfKeys { // scattered, so that their order says nothing
		k.Kind = datagen.OrderedZipfKeys
	}
	c, shares := datagen.NewChooser(k, 1, records), make([]float64, n)
	for i := range uint64(drawn) {
		at := c.Choose(i, records)
		shares[at*int64(n)/records] += 1.0 / drawn
	}
	return shares
}
