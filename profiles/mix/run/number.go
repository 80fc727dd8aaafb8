package run

import (
	"math/bits"
	"slices"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// mix scatters the bits of a number: a step of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below makes a number in [0, n) of random bits.
func below(x uint64, n int64) int64 {
	hi, _ := bits.Mul64(x, uint64(n)) // the bias is below n/2^64
	return int64(hi)
}

// unit makes a number in [0, 1) of random bits.
func unit(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// number draws a model.Number. It belongs to one goroutine.
type number struct {
	min, span int64
	// among draws from Normal and Skewed; nil: all are equally likely.
	among *datagen.Chooser
	// table holds those of Weighted, upto the sums of their weights.
	table []model.Choice
	upto  []float64
}

func numberOf(n model.Number) number {
	d := number{min: n.Min, span: n.Max - n.Min + 1}
	switch n.Kind {
	case model.Normal:
		k := datagen.Keys{Kind: datagen.GaussianKeys, Mean: 0.5, Deviation: 1.0 / 6}
		if n.Deviation > 0 {
			k.Mean, k.Deviation = (n.Mean-float64(n.Min))/float64(d.span), n.Deviation/float64(d.span)
		}
		d.among = datagen.NewChooser(k, 0, d.span)
	case model.Skewed:
		d.among = datagen.NewChooser(datagen.Keys{Kind: datagen.OrderedZipfKeys, Exponent: n.Exponent}, 0, d.span)
	case model.Weighted:
		sum := 0.0
		for _, c := range n.Table {
			sum += c.Weight
			d.table, d.upto = append(d.table, c), append(d.upto, sum)
		}
	}
	return d
}

// Draws returns what draws a number from random bits, for one goroutine.
func Draws(n model.Number) func(bits uint64) int64 {
	d := numberOf(n)
	return d.draw
}

// draw makes the number of random bits.
func (d *number) draw(x uint64) int64 {
	switch {
	case d.among != nil:
		return d.min + d.among.Choose(x, d.span)
	case d.table != nil:
		at, _ := slices.BinarySearch(d.upto, unit(x)*d.upto[len(d.upto)-1])
		c := d.table[min(at, len(d.table)-1)]
		return c.Min + below(mix(x), c.Max-c.Min+1)
	case d.span <= 1:
		return d.min
	}
	return d.min + below(x, d.span)
}
