package own

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/yaml"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// word returns a scalar as it is written, "" for any other node.
func word(n yaml.Node) string {
	if n.Kind() != yaml.Scalar {
		return ""
	}
	return n.Text()
}

func text(n yaml.Node, what string) string {
	if n.Kind() != yaml.Scalar {
		n.Fail("", "%s is not a text", what)
	}
	return word(n)
}

func yes(n yaml.Node, what string) bool {
	switch strings.ToLower(word(n)) {
	case "true", "on", "yes":
		return true
	case "false", "off", "no":
		return false
	}
	n.Fail("", "%s: %q is not on or off", what, word(n))
	return false
}

func real(n yaml.Node, what string, lo, hi float64) float64 {
	v, err := units.ParseNumber(word(n))
	if err != nil || v < lo || v > hi {
		n.Fail("", "%s: %q is not a number of %g to %g", what, word(n), lo, hi)
		return lo
	}
	return v
}

// share reads a part of a whole: 95% or 0.95.
func share(n yaml.Node, what string) float64 {
	v, err := parseShare(word(n))
	if err != nil || v < 0 || v > 1 {
		n.Fail("for example 95%", "%s: %q is not a share of 0%% to 100%%", what, word(n))
		return 0
	}
	return v
}

func parseShare(text string) (float64, error) {
	rest, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := units.ParseNumber(rest)
	if percent {
		v /= 100
	}
	return v, err
}

// unit is what a number is of.
type unit struct {
	name, like string
	parse      func(string) (int64, error)
	write      func(int64) string
	lo         int64
}

func plain(n int64) string { return strconv.FormatInt(n, 10) }

// The units of numbers.
var (
	bytes    = unit{"a size", "1KiB, 400..2KiB, normal 400..2KiB, zipf 1.2 1..10KiB, or {100B: 90, 1KiB..4KiB: 10}", units.ParseSize, plain, 0}
	count    = unit{"a number", "10, 1..100, normal 1..100, zipf 1.2 1..100, or {1: 90, 10..20: 10}", units.ParseWhole, plain, 0}
	signed   = unit{"a number", "-1, 1..100, normal 1..100, or {1: 90, 10..20: 10}", units.ParseWhole, plain, -1 << 60}
	duration = unit{"a time", "200ms, 1s..5s, normal 1s..5s, or {1m: 90, 1h: 10}", parseDuration, func(n int64) string { return units.Typed(time.Duration(n)) }, 0}
)

func parseDuration(s string) (int64, error) {
	if s == "0" {
		return 0, nil
	}
	days, is := strings.CutSuffix(s, "d")
	if is {
		n, err := units.ParseNumber(days)
		return int64(n * float64(24*time.Hour)), err
	}
	d, err := units.ParseDuration(s)
	return int64(d), err
}

// mostNumber is the largest number that may be drawn.
const mostNumber = 1 << 60

// numberOf reads a number, which may be random.
func numberOf(n yaml.Node, what string, u unit) model.Number {
	if n.IsMapping() {
		return table(n, what, u)
	}
	if n.Kind() != yaml.Scalar {
		n.Fail("for example "+u.like, "%s is not %s", what, u.name)
		return model.Number{}
	}
	v, err := u.number(n.Text())
	if err != nil {
		n.Fail("for example "+u.like, "%s: %q is not %s: %v", what, n.Text(), u.name, err)
	}
	return v
}

// table reads a choice among numbers by their weights.
func table(n yaml.Node, what string, u unit) model.Number {
	out := model.Number{Kind: model.Weighted}
	sum := 0.0
	for key, value := range n.Pairs() {
		lo, hi, err := u.span(key.Text())
		if err != nil {
			key.Fail("for example "+u.like, "%s: %q is not %s: %v", what, key.Text(), u.name, err)
			continue
		}
		w := real(value, what+": the weight of "+key.Text(), 0, 1e12)
		sum += w
		out.Table = append(out.Table, model.Choice{Weight: w, Min: lo, Max: hi})
	}
	if sum <= 0 {
		n.Fail("for example "+u.like, "%s: no weight is above 0", what)
	}
	return out
}

// number parses a number: fixed, a range, or a word for a distribution and a range.
func (u unit) number(s string) (model.Number, error) {
	words := strings.Fields(s)
	out := model.Number{Kind: model.Even}
	switch {
	case len(words) > 1 && (words[0] == "normal" || words[0] == "gaussian"):
		out.Kind, words = model.Normal, words[1:]
		if len(words) == 3 && words[1] == "around" { // lo..hi around mean±deviation
			mean, deviation, ok := strings.Cut(words[2], "±")
			var err, err2 error
			out.Mean, err = u.real(mean)
			out.Deviation, err2 = u.real(deviation)
			if !ok || err != nil || err2 != nil || out.Deviation <= 0 {
				return out, fmt.Errorf("%q is not a mean and a deviation such as 1KiB±100", words[2])
			}
			words = words[:1]
		}
	case len(words) == 3 && words[0] == "zipf":
		exponent, err := units.ParseNumber(words[1])
		if err != nil || exponent <= 0 || exponent > datagen.MostExponent {
			return out, fmt.Errorf("%q is not an exponent above 0 and at most %d", words[1], datagen.MostExponent)
		}
		out.Kind, out.Exponent, words = model.Skewed, exponent, words[2:]
	}
	lo, hi, err := u.span(strings.Join(words, " "))
	if err != nil {
		return out, err
	}
	out.Min, out.Max = lo, hi
	if lo == hi {
		out = model.One(lo)
	}
	return out, nil
}

func (u unit) real(s string) (float64, error) {
	if v, err := units.ParseNumber(s); err == nil {
		return v, nil
	}
	v, err := u.parse(s)
	return float64(v), err
}

// span parses lo..hi, or one number.
func (u unit) span(s string) (lo, hi int64, err error) {
	first, last, is := strings.Cut(s, "..")
	if !is {
		last = first
	}
	if lo, err = u.parse(first); err != nil && is {
		lo, err = u.parse(first + unitOf(last)) // 400..2KiB is 400 bytes, but 1..5s is 1 to 5 seconds
	}
	if err != nil {
		return 0, 0, err
	}
	if hi, err = u.parse(last); err != nil {
		return 0, 0, err
	}
	switch {
	case lo < u.lo:
		return 0, 0, fmt.Errorf("it is below %d", u.lo)
	case hi < lo:
		return 0, 0, fmt.Errorf("%s is less than %s", last, first)
	case hi > mostNumber:
		return 0, 0, fmt.Errorf("%s is too large", last)
	}
	return lo, hi, nil
}

// unitOf returns what follows the digits.
func unitOf(s string) string { return strings.TrimLeft(s, "0123456789._- ") }

// tree writes a number as it is read; nil for one that is not given.
func (u unit) tree(n model.Number) *yaml.Tree {
	switch n.Kind {
	case "":
		return nil
	case model.Weighted:
		t := yaml.NewMapping()
		for _, c := range n.Table {
			span := model.Between(c.Min, c.Max)
			t.Put(span.Text(u.write), yaml.Bare(short(c.Weight)))
		}
		return t
	}
	return yaml.Bare(n.Text(u.write))
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

const keysLike = "uniform, zipf 0.99, zipf-in-order 1.2, latest 0.99, hot 20% 80%, hot 1% 90% drift 100, gaussian, sequential, or same"

// keysOf reads how records are chosen.
func keysOf(n yaml.Node, what string, k *model.Keys) {
	if err := parseKeys(text(n, what), k); err != nil {
		n.Fail(fault.HintOf(err), "%s: %v", what, err)
	}
}

func parseKeys(text string, k *model.Keys) error {
	words := strings.Fields(text)
	if len(words) == 0 {
		return fault.Hint(fmt.Errorf("no distribution is given"), "for example "+keysLike)
	}
	kind, args := model.KeyKind(words[0]), words[1:]
	if !slices.Contains(model.KeyKinds, kind) {
		var known []string
		for _, one := range model.KeyKinds {
			known = append(known, string(one))
		}
		return fault.Hint(fmt.Errorf("%q is not a distribution of keys", words[0]), fault.Suggest(words[0], known))
	}
	k.Kind = kind
	next := func(usual float64) float64 {
		if len(args) == 0 || args[0] == "drift" {
			return usual
		}
		v, err := parseShare(args[0])
		if err != nil {
			return usual
		}
		args = args[1:]
		return v
	}
	switch kind {
	case model.Zipf, model.ZipfInOrder, model.Latest:
		k.Exponent = next(0.99)
	case model.HotSet, model.Exponential, model.LatestExponential:
		k.Hot, k.HotCalls = next(0.2), next(0.8)
		if kind == model.HotSet && len(args) == 2 && args[0] == "drift" {
			args = args[1:]
			k.Drift = int64(next(0))
		}
	case model.Gaussian:
		k.Mean, k.Deviation = next(0.5), next(1.0/6)
	}
	choice := k.Choice()
	err := choice.Err()
	if err == nil && len(args) > 0 {
		err = fmt.Errorf("%q: nothing is known of %q", text, strings.Join(args, " "))
	}
	if err != nil {
		return fault.Hint(err, "for example "+keysLike)
	}
	return nil
}

// KeysText writes how records are chosen, as it is read; "" for what nothing is said of.
func KeysText(k *model.Keys) string {
	percent := func(v float64) string { return " " + short(v*100) + "%" }
	out := string(k.Kind)
	switch k.Kind {
	case model.Zipf, model.ZipfInOrder, model.Latest:
		out += " " + short(k.Exponent)
	case model.HotSet, model.Exponential, model.LatestExponential:
		out += percent(k.Hot) + percent(k.HotCalls)
		if k.Drift > 0 {
			out += " drift " + strconv.FormatInt(k.Drift, 10)
		}
	case model.Gaussian:
		if k.Deviation > 0 {
			out += " " + short(k.Mean) + " " + short(k.Deviation)
		}
	}
	return out
}
