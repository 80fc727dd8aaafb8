package report

import (
	_ "embed" // for the documentation

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed baseline.md
var baselineDoc string

var baselineFormat = rundir.Format{
	ID: "baseline", Title: "what compare needs of runs, small enough to commit", Doc: baselineDoc, Names: []string{"baseline.json"},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) { return baselineOf([]*rundir.Folder{f}) },
	Join:   baselineOf,
}

func baselineOf(fs []*rundir.Folder) ([]rundir.File, error) {
	runs := make([]*compare.Run, len(fs))
	for i, f := range fs {
		r, err := compare.Of(f)
		if err != nil {
			return nil, err
		}
		runs[i] = r
	}
	data, err := compare.Baseline(runs)
	return one("baseline.json", data), err
}
