package report

import "github.com/perfbench/perfbench/internal/rundir"

// What the tests of the document use, whose facts come from a package that imports this one.
const (
	ReportFile   = reportFile
	SchemaFile   = schemaFile
	ExampleGiven = exampleGiven
)

var (
	Encode     = encodeReport
	CheckFacts = checkFacts
	Three      = three
)

// Binds says what kept a step of a run from storing more.
func Binds(run *rundir.Run, f *Facts, s *Step) string { return binds(&source{run: run, f: f}, s) }
