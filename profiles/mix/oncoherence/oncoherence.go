// Package oncoherence keeps the data of a workload in Coherence: a cache for each data set,
// with an entry for each record.
package oncoherence

import (
	"errors"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// data is what all clients share. It is never changed.
type data struct {
	maps *coherence.Maps
	sets []set
}

// set is a data set and its cache.
type set struct {
	*model.Data
	space store.Space
}

const product = "Coherence"

// New returns the data of a workload under a namespace. It changes nothing in the store. The
// error says which data Coherence cannot keep.
func New(c *coherence.Conn, w *model.Workload, namespace string) (*model.Adapter, error) {
	if err := w.Kept(product, can); err != nil {
		return nil, err
	}
	d := &data{maps: c.Maps}
	a := &model.Adapter{Lacks: lacks, Open: func() (model.Client, error) { return &client{data: d}, nil }}
	// There a getall of Coherence 25.03, of a single member too, now and then returns a value that
	// an acknowledged putall had replaced, while another putall that has the same entry is under
	// way: once in some thousands of getalls on a hundred entries. With one of the two about single
	// entries, it was not seen in 800,000 reads.
	if sets := w.Batched(); slices.Contains(sets, true) {
		a.Lags = func(c *model.Call, busy bool) bool { return busy && len(c.Rows) > 1 && sets[c.Set] }
		a.Why = "a getall of Coherence beside a putall of several entries"
	}
	for i := range w.Data {
		space := store.Space{Namespace: namespace, Name: "mix-" + w.Data[i].Name, Shape: store.Map}
		d.sets = append(d.sets, set{&w.Data[i], space})
		a.Spaces = append(a.Spaces, ownership.Space{Space: space})
	}
	return a, nil
}

// can are the verbs for each type.
var can = map[model.Type][]model.Verb{
	model.Value:   {model.Get, model.Put, model.Insert, model.Modify, model.Delete},
	model.Hash:    {model.Get, model.Put, model.Insert, model.Update, model.Modify, model.Delete},
	model.Counter: {model.Get, model.Put, model.Insert, model.Add, model.Delete},
}

func lacks(op *model.Operation, st *model.Step, d *model.Data) error {
	switch {
	case op.Atomic:
		return fault.Hint(errors.New("Coherence has no transactions over several entries"), "leave atomic out, or use a database or a single Redis")
	case st.Do == model.Statement:
		return fault.Hint(errors.New("Coherence has no statements"), "use get, put, insert, update, modify, add and delete")
	case d == nil:
		return nil
	case !slices.Contains(can[d.Type], st.Do):
		return model.Unable(product, st, d, can[d.Type])
	case (d.TTL.Given() || st.TTL.Given()) && replaces(st, d):
		return fault.Hint(fmt.Errorf("an entry of Coherence that is replaced by %s no longer expires, and %s has a ttl", st.Do, d.Name), "use put, or leave ttl out")
	}
	return nil
}

// replaces reports whether a step replaces an entry by what it makes of it.
func replaces(st *model.Step, d *model.Data) bool {
	return st.Do == model.Update || st.Do == model.Add || st.Do == model.Modify && d.Type == model.Hash && max(st.Fields, len(st.Names)) > 0
}
