package baseline

import (
	"github.com/perfbench/perfbench/internal/workload"
)

const (
	maxCount = 1e15
	// mostKey and mostValue are the longest key and value of a row.
	mostKey, mostValue = 64, 1 << 20
)

// Params are the parameters of mode=baseline that other modes do not have.
func Params() []workload.Param {
	return []workload.Param{
		{Name: "rows", Kind: workload.List, Default: "all", Help: "baseline: rows to measure: all, or some of set, set-remote, eval-literal, eval-args, set-p50, eval-loop10, …"},
		{
			Name: "edition", Kind: workload.Choice, Choices: []string{editionReport, editionScript}, Default: editionReport,
			Help: "baseline: whose lengths of keys and values the rows have: those of dtm's published report, or of the script of its benchmark",
		},
		{
			Name: "keyLength", Kind: workload.Integer, Default: "0", Unit: "bytes", Min: 0, Max: mostKey, Track: true,
			Help: "baseline: length of a row's key, behind what the namespace puts before it; 0: as published",
		},
		{
			Name: "valueLength", Kind: workload.Size, Default: "0", Unit: "bytes", Min: 0, Max: mostValue, Track: true,
			Help: "baseline: length of a row's value; 0: as published",
		},
		{
			Name: "requests", Kind: workload.Integer, Default: "20000", Unit: "calls", Min: 1, Max: maxCount, Track: true,
			Help: "baseline: calls of each row without --duration",
		},
		{Name: "ceiling", Kind: workload.Switch, Default: "on", Help: "baseline: run sagas without accounts too, and work out how fast they could be"},
	}
}
