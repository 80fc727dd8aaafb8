package values

import (
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/workload"
)

// Flavours of PadoGrid's perf_test, which read some things in a file differently.
const (
	FlavourRedis     = "redis"
	FlavourCoherence = "coherence"
)

// flavour is the name of the parameter.
const flavour = "flavour"

// FlavourParam returns the parameter for the flavour for which a file was written.
func FlavourParam() workload.Param {
	return workload.Param{
		Name: flavour, Kind: workload.Choice, Choices: []string{"auto", FlavourRedis, FlavourCoherence}, Default: "auto",
		Help: "which PadoGrid the properties file was written for; auto: by its keys for logging and its classes, or by the store",
	}
}

// Status declares how often PadoGrid reports progress, which is kept only for the
// record.
func (f *Fields) Status(help string) {
	f.add(integer("printStatusIntervalInSec", 1000, 0, math.MaxInt32, "s", help), func(r *Reader, p workload.Param) { r.Whole(p) })
}

// ResultsDir declares where PadoGrid writes its results, which is kept only for the
// record.
func (f *Fields) ResultsDir(help string) {
	f.add(workload.Param{Name: "results.dir", Kind: workload.Text, Help: help}, func(r *Reader, p workload.Param) {
		if dir := r.Text(p); dir != "" {
			r.Warn("results.dir=%s has no effect: --out says where documents go", dir)
		}
	})
}

// signs are what reveals a flavour: its logging key, and the prefix of its classes.
var signs = []struct{ flavour, logging, class string }{
	{FlavourCoherence, "coherence", "org.oracle.coherence."},
	{FlavourRedis, "redis", "org.redis"},
}

// signOf returns the flavour revealed by a line of a properties file, or "".
func signOf(key, text string) string {
	for _, s := range signs {
		switch {
		case strings.HasSuffix(key, ".logging.type") && strings.HasPrefix(key, s.logging),
			strings.HasSuffix(key, "factory.class") && strings.HasPrefix(strings.TrimSpace(text), s.class):
			return s.flavour
		}
	}
	return ""
}

// Flavour reads and shows the flavour for which the properties file was written. If the
// file does not reveal it, a store of the given driver decides whether it is
// Coherence's.
func (r *Reader) Flavour(driver string) string {
	p := FlavourParam()
	v := r.Pick(p, flavour)
	word, err := v.Choice(p.Choices...)
	r.Problems.Add(err)
	if word == "auto" {
		word = FlavourRedis
		if driver == FlavourCoherence && r.Original() {
			word = FlavourCoherence
		}
	}
	r.Show(flavour, word, v)
	r.flavour = word
	return word
}

// Trims reports whether PadoGrid drops blanks around a value of a properties file: the
// Coherence flavour does so for some.
func (r *Reader) Trims(v workload.Value) bool {
	if r.flavour != FlavourCoherence || !FromProperties(v) || strings.HasSuffix(v.Name, ".factory.key.prefix") {
		return false
	}
	for _, key := range []string{".ref", ".map", ".testCase", ".key.prefix", ".factory.class"} {
		if strings.HasSuffix(v.Name, key) {
			return true
		}
	}
	return false
}

// Original reports whether anything was read from a properties file.
func (r *Reader) Original() bool {
	for _, v := range r.Values {
		if FromProperties(v) {
			return true
		}
	}
	return false
}
