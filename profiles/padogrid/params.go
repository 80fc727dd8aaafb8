package padogrid

import (
	"strconv"

	"github.com/perfbench/perfbench/internal/workload"
)

// MaxEntries is the greatest number of entries of a map: above what any store holds, and
// keys stay in range.
const MaxEntries = 1_000_000_000_000

// MapNames is the parameter that names the maps of a test, with help of the test's own,
// like those below.
func MapNames(help string) workload.Param {
	return workload.Param{Name: "mapNames", Kind: workload.List, Default: Eligibility, Help: help}
}

// TotalEntryCount is how much is done on a map.
func TotalEntryCount(help string) workload.Param {
	return workload.Param{Name: "totalEntryCount", Alias: "count", Kind: workload.Integer, Default: "100000", Unit: "entries", Min: 1, Max: MaxEntries, Track: true, Help: help}
}

// ThreadCount is the number of threads of a map.
func ThreadCount(help string) workload.Param {
	return workload.Param{
		Name: "threadCount", Alias: "threads", Kind: workload.Integer, Default: strconv.Itoa(Threads()), Unit: "threads", Min: 1, Max: workload.MaxThreads, Track: true, Help: help,
	}
}

// PayloadSize is the size of the values of a map.
func PayloadSize(help string) workload.Param {
	return workload.Param{Name: "payloadSize", Alias: "payload", Kind: workload.Size, Default: "1024", Unit: "bytes", Min: 0, Max: workload.MaxPayload, Track: true, Help: help}
}

// BatchSize is the number of entries of one call that has several.
func BatchSize(help string) workload.Param {
	return workload.Param{Name: "batchSize", Alias: "batch", Kind: workload.Integer, Default: "1000", Unit: "entries", Min: 1, Max: workload.MaxBatch, Track: true, Help: help}
}

// Prefix is what group numbers begin with.
func Prefix(help string) workload.Param {
	return workload.Param{Name: "prefix", Kind: workload.Text, Default: "x", Help: help}
}

// Compat turns the quirks of the original on.
func Compat(help string) workload.Param {
	return workload.Param{Name: "compat", Kind: workload.Switch, Default: "off", Help: help}
}
