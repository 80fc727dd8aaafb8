package model

import "github.com/perfbench/perfbench/internal/datagen"

// Keys is how records are chosen among those of a data set.
type Keys struct {
	Kind KeyKind
	// Exponent is that of Zipf and Latest.
	Exponent float64
	// From and To limit the choice to the records From … To-1; To 0: up to the last.
	From, To int64
	// Hot is which share of the records HotCalls, a share of the calls, go to. The hot
	// records move on by one every Drift calls; 0: they stay. Exponential distributions
	// have them for a steepness.
	Hot, HotCalls float64
	Drift         int64
	// Mean and Deviation are those of Gaussian, as shares of the records; 0: the middle, and a
	// sixth.
	Mean, Deviation float64
}

// KeyKind is a distribution over the records of a data set.
type KeyKind string

// Distributions. The zero value, in a file that says nothing, is Uniform.
const (
	// Uniform makes all records equally likely.
	Uniform KeyKind = "uniform"
	// Zipf makes record k likely in proportion to (k+1)^-Exponent, scattered over the
	// records: the most frequent are not neighbours.
	Zipf KeyKind = "zipf"
	// ZipfInOrder is Zipf that is not scattered: record 0 is the most frequent one.
	ZipfInOrder KeyKind = "zipf-in-order"
	// Latest is Zipf counted back from the record that was inserted last.
	Latest KeyKind = "latest"
	// HotSet sends a share of the calls to a share of the records.
	HotSet KeyKind = "hot"
	// Gaussian chooses by a bell curve over the records in order.
	Gaussian KeyKind = "gaussian"
	// Exponential becomes less and less likely from record 0 on, and LatestExponential from
	// the record that was inserted last.
	Exponential       KeyKind = "exponential"
	LatestExponential KeyKind = "latest-exponential"
	// Sequential takes one record after the other, and begins again after the last.
	Sequential KeyKind = "sequential"
	// Same is the record of an earlier step of the operation on the same data set.
	Same KeyKind = "same"
)

// KeyKinds are all distributions.
var KeyKinds = []KeyKind{Uniform, Zipf, ZipfInOrder, Latest, HotSet, Gaussian, Exponential, LatestExponential, Sequential, Same}

// Number is a whole number that may be random: a size in bytes, a length, a time in ns.
// The zero value stands for a number that is not given.
type Number struct {
	Kind NumberKind
	// Min and Max are the limits, both included; of Fixed, both are the number.
	Min, Max int64
	// Mean and Deviation are those of Normal; both 0: the middle, and a sixth of the range.
	Mean, Deviation float64
	// Exponent is that of Skewed.
	Exponent float64
	// Table is the choice of Weighted; its Numbers are Fixed or Even.
	Table []Choice
}

// NumberKind is a distribution of numbers.
type NumberKind string

// Distributions of numbers.
const (
	// Fixed is always the same.
	Fixed NumberKind = "fixed"
	// Even makes all from Min to Max equally likely.
	Even NumberKind = "even"
	// Normal is a bell curve, cut off at Min and Max.
	Normal NumberKind = "normal"
	// Skewed makes Min most likely and those above it less, by Zipf's law.
	Skewed NumberKind = "skewed"
	// Weighted is a choice among others by their weights.
	Weighted NumberKind = "weighted"
)

// Choice is an entry of a table of weights.
type Choice struct {
	Weight   float64
	Min, Max int64
}

// One returns the number that is always n.
func One(n int64) Number { return Number{Kind: Fixed, Min: n, Max: n} }

// Between returns the number that is anything from lo to hi.
func Between(lo, hi int64) Number {
	if lo == hi {
		return One(lo)
	}
	return Number{Kind: Even, Min: lo, Max: hi}
}

// Given reports whether it is not the zero value.
func (n *Number) Given() bool { return n.Kind != "" }

// Most returns the largest that it can be.
func (n *Number) Most() int64 {
	most := n.Max
	for _, c := range n.Table {
		most = max(most, c.Max)
	}
	return most
}

// Choice returns the distribution, without the limits of the records.
func (k *Keys) Choice() datagen.Keys {
	c := datagen.Keys{
		Kind: datagen.KeyKind(k.Kind), Exponent: k.Exponent, Hot: k.Hot, HotCalls: k.HotCalls, Drift: k.Drift, Mean: k.Mean, Deviation: k.Deviation,
	}
	switch {
	case k.Kind == Same:
		c.Kind = datagen.UniformKeys // of the first step, which has none before it
	case k.Kind == Gaussian && k.Deviation == 0:
		c.Mean, c.Deviation = 0.5, 1.0/6
	}
	return c
}
