package report

import (
	_ "embed" // for the documentation
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

//go:embed answers.md
var answersDoc string

// AnswersFormat is the page of the answers to a replay, a document of profile mix.
var AnswersFormat = rundir.Format{
	ID: "answers", Title: "the answers to a replay that differ from earlier ones, as a page", Profile: "mix", Doc: answersDoc, Names: []string{"answers.html"},
	Encode: func(f *rundir.Folder) ([]rundir.File, error) {
		a := AnswersOf(&f.Run)
		if a == nil {
			return nil, fault.Input(fmt.Errorf("run %s compared no answers", f.Run.ID), "a replay with --expect-answers FILE does")
		}
		return one("answers.html", []byte(answersPage(&f.Run, a).HTML())), nil
	},
}

// AnswersOf returns what a run says of answers that it compared; nil if it compared none. It
// may be called from any goroutine.
func AnswersOf(r *rundir.Run) *workload.Answers {
	var facts struct {
		Replay struct {
			Answers *workload.Answers `json:"answers"`
		} `json:"replay"`
	}
	if ok, err := r.DecodeFacts(&facts); !ok || err != nil {
		return nil // of another profile
	}
	return facts.Replay.Answers
}

// answersByCommand has a row for each command with answers that differ.
func answersByCommand(a *workload.Answers) Table {
	t := Table{Left: 1, Columns: []string{"command", "compared", "differ", "share"}}
	for _, c := range a.Commands {
		t.Add(c.Command, Whole(c.Compared), Whole(c.Differ), units.PartOf(c.Differ, c.Compared))
	}
	return t
}

// answers shows which differ; a run that compared none has no such section.
func answers(a *workload.Answers) Section {
	if a == nil {
		return Section{}
	}
	s := Section{Heading: "Answers", Weight: Answer, Text: append([]string{"Compared: " + a.Words() + "."}, a.Details()...), Table: answersByCommand(a)}
	if len(a.Examples) > 0 {
		s.Parts = append(s.Parts, Section{Heading: "The first that differ", Text: a.Examples})
	}
	return s
}

func answersPage(r *rundir.Run, a *workload.Answers) Page {
	tone := Good
	if a.Differ > 0 {
		tone = Bad
	}
	p := Page{
		Title: "answers of " + StoreName(r.Store) + " beside those of " + a.Server,
		Figures: []Figure{
			{Name: "compared", Value: Whole(a.Compared)}, {Name: "differ", Value: Whole(a.Differ), Tone: tone},
			{Name: "new errors", Value: Whole(a.NewErrors)}, {Name: "errors gone", Value: Whole(a.GoneErrors)}, {Name: "compared by kind", Value: Whole(a.Kinds)},
		},
		Lead: []string{fmt.Sprintf("Run %s, started %s.", r.ID, r.Started.Format("2006-01-02 15:04:05 MST"))},
	}
	p.Add(answers(a), again(r))
	return p
}
