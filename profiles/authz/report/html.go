package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
)

// cell formats a rate as in the original's tables: with two decimals at most.
func cell(v *float64) string {
	if v == nil {
		return ""
	}
	s := strconv.FormatFloat(*v, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// row is one phase of the table.
type row []string

// table is the baseline's table: a title row, and rows for each test.
type table struct {
	head  []string
	style string
	tests []test
}

// test has the phases of one run.
type test struct {
	title string
	rows  []row
}

func (t *table) html() []byte {
	var b strings.Builder
	b.WriteString("<table" + t.style + ">\n  <tr>\n")
	for _, h := range t.head {
		b.WriteString("    <th>" + h + "</th>\n")
	}
	b.WriteString("  </tr>\n")
	for _, x := range t.tests {
		b.WriteString("  <tr>\n    <th colspan=\"6\">" + x.title + "</th>\n  </tr>\n") // in the original's table of four columns, too
		for _, r := range x.rows {
			b.WriteString("  <tr>\n")
			for _, c := range r {
				b.WriteString("    <td>" + c + "</td>\n")
			}
			b.WriteString("  </tr>\n")
		}
	}
	b.WriteString("</table>\n")
	return []byte(b.String())
}

// newTable returns the table for a mode, without tests.
func newTable(mode string) *table {
	if mode != ModeProfiles {
		return &table{head: []string{"Phase", "Users/s", "Groups/s", "Memberships/s", "Positive Checks / sec", "Checks Sweep #1 (checks/s)"}}
	}
	return &table{head: []string{"Phase", "Sections created/s", "Profiles retrieved/s", "time spent"}, style: ` style="width:100%"`}
}

// title names a test by its phases and tenants, as in the original's tables.
func title(number, phases, concurrent int) string {
	s := func(n int, word string) string {
		if n != 1 {
			word += "s"
		}
		return fmt.Sprintf("%d %s", n, word)
	}
	sep := ","
	if concurrent == 1 {
		sep = ";"
	}
	return fmt.Sprintf("Test #%d: %s%s %s per phase", number, s(phases, "phase"), sep, s(concurrent, "concurrent tenant"))
}

func encodeHTML(f *rundir.Folder) ([]rundir.File, error) {
	ds, err := documents(f)
	if err != nil {
		return nil, err
	}
	t := newTable(ds[0].facts.Mode)
	differ := &difference{head: t.head}
	for i, d := range ds {
		x := d.test(i + 1)
		t.tests = append(t.tests, x)
		differ.add(x, d.facts)
	}
	out := []rundir.File{{Name: fileName(f, ".html"), Data: t.html()}}
	if text := differ.markdown(); text != nil && len(ds) > 1 {
		out = append(out, rundir.File{Name: fileName(f, "-published.md"), Data: text})
	}
	return out, nil
}

// joinHTML makes one table from several runs of a mode, Test #1 first, followed by how
// they differ from the published figures.
func joinHTML(fs []*rundir.Folder) ([]rundir.File, error) {
	var modes []string
	tables, differ := map[string]*table{}, map[string]*difference{}
	for _, f := range fs {
		ds, err := documents(f)
		if err != nil {
			return nil, err
		}
		facts := ds[0].facts
		t := tables[facts.Mode]
		if t == nil {
			modes = append(modes, facts.Mode)
			t = newTable(facts.Mode)
			tables[facts.Mode], differ[facts.Mode] = t, &difference{head: t.head}
		}
		for _, d := range ds {
			x := d.test(len(t.tests) + 1)
			t.tests = append(t.tests, x)
			differ[facts.Mode].add(x, d.facts)
		}
	}
	var out []rundir.File
	for _, mode := range modes {
		out = append(out, rundir.File{Name: "authz-" + mode + "-tests.html", Data: tables[mode].html()})
		if text := differ[mode].markdown(); text != nil {
			out = append(out, rundir.File{Name: "authz-" + mode + "-tests-published.md", Data: text})
		}
	}
	return out, nil
}

// test returns a run's part of the table.
func (d *document) test(number int) test {
	out := test{title: title(number, len(d.facts.Phases), d.facts.Concurrent)}
	for k, p := range d.facts.Phases {
		r := row{strconv.Itoa(k)}
		for _, name := range []string{"users", "groups", "memberships", "profileSections"} {
			if (name == "profileSections") != (d.facts.Mode == ModeProfiles) {
				continue // belongs to the other table
			}
			st := find(p.Load, name)
			r = append(r, cell(d.rate(st.Num, st.TimeMS)))
		}
		if d.facts.Mode == ModeProfiles {
			st := find(p.Tests, "profile")
			spent := ""
			if k == len(d.facts.Phases)-1 {
				spent = shellTime(d.elapsed())
			}
			out.rows = append(out.rows, append(r, cell(d.rate(st.Num, st.TotalMS)), spent))
			continue
		}
		for _, name := range []string{"valid", "sweep"} {
			st := find(p.Tests, name)
			r = append(r, cell(d.rate(st.Total, st.TotalMS)))
		}
		out.rows = append(out.rows, r)
	}
	return out
}

// elapsed returns how long the test took: all of the run's time or, if the run had other
// tests too, from the first to the last of its phases.
func (d *document) elapsed() time.Duration {
	if !d.part {
		return d.f.Run.Ended.Sub(d.f.Run.Started)
	}
	from, to := math.Inf(1), 0.0
	for _, ph := range d.f.Run.Phases {
		_, number, _ := strings.Cut(ph.Name, "-")
		if k, err := strconv.Atoi(number); err == nil && k >= d.first && k < d.first+len(d.facts.Phases) {
			from, to = min(from, ph.From), max(to, ph.To)
		}
	}
	return time.Duration(max(to-from, 0) * float64(time.Second))
}

// find returns the step with that name, or an empty one.
func find(steps []Step, name string) Step {
	for _, st := range steps {
		if st.Name == name {
			return st
		}
	}
	return Step{}
}

// shellTime formats a duration as a shell's time does: 0m26.225s.
func shellTime(d time.Duration) string {
	ms := d.Round(time.Millisecond).Milliseconds()
	return fmt.Sprintf("%dm%d.%03ds", ms/60000, ms%60000/1000, ms%1000)
}
