package baseline

import (
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
)

const (
	maxCount = 1e15
	// mostKey and mostValue are the longest key and value of a row.
	mostKey, mostValue = 64, 1 << 20
)

// The parameters that are not read into a field of the plan: those of a row are read
// for each row.
var (
	rowNames  = workload.Param{Name: "rows", Kind: workload.List, Default: "all", Help: "baseline: rows to measure: all, or some of set, set-remote, eval-literal, eval-args, set-p50, eval-loop10, …"}
	keyLength = workload.Param{
		Name: "keyLength", Kind: workload.Integer, Default: "0", Unit: "bytes", Min: 0, Max: mostKey, Track: true,
		Help: "baseline: length of a row's key, without the prefix of the namespace; 0: as published",
	}
	valueLength = workload.Param{
		Name: "valueLength", Kind: workload.Size, Default: "0", Unit: "bytes", Min: 0, Max: mostValue, Track: true,
		Help: "baseline: length of a row's value; 0: as published",
	}
	requests = workload.Param{
		Name: "requests", Kind: workload.Integer, Default: "20000", Unit: "calls", Min: 1, Max: maxCount, Track: true,
		Help: "baseline: calls of each row without --duration",
	}
)

// parameters holds the values of the mode's parameters.
type parameters struct {
	rows     []Primitive
	edition  string
	requests int64
	ceiling  bool
}

// Params returns the parameters of mode=baseline that other modes do not have.
func Params() []workload.Param { return new(parameters).declare().Params() }

// declare declares the parameters, and the fields into which they are read.
func (g *parameters) declare() *values.Fields {
	p := &values.Fields{}
	p.Own(rowNames, func(r *values.Reader, _ workload.Param) { g.rows = chosenRows(r) })
	p.Choice(&g.edition, "edition", editionReport, []string{editionReport, editionScript},
		"baseline: where the lengths of keys and values are from: dtm's published report, or the script of its benchmark")
	p.Own(keyLength, nil)
	p.Own(valueLength, nil)
	p.Own(requests, func(r *values.Reader, q workload.Param) { g.requests = common.Count(r, q) })
	p.Switch(&g.ceiling, "ceiling", true, "baseline: run sagas without accounts too, and work out how fast they could be")
	return p
}
