package report

import (
	"bytes"
	_ "embed" // for the documentation
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed json.md
var jsonDoc string

var jsonFormat = rundir.Format{
	ID: "json", Title: "everything but series and histograms, for programs", Doc: jsonDoc, Names: []string{rundir.RunFile},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		data, err := rundir.EncodeRun(&f.Run)
		return one(rundir.RunFile, data), err
	},
}

//go:embed csv.md
var csvDoc string

var csvFormat = rundir.Format{
	ID: "csv", Title: "the run second by second", Doc: csvDoc, Names: []string{rundir.SeriesFile},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		return one(rundir.SeriesFile, rundir.SeriesCSV(f.Series)), nil
	},
}

//go:embed store.md
var storeDoc string

var storeFormat = rundir.Format{
	ID: "store", Title: "store, processes and machine, second by second", Doc: storeDoc, Names: []string{rundir.SamplesFile},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		if len(f.Samples) == 0 {
			return nil, nil
		}
		return one(rundir.SamplesFile, rundir.SamplesCSV(f.Samples)), nil
	},
}

//go:embed hlog.md
var hlogDoc string

var hlogFormat = rundir.Format{
	ID: "hlog", Title: "HdrHistogram log: every histogram, second by second", Doc: hlogDoc, Names: []string{rundir.HlogFile},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		data, err := f.Hlog()
		return one(rundir.HlogFile, data), err
	},
}

//go:embed hgrm.md
var hgrmDoc string

// hgrmFormat has the resolution of the usual tool: five steps per halving of the
// distance to 100 %, with values in milliseconds.
var hgrmFormat = rundir.Format{
	ID: "hgrm", Title: "HdrHistogram percentile distributions, to plot", Doc: hgrmDoc, Names: []string{"*.hgrm"},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		var files []rundir.File
		taken := map[string]bool{}
		for _, tag := range slices.Sorted(maps.Keys(f.Histograms)) {
			var b bytes.Buffer
			if _, err := f.Histograms[tag].PercentilesPrint(&b, 5, 1e6); err != nil {
				return nil, err
			}
			name := fileName(tag)
			for n := 2; taken[name]; n++ {
				name = fmt.Sprintf("%s-%d", fileName(tag), n)
			}
			taken[name] = true
			files = append(files, rundir.File{Name: name + ".hgrm", Data: b.Bytes()})
		}
		return files, nil
	},
}

// fileName turns a tag into a valid file name for any system.
func fileName(tag string) string {
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, tag), ".")
}

func one(name string, data []byte) []rundir.File { return []rundir.File{{Name: name, Data: data}} }
