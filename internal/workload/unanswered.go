package workload

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
)

// Unanswered are writes that were sent and whose callers were never told what became of them: what a
// store may have carried out or not. A write is what the profile reads back: a record, an element, a
// transaction, an event.
type Unanswered struct {
	Writes int64 `json:"writes"`
	// Stored of them were found when everything was read back, Absent were not, and of Undecided
	// reading back cannot tell.
	Stored    int64 `json:"stored"`
	Absent    int64 `json:"absent"`
	Undecided int64 `json:"undecided"`
}

// Unsure adds writes without an answer, of which reading back has found so many stored and so many
// absent; 0 writes say that there were none.
func (v *Verification) Unsure(writes, stored, absent int64) {
	if v.Unanswered == nil {
		v.Unanswered = &Unanswered{}
	}
	u := v.Unanswered
	writes = max(writes, 0)
	stored = min(max(stored, 0), writes)
	absent = min(max(absent, 0), writes-stored)
	u.Writes, u.Stored, u.Absent = u.Writes+writes, u.Stored+stored, u.Absent+absent
	u.Undecided += writes - stored - absent
}

// Words says what became of the writes; empty if there were none.
func (u *Unanswered) Words() string {
	if u == nil || u.Writes == 0 {
		return ""
	}
	had := units.Plural(u.Writes, "write") + " had no answer"
	if u.Undecided == u.Writes {
		return had + ", and whether " + units.Choose(u.Writes, "it is", "they are") + " stored cannot be told"
	}
	var parts []string
	if u.Stored > 0 {
		parts = append(parts, fmt.Sprintf("%d %s stored", u.Stored, units.Choose(u.Stored, "is", "are")))
	}
	if u.Absent > 0 {
		parts = append(parts, fmt.Sprintf("%d %s not", u.Absent, units.Choose(u.Absent, "is", "are")))
	}
	if u.Undecided > 0 {
		parts = append(parts, fmt.Sprintf("of %d it cannot be told", u.Undecided))
	}
	return had + ": " + strings.Join(parts, ", ")
}
