package kept

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

// Class is how a verdict is marked.
type Class int

// The classes: nothing is wrong, something casts doubt, figures or data or a threshold are not
// met, and still going or not yet complete.
const (
	Good Class = iota
	Doubtful
	Bad
	Going
)

// The words that items are filtered by, beside their verdict.
const (
	Failed      = "failed"
	Missed      = "missed"
	Interrupted = "interrupted"
	CutShort    = "cut-short"
	Unfinished  = "unfinished"
	Running     = "running"
)

// Words are all words that Item.Is knows, each with what it says.
var Words = [][2]string{
	{"valid", "nothing casts doubt on its figures"},
	{"degraded", "something casts doubt on its figures"},
	{"invalid", "its figures are not to be used"},
	{Failed, "its verification failed or could not be done, it missed a threshold, a fault ended it, or more of its calls failed than a verdict allows"},
	{Missed, "it missed a threshold"},
	{Interrupted, "somebody interrupted it"},
	{CutShort, "its process died"},
	{Unfinished, "a sweep or a search that did not come to its end"},
	{Running, "it is still going"},
}

// faulted reports whether a fault ended a run early, or kept it from starting.
func faulted(r *rundir.Run) bool { return strings.HasPrefix(r.EndedBy, "fault: ") }

// State is its verdict; of a sweep or a group, the worst verdict of its runs. A crash that a
// sweep makes is no doubt about the figures before it.
func (i *Item) State() string {
	switch {
	case i.Sweep != nil:
		worst := verdict.Valid
		for _, d := range i.Sweep.Result.Runs {
			if i.Sweep.Doubtful(d) {
				worst = worse(worst, d.Verdict)
			}
		}
		return worst
	case i.Group != nil:
		worst := verdict.Valid
		for _, c := range i.Group.runs {
			worst = worse(worst, c.State)
		}
		return worst
	}
	return i.Run.Verdict.State
}

// worse returns the worse of two verdicts; one that nobody knows is a doubt.
func worse(a, b string) string {
	switch {
	case a == verdict.Invalid || b == verdict.Invalid:
		return verdict.Invalid
	case a == verdict.Valid && b == verdict.Valid:
		return verdict.Valid
	}
	return verdict.Degraded
}

// doubtful counts the runs of a sweep or a group whose verdict is not VALID.
func (i *Item) doubtful() (n, of int) {
	switch {
	case i.Sweep != nil:
		for _, d := range i.Sweep.Result.Runs {
			if i.Sweep.Doubtful(d) {
				n++
			}
		}
		return n, len(i.Sweep.Result.Runs)
	case i.Group != nil:
		for _, c := range i.Group.runs {
			if c.State != verdict.Valid {
				n++
			}
		}
	}
	return n, len(i.Group.runs)
}

// Missed returns the thresholds that were missed, each once; of a sweep or a group, those of the
// runs that are still kept.
func (i *Item) Missed() (out []string) {
	runs := i.Of
	if i.Run != nil {
		runs = []*rundir.Run{i.Run}
	}
	for _, r := range runs {
		for _, t := range r.Verdict.Missed() {
			if !slices.Contains(out, t.Expr) {
				out = append(out, t.Expr)
			}
		}
	}
	return out
}

// any reports whether something is true of the run, or of one of its runs; those of a sweep that makes its
// servers crash fail on purpose.
func (i *Item) any(is func(*rundir.Run) bool) bool {
	switch {
	case i.Run != nil:
		return is(i.Run)
	case i.Sweep != nil && i.Sweep.Crash != "":
		return false
	}
	return slices.ContainsFunc(i.Of, is)
}

// failed reports whether a verification failed, and unverified whether one could not be done.
func (i *Item) failed() bool     { return i.any((*rundir.Run).Failed) }
func (i *Item) unverified() bool { return i.any((*rundir.Run).Unverified) }

// Is reports whether a word of Words is true of the item.
func (i *Item) Is(word string) bool {
	switch word {
	case "valid", "degraded", "invalid":
		return i.Class() != Going && strings.EqualFold(i.State(), word)
	case Failed:
		return i.failed() || i.unverified() || len(i.Missed()) > 0 || i.Run != nil && (faulted(i.Run) || slices.Contains(i.Run.Verdict.Causes, string(verdict.Errors)))
	case Missed:
		return len(i.Missed()) > 0
	case Unfinished:
		return i.Sweep != nil && !i.Sweep.Complete() || i.Run != nil && i.Run.Sought != nil && !i.Run.Sought.Complete
	}
	if i.Run == nil {
		return false
	}
	switch word {
	case Interrupted:
		return i.Run.EndedBy == "interrupt"
	case CutShort:
		return i.Run.EndedBy == rundir.CutShort
	case Running:
		return i.Run.EndedBy == rundir.StillRunning
	}
	return false
}

// Class returns how its verdict is marked.
func (i *Item) Class() Class {
	switch state := i.State(); {
	case i.Run != nil && i.Run.EndedBy == rundir.StillRunning:
		return Going
	case state == verdict.Invalid || len(i.Missed()) > 0 || i.failed() || i.unverified():
		return Bad
	case i.Sweep != nil && !i.Sweep.Complete():
		return Going
	case state != verdict.Valid:
		return Doubtful
	}
	return Good
}

// notVerified follows a verdict where nobody knows whether the data of a run are right.
const notVerified = " · not verified"

// ofSweep is said of a run under way that is one of a sweep.
const ofSweep = ", in a sweep"

// JudgedBriefly is Judged where there is little room: the verdict, and in a word what else must be known at once.
func (i *Item) JudgedBriefly() string {
	switch text := i.Judged(); {
	case i.failed():
		return i.State() + " · verification"
	case i.Is(Missed):
		return i.State() + " · missed"
	case i.unverified():
		return i.State() + notVerified
	case i.Run != nil && faulted(i.Run):
		return i.State() + " · fault"
	case i.Is(CutShort), i.Is(Running):
		return text
	case strings.Contains(text, " · "):
		return i.State()
	default:
		return text
	}
}

// Because gives what Judged or JudgedBriefly said of a run its first cause, unless that said something else
// beside the verdict.
func (i *Item) Because(judged string) string {
	if i.Run == nil || judged != i.State() {
		return judged
	}
	return i.Run.Verdict.Because()
}

// Judged returns its verdict in a few words, and what else must be known at once.
func (i *Item) Judged() string {
	if i.Run != nil && i.Run.EndedBy == rundir.StillRunning {
		if i.Run.Of == rundir.OfSweep {
			return rundir.StillRunning + ofSweep
		}
		return rundir.StillRunning
	}
	text := i.State()
	if i.Run == nil {
		if n, of := i.doubtful(); n > 0 {
			text += fmt.Sprintf(" · %d of %d runs", n, of)
		}
	}
	switch {
	case i.failed():
		text += " · verification failed"
	case len(i.Missed()) > 0:
		text += " · threshold missed"
	case i.unverified():
		text += notVerified
	case i.Sweep != nil && !i.Sweep.Complete():
		text += fmt.Sprintf(" · %d of %d done", len(i.Sweep.Result.Runs), i.Sweep.All())
	case i.Run == nil:
	case faulted(i.Run):
		text += " · ended by a fault"
	case i.Run.EndedBy == rundir.CutShort:
		text += " · cut short"
	case i.Run.EndedBy == "interrupt":
		text += " · interrupted"
	}
	return text
}
