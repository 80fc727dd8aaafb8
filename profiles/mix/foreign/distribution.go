package foreign

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// distribution is one of cassandra-stress, such as gaussian(1..1M,3).
type distribution struct {
	kind            string // fixed, uniform, gaussian, exp, extreme or seq
	lo, hi          int64
	mean, deviation float64 // of gaussian
	inverted        bool
}

var distributionForm = regexp.MustCompile(`^\s*(~?)\s*([A-Za-z]+)\s*\(([^()]*)\)\s*$`)

// distributionNames are all names of distributions, and the one that each means.
var distributionNames = map[string]string{
	"fixed": "fixed", "uniform": "uniform", "gaussian": "gaussian", "gauss": "gaussian", "normal": "gaussian", "norm": "gaussian",
	"exp": "exp", "extreme": "extreme", "extr": "extreme", "weibull": "extreme", "qextreme": "extreme", "qextr": "extreme", "qweibull": "extreme", "seq": "seq",
}

const distributionHint = "fixed(10), uniform(1..100), gaussian(1..100,3), exp(1..100), extreme(1..100,2) or seq(1..100)"

func parseDistribution(text string) (distribution, error) {
	m := distributionForm.FindStringSubmatch(text)
	if m == nil {
		return distribution{}, fmt.Errorf("%q is not a distribution: write %s", text, distributionHint)
	}
	d := distribution{kind: distributionNames[strings.ToLower(m[2])], inverted: m[1] == "~"}
	args := strings.Split(m[3], ",")
	most := map[string]int{"fixed": 1, "uniform": 1, "gaussian": 3, "exp": 1, "extreme": 3, "seq": 1}[d.kind]
	switch {
	case d.kind == "":
		return d, fmt.Errorf("%q is not a distribution; %s", text, fault.Suggest(strings.ToLower(m[2]), distributionWords()))
	case len(args) > most:
		return d, fmt.Errorf("%q has more than %d arguments", text, most)
	}
	lo, hi, isRange := strings.Cut(args[0], "..")
	var ok1, ok2 bool
	d.lo, ok1 = stressNumber(lo)
	d.hi, ok2 = d.lo, !isRange
	if isRange {
		d.hi, ok2 = stressNumber(hi)
	}
	if !ok1 || !ok2 || isRange == (d.kind == "fixed") || d.lo > d.hi {
		return d, fmt.Errorf("%q is not a distribution from a number to one that is not below it: write %s", text, distributionHint)
	}
	numbers := make([]float64, 0, 2)
	for _, a := range args[1:] {
		v, err := strconv.ParseFloat(strings.TrimSpace(a), 64)
		if err != nil || !(v > 0 && v < math.MaxFloat64) {
			return d, fmt.Errorf("%q: %q is not a number above 0", text, strings.TrimSpace(a))
		}
		numbers = append(numbers, v)
	}
	d.mean, d.deviation = float64(d.lo+d.hi)/2, float64(d.hi-d.lo)/6 // three deviations to each side
	if d.kind == "gaussian" {
		switch len(numbers) {
		case 1:
			d.deviation = float64(d.hi-d.lo) / 2 / numbers[0]
		case 2:
			d.mean, d.deviation = numbers[0], numbers[1]
		}
	}
	return d, nil
}

func distributionWords() []string {
	return []string{"fixed", "uniform", "gaussian", "normal", "exp", "extreme", "weibull", "seq"}
}

// stressNumber reads a whole number that may end in k, m or b.
func stressNumber(text string) (int64, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	unit := int64(1)
	for _, u := range []struct {
		end  string
		unit int64
	}{{"k", 1e3}, {"m", 1e6}, {"b", 1e9}} {
		if rest, ok := strings.CutSuffix(text, u.end); ok {
			text, unit = rest, u.unit
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/4/unit {
		return 0, false
	}
	return n * unit, true
}

// number returns a distribution of numbers, and how it differs; "" if it does not.
func (d *distribution) number() (model.Number, string) {
	lo, hi := max(d.lo, 1), max(d.hi, 1)
	n := model.Between(lo, hi)
	switch {
	case lo == hi:
		return n, ""
	case d.kind == "gaussian":
		return model.Number{Kind: model.Normal, Min: lo, Max: hi, Mean: d.mean, Deviation: max(d.deviation, 1e-9)}, ""
	case d.kind == "exp":
		return model.Number{Kind: model.Skewed, Min: lo, Max: hi, Exponent: 1}, "small ones are more frequent by Zipf's law, not exponentially"
	case d.kind == "extreme":
		return model.Number{Kind: model.Normal, Min: lo, Max: hi}, "by a bell curve over the range, not by Weibull's distribution"
	case d.kind == "seq":
		return n, "any number of the range, not one after the other"
	}
	return n, ""
}

// keys returns a distribution of records, which are numbered from 0, and how it differs.
func (d *distribution) keys() (model.Keys, string) {
	n := float64(d.hi - d.lo + 1)
	switch d.kind {
	case "gaussian":
		k := model.Keys{Kind: model.Gaussian, Mean: share((d.mean - float64(d.lo)) / n), Deviation: max(d.deviation/n, 1e-9)}
		if d.inverted {
			return k, "around the middle; the inverse is not made"
		}
		return k, ""
	case "exp":
		// That of the original has its far end where one call in a million lies behind it.
		k := model.Keys{Kind: model.Exponential, Hot: 1 - 1e-9, HotCalls: 1 - 1e-6}
		if d.inverted {
			k.Kind = model.LatestExponential
		}
		return k, ""
	case "extreme":
		k := model.Keys{Kind: model.Exponential, Hot: 1 - 1e-9, HotCalls: 1 - 1e-6}
		if d.inverted {
			k.Kind = model.LatestExponential
		}
		return k, "exponentially less likely from one end on, not by Weibull's distribution"
	case "seq":
		return model.Keys{Kind: model.Sequential}, ""
	default:
		return model.Keys{Kind: model.Uniform}, ""
	}
}
