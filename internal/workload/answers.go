package workload

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
)

// Answers is what came of comparing the answers to a replay with those of an earlier one, as it
// stands in run.json. It is a value.
type Answers struct {
	// Server is the one that gave the earlier answers.
	Server string `json:"server"`
	// Compared is how many answers were compared, of which Kinds only by their kind: a value,
	// nothing, an error. Differ is how many were not the same.
	Compared int64 `json:"compared"`
	Kinds    int64 `json:"compared_by_kind"`
	Differ   int64 `json:"differ"`
	// NewErrors and GoneErrors are those of Differ that are an error now, and that were one.
	NewErrors  int64 `json:"new_errors"`
	GoneErrors int64 `json:"gone_errors"`
	// Commands are those whose answers differ, most first.
	Commands []AnswersTo `json:"commands,omitempty"`
	// Examples are sentences about the first that differ.
	Examples []string `json:"examples,omitempty"`
}

// AnswersTo are the answers to one command.
type AnswersTo struct {
	Command  string `json:"command"`
	Compared int64  `json:"compared"`
	Differ   int64  `json:"differ"`
}

// Check shows examples in the verification. Answers that differ are no failure: a new version may
// well give others, and its figures count. A threshold makes one of them.
func (a *Answers) Check() Check {
	return Check{
		Name: "answers", OK: true, Of: a.Compared, Want: "those of " + a.Server, Got: fmt.Sprintf("%d differ", a.Differ), Examples: a.Examples,
	}
}

// Words says what was found.
func (a *Answers) Words() string {
	if a.Differ == 0 {
		return fmt.Sprintf("all %s are those of %s", units.Plural(a.Compared, "answer"), a.Server)
	}
	var by []string
	for _, c := range a.Commands[:min(len(a.Commands), 3)] {
		by = append(by, fmt.Sprintf("%s %d", c.Command, c.Differ))
	}
	return fmt.Sprintf("%d of %s differ from those of %s (%s)", a.Differ, units.Plural(a.Compared, "answer"), a.Server, strings.Join(by, ", "))
}

// Details says how the answers were compared, and what became of errors.
func (a *Answers) Details() []string {
	var out []string
	if a.Kinds > 0 {
		out = append(out, fmt.Sprintf("Of %d only the kind was compared (a value, nothing, an error), since time, chance or the order of calls has a hand in them.", a.Kinds))
	}
	if a.NewErrors+a.GoneErrors > 0 {
		out = append(out, fmt.Sprintf("New errors: %d; errors that are gone: %d.", a.NewErrors, a.GoneErrors))
	}
	return out
}
