package report

import (
	_ "embed" // for the documentation

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
)

//go:embed plan.md
var planDoc string

// PlanName is the name of the file with the plan of a run.
const PlanName = "plan.yaml"

var planFormat = rundir.Format{
	ID: "plan", Title: "a plan file that does the run again", Doc: planDoc, Names: []string{PlanName},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		comment := "What led to run " + Plain(f.Run.ID) + "; perfbench run FILE does it again."
		if f.Run.Searched() {
			comment += "\nWhat the search set is left out: add find: to search again."
		}
		return one(PlanName, request.Write(comment, &request.File{Runs: []request.Run{{Request: repeated(&f.Run)}}})), nil
	},
}
