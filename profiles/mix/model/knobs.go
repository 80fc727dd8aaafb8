package model

import "github.com/perfbench/perfbench/internal/workload"

// The places of the knobs in Settings.Extra: the exponent of skewed keys, 0 if there are
// none; the share of gets that ask for a record that is there; and from extraWeights on the
// weights of operations.
const (
	extraZipf = iota
	extraHit
	extraWeights
)

// MostWeights is how many operations can have a weight that is turned during a run; others
// keep theirs.
const MostWeights = workload.MostExtra - extraWeights

// WeightAt returns the weight of an operation under some settings.
func (w *Workload) WeightAt(s *workload.Settings, operation int) float64 {
	if operation >= MostWeights {
		return w.Operations[operation].Weight
	}
	return s.Extra[extraWeights+operation]
}

// ZipfAt returns the exponent of skewed keys under some settings; 0: there are none.
func ZipfAt(s *workload.Settings) float64 { return s.Extra[extraZipf] }

// HitAt returns the share of gets that ask for a record that is there.
func HitAt(s *workload.Settings) float64 { return s.Extra[extraHit] / 100 }

// Knobs returns the knobs that the workload has of its own, and sets what they begin with.
func (w *Workload) Knobs(start *workload.Settings) (out []workload.Knob) {
	if k := w.skewed(); k > 0 {
		start.Extra[extraZipf] = k
		out = append(out, extra(extraZipf, workload.Knob{
			Name: "zipf", Help: "exponent of all skewed choices of keys: how much more often the frequent ones are called", Min: 0.01, Max: 10, Step: 0.05,
		}))
	}
	start.Extra[extraHit] = 100
	if hit := w.hit(); hit != nil {
		start.Extra[extraHit] = *hit * 100
		out = append(out, extra(extraHit, workload.Knob{
			Name: "hit", Unit: "%", Help: "gets that ask for a record that is there, of those of which the workload says how many", Min: 0, Max: 100, Step: 1,
		}))
	}
	for i := range w.Operations {
		o := &w.Operations[i]
		if i >= MostWeights {
			break
		}
		start.Extra[extraWeights+i] = o.Weight
		if len(w.Operations) > 1 {
			out = append(out, extra(extraWeights+i, workload.Knob{
				Name: WeightKnob(o.Name), Help: "weight of " + o.Name + ": how often it is called, in proportion to the weights of all", Min: 0, Max: 1e6, Step: 1,
			}))
		}
	}
	return out
}

// WeightKnob returns the name of the knob for the weight of an operation.
func WeightKnob(operation string) string { return "weight-" + operation }

func extra(at int, k workload.Knob) workload.Knob {
	k.Get = func(s workload.Settings) float64 { return s.Extra[at] }
	k.Set = func(s workload.Settings, v float64) workload.Settings { s.Extra[at] = v; return s }
	return k
}

// skewed returns the first exponent of a choice of keys; 0: there is none.
func (w *Workload) skewed() float64 {
	for i := range w.Operations {
		for j := range w.Operations[i].Steps {
			if k := &w.Operations[i].Steps[j].Keys; k.Exponent > 0 {
				return k.Exponent
			}
		}
	}
	return 0
}

// hit returns the first share of gets that find something; nil: there is none.
func (w *Workload) hit() *float64 {
	for i := range w.Operations {
		for j := range w.Operations[i].Steps {
			if h := w.Operations[i].Steps[j].Hit; h != nil {
				return h
			}
		}
	}
	return nil
}
