package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// Report prints an error to stderr: one line for each problem, its hint below it.
func (a *Call) Report(err error) {
	said := map[problem]bool{}
	for _, p := range flatten(err, "") {
		if said[p] {
			continue
		}
		said[p] = true
		if a.Told != "" && strings.HasPrefix(p.text, session.VerificationFailed+": ") { // the summary has it
			p = problem{session.VerificationFailed, "perfbench report " + a.Told + " --format text --out -  shows all of it"}
		}
		fmt.Fprintln(a.Stderr, "perfbench: "+strings.ReplaceAll(Printable(p.text), "\n", "\n  "))
		if p.hint != "" {
			fmt.Fprintln(a.Stderr, "  "+strings.ReplaceAll(Printable(p.hint), "\n", "\n  "))
		}
	}
}

type problem struct{ text, hint string }

// flatten takes joined errors apart.
func flatten(err error, hint string) []problem {
	if err == nil {
		return nil
	}
	if h := fault.HintOf(err); h != "" && hint == "" {
		hint = h
	}
	for e := err; e != nil && e.Error() == err.Error(); e = errors.Unwrap(e) {
		many, ok := e.(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		var out []problem
		for _, one := range many.Unwrap() {
			out = append(out, flatten(one, fault.HintOf(one))...)
		}
		return out
	}
	if limit := fault.LimitHint(err, self.FileLimit()); limit != "" {
		hint = limit // whatever a driver took it for
	}
	return []problem{{err.Error(), hint}}
}
