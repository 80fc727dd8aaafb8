package results

import (
	"image"
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// moment is the second at which the charts of a run are read, the same on all pages. It belongs to the
// event loop.
type moment struct {
	of    *subject
	cross chart.Crosshair
	// plots is where the page has the charts, without their axes, in cells of the page: what was drawn
	// last. It is empty if the page has none.
	plots image.Rectangle
	// timed says that one of them is of times, turned that it has the other axis than the one that suits it.
	timed, turned bool
}

// turn gives the chart of times the other axis, linear or logarithmic; false if there is none.
func (m *moment) turn() bool {
	if m.shown() && m.timed {
		m.turned = !m.turned
		return true
	}
	return false
}

// shown reports whether the page that was drawn last has charts to be read.
func (m *moment) shown() bool { return !m.plots.Empty() && m.of.loaded != nil }

// readings are the seconds that can be read, several as one where a column of the charts has more.
func (m *moment) readings() chart.Readings { return m.of.loaded.course.readings(m.plots.Dx()) }

// moments returns the markers of the run.
func (m *moment) moments() []chart.Moment { return m.of.loaded.course.moments }

// marked reports whether there is a marker to be read.
func (m *moment) marked() bool { return m.shown() && len(chart.Named(m.moments())) > 0 }

// press carries out a key that reads a moment; false if it is none here.
func (m *moment) press(msg tea.KeyPressMsg, k *widget.Bindings) bool {
	return m.shown() && m.cross.Press(msg, k, m.readings, m.moments)
}

// point reads the moment at a cell of the page; false if no chart is there.
func (m *moment) point(at image.Point) bool {
	if !m.shown() || !at.In(m.plots) {
		return false
	}
	c := &m.of.loaded.course
	second := float64(c.first) + (float64(at.X-m.plots.Min.X)+0.5)/float64(m.plots.Dx())*float64(len(c.rates))
	return m.cross.Point(m.readings(), time.Duration(second*float64(time.Second)))
}

// rows is how many lines are said of the moment: one where it is long. It is 0 if none is read.
func (m *moment) rows(e screen.Env) int {
	switch {
	case !m.shown() || !m.cross.On:
		return 0
	case e.W >= wideFrom || e.Styles.Spoken:
		return 1
	case e.W >= 100:
		return 2
	}
	return 3
}

// unmarked is why there is no marker to go to.
const unmarked = "the charts have no marker: nothing was changed, and there was no note, phase or outage"

// lines say what the run did at the moment, its settings then and what was changed; none if none is read.
func (m *moment) lines(e screen.Env) []string {
	rows, w := m.rows(e), e.W
	if rows == 0 {
		return nil
	}
	if e.Styles.Spoken {
		w = math.MaxInt16
	}
	l := m.of.loaded
	r := m.readings()
	out := m.cross.Read(e.Styles, l.then(m.cross.At, r.Width), m.moments(), r.Width, w, rows)
	if e.Styles.Spoken {
		return []string{" at " + strings.TrimSpace(ansi.Strip(out[0]))}
	}
	for len(out) < rows { // the page does not jump
		out = append(out, widget.Fit("", w))
	}
	return out
}

// then is what the run did at a moment, and which settings were in force.
func (l *loadedRun) then(at, width time.Duration) *chart.Then {
	run := &l.folder.Run
	t := l.course.then(at, width)
	t.Unit = run.Unit
	set := run.SettingsAt(at + chart.Soon)
	t.Settings = changedWords(run.SettingsAt(at-1), run.SettingsAt(at+width-1))
	t.Meanwhile = append(chart.Meanwhile(set, run.Commands), t.Meanwhile...)
	return t
}

// readings are the points of the charts that can be read, in so many columns.
func (c *curves) readings(cells int) chart.Readings {
	r := chart.Readings{N: len(c.rates), First: c.first, Width: time.Second}
	for r.Width.Seconds()*float64(max(cells, 1)) < float64(len(c.rates)) {
		r.Width *= 2
	}
	if n := int(r.Width / time.Second); n > 1 && r.N > 0 {
		last := time.Duration(c.first+r.N-1) * time.Second
		r.First = chart.Readings{Width: r.Width}.Index(time.Duration(c.first) * time.Second)
		r.N = chart.Readings{First: r.First, Width: r.Width}.Index(last) + 1
	}
	return r
}

// then is what the run did in the seconds from a moment on: the mean rate, the times that its calls support,
// and how many calls failed.
func (c *curves) then(at, width time.Duration) *chart.Then {
	from := min(max(int(at/time.Second)-c.first, 0), len(c.rates))
	to := max(min(from+int(width/time.Second), len(c.rates)), from)
	t := &chart.Then{Rate: math.NaN(), Times: c.course.Times(from, to)}
	n, sum := 0, 0.0
	for i := from; i < to; i++ {
		if v := c.rates[i]; !math.IsNaN(v) {
			n, sum = n+1, sum+v
		}
		if i < len(c.errors) {
			t.Errors += c.errors[i]
		}
	}
	if n > 0 {
		t.Rate = sum / float64(n)
	}
	for _, m := range c.idle { // the marker at its beginning says it, too
		if m.from < at.Seconds() && at.Seconds() < m.to {
			t.Meanwhile = append(t.Meanwhile, m.text())
		}
	}
	return t
}

// idle is a time in which nothing was done: the store did not answer, or did so without its records, or
// perfbench itself did not run.
type idle struct {
	from, to     float64
	emptied, own bool
}

// idleOf returns the times in which nothing was done in a run, in order.
func idleOf(f *rundir.Folder) (out []idle) {
	for _, o := range rundir.Idle(f) {
		emptied := slices.Contains(f.Run.Emptied, o)
		out = append(out, idle{o.From, o.To, emptied, !emptied && f.Run.Silent(o) == 0})
	}
	return out
}

// text names what it was, with its length.
func (i idle) text() string {
	long := units.Duration(time.Duration((i.to - i.from) * float64(time.Second)))
	switch {
	case i.emptied:
		return "answers without records for " + long
	case i.own:
		return "perfbench itself did not run: nothing done for " + long
	}
	return "outage of " + long
}

// shaded says in the legend what its shade is.
func (i idle) shaded() string {
	if i.emptied {
		return "answered without records"
	}
	return "nothing was done"
}

// sign is that of its marker and its shade.
func (i idle) sign() rune {
	if i.emptied {
		return chart.Emptied
	}
	return chart.Outage
}

// brief is text in a word or two.
func (i idle) brief() string {
	switch {
	case i.emptied:
		return "records lost"
	case i.own:
		return chart.OwnPause
	}
	return "outage"
}

// momentsOf returns the markers of a run: those that it had while it went, and when nothing was done.
func momentsOf(run *rundir.Run, idle []idle) []chart.Moment {
	after := func(seconds float64) time.Duration { return time.Duration(math.Round(seconds * float64(time.Second))) }
	var phases []measure.Phase
	for _, p := range run.Phases {
		phases = append(phases, measure.Phase{Name: p.Name, From: after(p.From), To: after(p.To)})
	}
	var marks []measure.Mark
	for _, m := range run.Marks {
		marks = append(marks, measure.Mark{At: after(m.At), Note: m.Note})
	}
	out := chart.Moments(phases, marks, run.Turned(), run.Commands)
	for _, o := range idle { // in the second that its clock tells, which is of tenths
		out = append(out, chart.Moment{Sign: o.sign(), Name: o.text(), Brief: o.brief(), At: after(math.Round(10*o.from) / 10)})
	}
	return out
}

// changedWords lists settings as settingWords does, with what they were before if that is another value.
func changedWords(before, after map[string]float64) []string {
	was := map[string]string{}
	for _, word := range settingWords(before) {
		name, value, _ := strings.Cut(word, " ")
		was[name] = value
	}
	words := settingWords(after)
	for i, word := range words {
		name, value, _ := strings.Cut(word, " ")
		if old, ok := was[name]; ok && old != value {
			words[i] = name + " " + old + " → " + value
		}
	}
	return words
}

// settingWords lists settings as NAME VALUE: the usual ones first, those of single tracks only if the
// totals do not determine them. What is as the profile has it is left out, and what is said apart.
func settingWords(set map[string]float64) []string {
	var words []string
	for _, k := range workload.Usual() {
		text := widget.KnobIn(k, set)
		if v, total := set[k.Name]; text == "" || total && v == 0 && k.Name == "payload" {
			continue
		}
		words = append(words, k.Name+" "+text)
	}
	for name, v := range widget.SortedSettings(set) {
		_, fault := workload.FaultSetting(name)
		if base := measure.KnobOf(name); base == name && !fault && base != "paused" && !workload.IsUsual(name) {
			words = append(words, name+" "+rundir.SettingText(name, v))
		}
	}
	return slices.Clip(words)
}
