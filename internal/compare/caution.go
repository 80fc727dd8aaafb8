package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// refusals returns the reasons why two sets cannot be compared, one sentence each.
func refusals(a, b Set) []string {
	x, y := &a.Runs[0].Conditions, &b.Runs[0].Conditions
	var out []string
	differ := func(differ bool, format string, args ...any) {
		if differ {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	differ(x.Profile != y.Profile, "A is a run of %s and B of %s", x.Profile, y.Profile)
	differ(x.Unit != y.Unit, "A counts %s and B %s", x.Unit, y.Unit)
	differ(x.Store.Name != y.Store.Name, "A ran on %s and B on %s", x.Store.Name, y.Store.Name)
	differ(arrivals(x) != "" && arrivals(y) != "" && arrivals(x) != arrivals(y), "A has arrivals %s and B %s", arrivals(x), arrivals(y))
	if p, q, ok := payloads(x, y); ok {
		differ(true, "A has values of %s and B of %s", p, q)
	} else {
		less, more := float64(min(x.DataBytes, y.DataBytes)), float64(max(x.DataBytes, y.DataBytes))
		differ(less > 0 && more > (1+alikeData)*less,
			"A stores %s of data and B %s", units.Size(x.DataBytes), units.Size(y.DataBytes))
	}
	return slices.Concat(out, repeats("A", a), repeats("B", b), failures("A", a), failures("B", b))
}

// alikeData is up to which part two stores may differ in size and be compared all the same.
const alikeData = 0.02

// arrivals returns how the calls of a run were spread, if they came at a rate: evenly, in runs
// from before there was a choice; "" if they did not come at a rate, as far as is known.
func arrivals(c *Conditions) string {
	how := c.Parameters[workload.ComingKnob]
	for name, v := range c.Settings {
		if _, base := rundir.TrackOf(name); base == "rate" && v > 0 {
			return cmp.Or(how, workload.Even)
		}
	}
	if c.Changes > 0 { // a rate may have been set as it went
		return how
	}
	return ""
}

// payloads returns the value sizes in which two runs differ, of all tracks that have others.
func payloads(a, b *Conditions) (x, y string, differ bool) {
	if a.Profile != b.Profile {
		return "", "", false
	}
	var xs, ys []string
	for _, d := range Differences(a, b) {
		if _, base := rundir.TrackOf(d.Name); base != "payload" {
			continue
		}
		if !slices.Contains(xs, d.A) {
			xs = append(xs, d.A)
		}
		if !slices.Contains(ys, d.B) {
			ys = append(ys, d.B)
		}
	}
	return units.Listed(xs), units.Listed(ys), len(xs) > 0
}

// byNature are differences that repeats of a run may have.
var byNature = []string{"seed", "version", "host"}

// repeats says which runs of a set are not repeats of its first.
func repeats(name string, s Set) []string {
	for _, r := range s.Runs[1:] {
		diffs := slices.DeleteFunc(Differences(&s.Runs[0].Conditions, &r.Conditions), func(d Difference) bool {
			return slices.Contains(byNature, d.Name)
		})
		if len(diffs) > 0 {
			return []string{fmt.Sprintf("the runs of %s are not repeats of the same run: %s and %s differ in %s",
				name, s.Runs[0].Conditions.ID, r.Conditions.ID, units.Listed(shortened(causes(diffs))))}
		}
	}
	return nil
}

// shortened cuts a long list.
func shortened(names []string) []string {
	if n := len(names); n > 6 {
		return append(names[:5:5], fmt.Sprintf("%d more", n-5))
	}
	return names
}

// cautions says what keeps a comparison from being fair, one clause each.
func cautions(a, b Set, diffs []Difference) []string {
	other := otherLoad(a, b) != "" // which the answer says
	levels := searched(a, b) != "" || other
	words := append(doubts("A", a, levels), doubts("B", b, levels)...)
	if names := causes(diffs); len(names) > 1 && !other {
		words = append(words, "A and B differ in "+units.Listed(shortened(names))+": the change has more than one cause")
	}
	return words
}

// failures says how many runs of a side failed verification, which makes figures
// meaningless.
func failures(name string, s Set) []string {
	n := 0
	for _, r := range s.Runs {
		if r.Conditions.Failed {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{s.who(name, n) + "failed verification"}
}

// who describes n runs of a side.
func (s Set) who(name string, n int) string {
	switch {
	case len(s.Runs) == 1:
		return name + " "
	case n == 1:
		return fmt.Sprintf("one of the %d runs of %s ", len(s.Runs), name)
	}
	return fmt.Sprintf("%d of the %d runs of %s ", n, len(s.Runs), name)
}

// doubts says what is wrong with the runs of a side; with levels they are searches that are compared
// by what they found, and change settings for that.
func doubts(name string, s Set, levels bool) []string {
	doubtful, ended, mixed, segments := 0, 0, 0, 0
	state := verdict.Degraded
	var why, by []string
	for _, r := range s.Runs {
		c := &r.Conditions
		if c.Segments > 0 && !levels {
			mixed, segments = mixed+1, max(segments, c.Segments)
		}
		if how := c.cut(); how != "" && !c.Failed {
			if ended++; !slices.Contains(by, how) {
				by = append(by, how)
			}
		}
		switch {
		case c.Failed: // reported separately
		case c.EndedBy == rundir.CutShort || c.EndedBy == rundir.StillRunning: // nothing has judged it
		case c.State != verdict.Valid:
			doubtful++
			if c.State == verdict.Invalid {
				state = c.State
			}
			for _, d := range verdict.Told(c.State, c.Causes, c.Causes) {
				if cause := d.Cause.Word(); !slices.Contains(why, cause) {
					why = append(why, cause)
				}
			}
		}
	}
	was := func(n int) string {
		if n > 1 {
			return "were "
		}
		return "was "
	}
	var out []string
	if ended > 0 {
		out = append(out, s.who(name, ended)+was(ended)+units.Listed(shortened(by)))
	}
	if mixed > 0 {
		out = append(out, s.who(name, mixed)+fmt.Sprintf("changed settings mid-run, so that figures mix %d segments", segments))
	}
	if doubtful > 0 {
		text := s.who(name, doubtful) + was(doubtful) + state
		if len(why) > 0 {
			text += " (" + strings.Join(why, ", ") + ")"
		}
		out = append(out, text)
	}
	return out
}

// cut says how a run ended, or that it has not, where that was before its end; "" otherwise.
func (c *Conditions) cut() string {
	switch c.EndedBy {
	case rundir.CutShort, rundir.StillRunning:
		return c.EndedBy
	}
	return (&rundir.Run{EndedBy: c.EndedBy, Parameters: c.Parameters, MeasuredS: c.MeasuredS}).Cut()
}

// notes says what the figures cannot show.
func notes(c *Comparison) []string {
	var out []string
	switch na, nb := len(c.A.Runs), len(c.B.Runs); {
	case na == 1 && nb == 1:
		out = append(out, single(c)...)
	case na == 1:
		out = append(out, "A is a single run: it is assumed to vary as much as the runs of B.")
	case nb == 1:
		out = append(out, "B is a single run: it is assumed to vary as much as the runs of A.")
	}
	all := c.A.part(nil)
	for _, f := range []Figure{ClientCPU, StoreCPU} {
		if searched(c.A, c.B) != "" {
			break // nor is it asked for
		}
		a, b := lacking(f, all), lacking(f, c.B.part(nil))
		who := ""
		switch {
		case a && b:
			who = "it is not known for either side"
		case a:
			who = "it is not known for A"
		case b:
			who = "it is not known for B"
		default:
			continue
		}
		out = append(out, fmt.Sprintf("%s of each %s is not compared: %s.", units.Capital(string(f)), each(c.Unit(nil)), who))
	}
	if a, b := c.A.Runs[0].Conditions.Unit, c.B.Runs[0].Conditions.Unit; c.Unit(nil) == otherUnits && searched(c.A, c.B) == "" {
		out = append(out, fmt.Sprintf("Units are %s in A and %s in B, so neither throughput nor what a unit costs is compared.", a, b))
	}
	if text := c.Statistics(); text != "" {
		out = append(out, text)
	}
	if atRate(c.A, c.B) && unlike(c.A, c.B)+otherLoad(c.A, c.B) == "" {
		out = append(out, heldNote(c))
	}
	for _, text := range []string{paired(c), asunder(c), along(c)} {
		if text != "" {
			out = append(out, text)
		}
	}
	if c.A.Runs[0].Conditions.Store.InProcess || c.B.Runs[0].Conditions.Store.InProcess {
		out = append(out, "The numbers of a store inside perfbench do not describe a real server, and its processor time is part of client CPU.")
	}
	return out
}

// Statistics says what figures are, where that is not plain: those of a side with several runs, and of one that
// did not answer for a while.
func (c *Comparison) Statistics() string {
	text := c.covers()
	if len(c.A.Runs) < 2 && len(c.B.Runs) < 2 {
		return text
	}
	return strings.TrimSpace(text + " " + stat.OfRuns + " (of errors, the plain one).")
}

// lacking reports whether a figure is missing from any of the runs.
func lacking(f Figure, ms []Measured) bool {
	return slices.ContainsFunc(ms, func(m Measured) bool { _, ok := m.Figures[f]; return !ok })
}
