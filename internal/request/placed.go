package request

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// Placed returns err with the file and line of the plan that each of its parts comes from ahead of
// it, FILE:LINE: TEXT, as what is wrong with the file itself begins, and with advice in the words
// of a plan in place of flags. What no plan has said is left alone; a nil err stays nil.
func (r Run) Placed(err error) error {
	var problems workload.Problems
	for _, part := range fault.Parts(err) {
		problems.Add(r.placed(part))
	}
	return problems.Err()
}

// placed does it for an error about one input.
func (r Run) placed(err error) error {
	text := err.Error()
	from := r.origin(fault.FieldOf(err), text)
	for _, list := range []struct{ flag, key string }{{wordOver, wordSweep + "." + wordOver}, {"against-set", "against-set"}} {
		// A name in a list of a plan is looked up as if the list were a flag's.
		flag, in := "("+workload.OriginFlag.String()+" --"+list.flag+")", r.Request.From[list.key]
		if in != "" && strings.Contains(text, flag) {
			return fault.Hint(ahead(fault.Sentence(strings.ReplaceAll(text, flag, "("+in+")"), err)), ofPlan(fault.HintOf(err)))
		}
	}
	if from == "" {
		return ahead(err)
	}
	plan, hint := workload.OriginPlan.String()+" ", ofPlan(fault.HintOf(err))
	if !strings.Contains(text, "("+plan) && !strings.Contains(text, strings.TrimPrefix(from, plan)) {
		err = fmt.Errorf("%w (%s)", err, from)
	}
	return fault.Hint(ahead(err), hint)
}

// inPlan is a place in a plan as origins are written, beginsAt one that a text begins with, with its line.
var (
	inPlan   = regexp.MustCompile(` ?\(` + workload.OriginPlan.String() + ` ([^()]+:\d+)\)`)
	beginsAt = regexp.MustCompile(`^(?:\S+\.(?i:ya?ml)|-):(\d+)(?::\d+)?: `)
)

// ahead puts the first place in a plan that each part of an error names within its text ahead of the
// text; a nil err stays nil.
func ahead(err error) error {
	var problems workload.Problems
	for _, part := range fault.Parts(err) {
		text := part.Error()
		if at := inPlan.FindStringSubmatchIndex(text); at != nil && !beginsAt.MatchString(text) {
			part = fault.Sentence(text[at[2]:at[3]]+": "+text[:at[0]]+text[at[1]:], part)
		}
		problems.Add(part)
	}
	return problems.Err()
}

// ByLine returns err with its parts in the order of the lines of a plan that they begin with; those that
// are about none are last. A nil err stays nil.
func ByLine(err error) error {
	parts := fault.Parts(err)
	if len(parts) < 2 {
		return err
	}
	line := func(e error) int {
		if m := beginsAt.FindStringSubmatch(e.Error()); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				return n
			}
		}
		return math.MaxInt
	}
	slices.SortStableFunc(parts, func(a, b error) int { return cmp.Compare(line(a), line(b)) })
	var problems workload.Problems
	for _, part := range parts {
		problems.Add(part)
	}
	return problems.Err()
}

// Named puts the names of runs of a plan before what an error says, behind the place in the plan that
// it begins with.
func Named(runs string, err error) error {
	text := err.Error()
	place := beginsAt.FindString(text)
	return fault.Sentence(place+runs+": "+text[len(place):], err)
}

// origin is where the plan gives an input that a text is about, "" if it does not.
func (r Run) origin(field, text string) string {
	names := []string{field}
	switch {
	case r.Find != nil && r.flagOfSearch(field):
		return ""
	case r.Find != nil:
		names = []string{wordFind + "." + field, field, wordFind}
	case r.Sweep != nil:
		names = []string{wordSweep + "." + field, field}
	}
	for _, name := range names {
		if from := r.Request.Source(name, text); strings.HasPrefix(from, workload.OriginPlan.String()+" ") {
			return from
		}
		if v, ok := r.Request.Values[name]; ok && v.Origin == workload.OriginPlan {
			return v.From()
		}
	}
	return ""
}

// itemOf names an item of a list among the sources of a request.
func itemOf(list, item string) string { return list + " " + item }

// forget removes where an input and its items came from.
func forget(from map[string]string, name string) {
	delete(from, name)
	maps.DeleteFunc(from, func(key, _ string) bool { return strings.HasPrefix(key, itemOf(name, "")) })
}

// Source is where an input came from that a text is about, "" if it was a flag: of a list, it is that
// of the item that the text quotes.
func (r Request) Source(name, text string) string {
	found, most := r.From[name], 0
	for key, from := range r.From {
		item, is := strings.CutPrefix(key, itemOf(name, ""))
		if at := strings.Index(text, strconv.Quote(item)); is && at >= 0 && (most == 0 || at < most) {
			found, most = from, at+1
		}
	}
	return found
}

// asFlag is a flag in advice.
var asFlag = regexp.MustCompile(`--([a-z][a-z-]*)`)

// ofPlan writes advice about flags as it holds for a plan, whose keys have the same names.
func ofPlan(hint string) string {
	if strings.Contains(hint, "perfbench run") {
		return hint // a command line
	}
	return asFlag.ReplaceAllStringFunc(hint, func(flag string) string {
		if f, ok := FieldNamed(strings.TrimPrefix(flag, "--")); ok && !f.terminal {
			return f.Name + ":"
		}
		return flag
	})
}
