package report

import (
	_ "embed" // for the documentation
	"slices"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed plan.md
var planDoc string

// PlanName is the name of the file with the plan of a run.
const PlanName = "plan.yaml"

// PlanOf returns a plan file that does a run again or, of several, one after the other, in the order in
// which they began. Each of these has what a plan of its own would have.
func PlanOf(runs []*rundir.Folder) []byte {
	if len(runs) == 1 {
		run := &runs[0].Run
		comment := "What led to run " + Plain(run.ID) + "; perfbench run FILE does it again."
		if run.Searched() {
			comment += "\nWhat the search set is left out: add find: to search again."
		}
		return request.Write(comment, &request.File{Runs: []request.Run{{Request: repeated(run)}}})
	}
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b *rundir.Folder) int { return a.Run.Started.Compare(b.Run.Started) })
	file := &request.File{Suite: true}
	for _, f := range runs {
		file.Runs = append(file.Runs, request.Run{Name: f.Run.Name, Request: repeated(&f.Run)})
	}
	return request.Write("What led to "+Several(len(runs), "run")+"; perfbench run FILE does them again.", file)
}

var planFormat = rundir.Format{
	ID: "plan", Title: "a plan file that does the run again", Doc: planDoc, Names: []string{PlanName},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		return one(PlanName, PlanOf([]*rundir.Folder{f})), nil
	},
}
