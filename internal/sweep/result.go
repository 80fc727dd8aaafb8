package sweep

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

// File is the name of the file in a sweep's folder that says what has been done, and
// the results.
const File = "sweep.json"

// PlanFile is the name of the plan file in a sweep's folder that asks for the same sweep again.
const PlanFile = "plan.yaml"

// FolderEnd is the suffix of the name of a sweep's folder.
const FolderEnd = "-sweep"

// certainty is the confidence level of intervals.
const certainty = 0.95

// Schema is the version of the layout of sweep.json.
const Schema = 1

// Result is a sweep as in sweep.json.
type Result struct {
	Schema int `json:"schema"`
	// Asked is a digest of the whole request: the same command always gives the same.
	Asked   string `json:"asked"`
	Profile string `json:"profile"`
	// Target is the store, empty if that is one of the axes; Unit is the unit of
	// counts.
	Target string `json:"target,omitempty"`
	Unit   string `json:"unit"`
	Axes   []Axis `json:"axes"`
	// Knees are what searches found where the rates were left to the sweep, one for each
	// value of the other axis.
	Knees  []Knee `json:"knees,omitempty"`
	Rounds int    `json:"rounds"`
	// Workers is how many processes did the work of each run; 0: the sweeping process did.
	Workers int `json:"workers,omitempty"`
	// Open means that runs had a target rate, so that throughput does not show how the
	// store scales.
	Open bool `json:"open_loop,omitempty"`
	// Rate is the target rate that all runs had, in units per second; 0 if not all had the same.
	Rate float64 `json:"rate_per_s,omitempty"`
	// Crash is how a server ended in each run, PowerCut, TornPowerCut or ProcessCrash; empty: it did not. Figures
	// are then of the time before it.
	Crash string `json:"crash,omitempty"`
	// Timetable says in words what changes during each run.
	Timetable []string `json:"timetable,omitempty"`
	// LeftOut says in words which values were asked for and have no point, as another has the same runs.
	LeftOut []string `json:"left_out,omitempty"`
	// Runs are the completed runs, in the order in which they were made.
	Runs []Run `json:"runs"`
	// Points and Lines are the results, as of the last completed run.
	Points []Point `json:"points"`
	Lines  []Line  `json:"lines,omitempty"`
}

// Run is one completed run. Times are in nanoseconds; measure.Hidden if too few calls support them.
type Run struct {
	// Round counts from 0; Point is an index into the combinations of Axes.
	Round int `json:"round"`
	Point int `json:"point"`
	// ID is the name of its folder, next to that of the sweep.
	ID string `json:"run"`
	// Threads is how many there were at the start, for an axis of threads; since every
	// track has at least one, that may be more than requested. 0 for any other axis.
	Threads float64 `json:"threads,omitempty"`
	// Done is units per second; nil if unknown.
	Done *float64 `json:"throughput_per_s"`
	// Due is how many units per second its rate came to: independent calls come a little more
	// or less often than asked. nil without a rate, and where nothing was done.
	Due *float64 `json:"due_per_s,omitempty"`
	// P50 and P99 are those of all calls that count.
	P50    int64 `json:"response_p50_ns"`
	P99    int64 `json:"response_p99_ns"`
	Errors int64 `json:"errors"`
	// UnitBytes is how large the values of its units were on average; 0 if unknown.
	UnitBytes float64 `json:"unit_bytes,omitempty"`
	Verdict   string  `json:"verdict"`
	// Causes are those of the verdict, and Lost is how many acknowledged writes were lost, nil if
	// nobody knows; both only of a sweep with a Crash.
	Causes []string `json:"causes,omitempty"`
	Lost   *int64   `json:"lost,omitempty"`
	// Unread is how many more were acknowledged and not looked for.
	Unread int64 `json:"unread,omitempty"`
}

// Statistics says what the figures of a Point are of several runs.
const Statistics = stat.OfRuns + ", as in a comparison of them."

// Mean is Statistics for narrow space.
const Mean = "several runs: " + stat.Mean

// Point is the result of the runs of one combination of values.
type Point struct {
	Values []string `json:"values"`
	// Threads is how many threads its runs had, for an axis of threads on which that is
	// not the value: every track has at least one. 0 if it is.
	Threads float64 `json:"threads,omitempty"`
	Runs    int     `json:"runs"`
	// Done is the mean throughput, that of stat.OfSeveral, with its confidence interval; nil if no run has any.
	// The interval is nil with a single run.
	Done *float64 `json:"throughput_per_s"`
	Low  *float64 `json:"throughput_low"`
	High *float64 `json:"throughput_high"`
	// Bytes is how many bytes the values had per second on average; nil unless payload is an axis,
	// and they are known.
	Bytes *float64 `json:"bytes_per_s,omitempty"`
	// P50 and P99 are each the mean of the runs, as Done is one; measure.Hidden if too few calls of one support
	// it. Errors are those of all runs.
	P50    int64 `json:"response_p50_ns"`
	P99    int64 `json:"response_p99_ns"`
	Errors int64 `json:"errors"`
	// Doubtful counts the runs whose verdict was not VALID.
	Doubtful int `json:"not_valid"`
	// Loss is what its runs lost; nil without a Crash.
	Loss *Loss `json:"loss,omitempty"`
}

// Margin formats the margin of error of the throughput, up to the farther end, as a share of it; empty if it
// is not known. One of more than all of it says no more than that.
func (p Point) Margin(format func(share float64) string) string {
	switch {
	case p.High == nil || p.Done == nil || !(*p.Done > 0):
		return ""
	case wild(*p.Done, *p.High):
		return "> 100 %"
	}
	return format((*p.High - *p.Done) / *p.Done)
}

// wild reports whether runs vary so much that the margin of error of their mean, up to here, is more than all of it.
func wild(mean, high float64) bool { return high > 2*mean }

// Line is throughput over the number of threads, everything else being equal.
type Line struct {
	// At names the value of the other axis; empty without one.
	At string `json:"at,omitempty"`
	// Knee is the lowest number of threads above which no further thread adds a quarter
	// of what each of the first ones added; 0 if it is out of reach.
	Knee float64 `json:"knee"`
	// KneeLow and KneeHigh are the tested numbers between which it lies with 95 %
	// confidence. KneeLow is nil if that is unknown, and KneeHigh also if the knee may
	// be out of reach.
	KneeLow  *float64 `json:"knee_low,omitempty"`
	KneeHigh *float64 `json:"knee_high,omitempty"`
	// Doubt is why a knee that the means have is not stated: the runs do not carry it. Knee is 0 then, and
	// KneeLow and KneeHigh say between which numbers it lies.
	Doubt string `json:"knee_doubt,omitempty"`
	// Law is nil if there are too few points.
	Law *Fit `json:"usl,omitempty"`
}

// Has reports whether a run is done.
func (r *Result) Has(round, point int) bool {
	return slices.ContainsFunc(r.Runs, func(d Run) bool { return d.Round == round && d.Point == point })
}

// All returns how many runs there are to do.
func (r *Result) All() int {
	n := r.Rounds
	for _, a := range r.Axes {
		n *= len(a.List())
	}
	return n
}

// Complete reports whether all runs are done.
func (r *Result) Complete() bool { return len(r.Runs) >= r.All() }

// Load reads the sweep in a folder.
func Load(dir string) (*Result, error) {
	data, err := infile.Read(infile.Found, filepath.Join(dir, File))
	r := &Result{}
	if err == nil {
		err = json.Unmarshal(infile.Harmless(data), r)
	}
	if err == nil && r.Schema != Schema {
		err = fmt.Errorf("its layout is %d, and %d is known here", r.Schema, Schema)
	}
	if err != nil {
		return nil, fmt.Errorf("read the sweep in %s: %w", dir, err)
	}
	across := r.Across()
	if across >= 0 && !r.fits(across) {
		return r, nil
	}
	for i, p := range r.Points { // earlier versions summed them up in another way
		if p.Runs > 1 && len(r.Runs) > 0 {
			r.Points[i] = r.point(i, p.Values)
		}
	}
	if across >= 0 && r.Complete() { // and said more of the knee than is known
		for i := range r.Lines {
			levelsOf(r.samples(across, r.Lines[i].At)).settle(&r.Lines[i])
		}
	}
	return r, nil
}

// fits reports whether each run has its point, and each point its place on an axis, which somebody may have changed.
func (r *Result) fits(across int) bool {
	return !slices.ContainsFunc(r.Runs, func(d Run) bool { return d.Point < 0 || d.Point >= len(r.Points) }) &&
		!slices.ContainsFunc(r.Points, func(p Point) bool {
			return len(p.Values) != len(r.Axes) || !slices.Contains(r.Axes[across].Values, p.Values[across])
		})
}

// Unfinished returns the folder below out of a sweep that was requested in the same
// words and is not complete, and that sweep; "" if there is none. Folders that cannot
// be read are skipped. Runs whose folders are gone count as not done.
func Unfinished(out, asked string) (string, *Result) {
	files, _ := filepath.Glob(filepath.Join(escaped(out), "*", File)) // the pattern is valid
	for _, f := range slices.Backward(files) {
		r, err := Load(filepath.Dir(f))
		if err != nil || r.Asked != asked || r.Complete() {
			continue
		}
		r.Runs = slices.DeleteFunc(r.Runs, func(d Run) bool {
			_, err := os.Stat(filepath.Join(out, d.ID))
			return err != nil
		})
		return filepath.Dir(f), r
	}
	return "", nil
}

func escaped(path string) string {
	return strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(path)
}

// Encode encodes the sweep for File.
func (r *Result) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// Settle computes Points and Lines from the completed runs.
func (r *Result) Settle() error {
	all, err := Points(r.Axes, r.Rounds)
	if err != nil {
		return err
	}
	r.Points, r.Lines = nil, nil
	for i, values := range all {
		r.Points = append(r.Points, r.point(i, values))
	}
	across := r.Across()
	if across < 0 || r.Open || !r.Axes[across].Concurrency() {
		return nil
	}
	for _, at := range r.Others(across) {
		r.Lines = append(r.Lines, r.line(across, at))
	}
	return nil
}

// Sized reports whether the bytes of its points are known, over an axis of their size.
func (r *Result) Sized() bool {
	return slices.ContainsFunc(r.Points, func(p Point) bool { return p.Bytes != nil })
}

// BytesText is how many bytes the values of a point had per second; a dash if that is not known.
func (p Point) BytesText() string {
	if p.Bytes == nil {
		return "–"
	}
	return units.Size(int64(math.Round(*p.Bytes))) + "/s"
}

// Best returns the point with the highest throughput; -1 if none is known.
func (r *Result) Best() int {
	best := -1
	for i, p := range r.Points {
		if p.Done != nil && (best < 0 || *p.Done > *r.Points[best].Done) {
			best = i
		}
	}
	return best
}

// Place describes the values of a point: threads=4 and payload=1KiB.
func (r *Result) Place(point int) string {
	var parts []string
	for _, a := range slices.Backward(r.Axes) {
		list := a.List()
		parts = append(parts, a.Name+"="+a.Short(list[point%len(list)]))
		point /= len(list)
	}
	slices.Reverse(parts)
	return strings.Join(parts, " and ")
}

// Named is Place as people say it: threads 4, payload 1KiB.
func (r *Result) Named(point int) string {
	return strings.NewReplacer(" and ", ", ", "=", " ").Replace(r.Place(point))
}

// Across returns the axis over which curves are drawn: that of threads, otherwise the
// first numeric one; -1 if there is none.
func (r *Result) Across() int {
	if i := slices.IndexFunc(r.Axes, Axis.Concurrency); i >= 0 && r.Axes[i].Numbers() != nil {
		return i
	}
	return slices.IndexFunc(r.Axes, func(a Axis) bool { return a.Numbers() != nil })
}

// Others returns the values of the axis other than the given one, or a single empty
// text if there is no other.
func (r *Result) Others(across int) []string {
	if len(r.Axes) < 2 {
		return []string{""}
	}
	return r.Axes[1-across].List()
}

// Short returns a value of the axis other than the given one as legends have it.
func (r *Result) Short(across int, at string) string {
	if at == "" || across < 0 || len(r.Axes) < 2 {
		return at
	}
	return r.Axes[1-across].Short(at)
}

// ShortValues returns the values of a point as legends have them, with the number of threads that ran
// where it is another than the value.
func (r *Result) ShortValues(p Point) []string {
	out := slices.Clone(p.Values)
	for i, a := range r.Axes {
		if out[i] = a.Short(out[i]); p.Threads > 0 && a.Concurrency() {
			out[i] += " (" + units.Number(p.Threads) + " ran)"
		}
	}
	return out
}

// Curves returns how many lines of measured throughput there are to draw: one for each
// value of the other axis, 0 if no axis is numeric.
func (r *Result) Curves() int {
	across := r.Across()
	if across < 0 {
		return 0
	}
	return len(r.Others(across))
}

// N returns where a point lies on a numeric axis: at its value or, for threads, at the
// number that ran.
func (r *Result) N(p Point, across int) float64 {
	if p.Threads > 0 && r.Axes[across].Concurrency() {
		return p.Threads
	}
	return r.Axes[across].Numbers()[slices.Index(r.Axes[across].Values, p.Values[across])]
}

// Curve returns throughput over a numeric axis, for one of Others: the places at which
// any point lies, in order, and the mean of the runs of points that lie there; NaN is a gap.
func (r *Result) Curve(across int, at string) (n, done []float64) {
	n, runs := r.places(across, at)
	for _, of := range runs {
		mean, _, _ := stat.OfSeveral(of, certainty)
		done = append(done, mean)
	}
	return n, done
}

// Intervals returns between which values the means of Curve lie, as Point has them; NaN where that is not known.
func (r *Result) Intervals(across int, at string) (low, high []float64) {
	_, runs := r.places(across, at)
	for _, of := range runs {
		_, lo, hi := stat.OfSeveral(of, certainty)
		if math.IsInf(hi, 0) {
			lo, hi = math.NaN(), math.NaN()
		}
		low, high = append(low, lo), append(high, hi)
	}
	return low, high
}

// places returns the places of Curve, and the throughput of the runs at each.
func (r *Result) places(across int, at string) (n []float64, runs [][]float64) {
	for _, p := range r.Points {
		n = append(n, r.N(p, across))
	}
	slices.Sort(n)
	n = slices.Compact(n)
	runs = make([][]float64, len(n))
	for _, d := range r.Runs {
		if p := r.Points[d.Point]; d.Done != nil && r.Of(p, across, at) {
			i := slices.Index(n, r.N(p, across))
			runs[i] = append(runs[i], *d.Done)
		}
	}
	return n, runs
}

// Of reports whether a point has a certain value of Others.
func (r *Result) Of(p Point, across int, at string) bool {
	return len(r.Axes) < 2 || p.Values[1-across] == at
}

func (r *Result) point(i int, values []string) Point {
	p := Point{Values: values}
	var done, bytes []float64
	var p50, p99 []int64
	asked := math.NaN()
	if across := slices.IndexFunc(r.Axes, Axis.Concurrency); across >= 0 {
		asked, _ = r.Axes[across].number(values[across])
	}
	for _, d := range r.Runs {
		if d.Point != i {
			continue
		}
		p.Runs++
		p.Errors += d.Errors
		if d.Threads > asked || d.Threads < asked {
			p.Threads = d.Threads
		}
		p50, p99 = append(p50, d.P50), append(p99, d.P99)
		if r.Doubtful(d) {
			p.Doubtful++
		}
		if d.Done != nil {
			done = append(done, *d.Done)
			bytes = append(bytes, *d.Done*d.UnitBytes)
		}
	}
	if mean, _, _ := stat.OfSeveral(bytes, certainty); mean > 0 && slices.ContainsFunc(r.Axes, func(a Axis) bool { return a.Name == "payload" || strings.HasSuffix(a.Name, ".payload") }) {
		p.Bytes = &mean
	}
	p.P50, p.P99, p.Loss = mean(p50), mean(p99), r.loss(i)
	if v, lo, hi := stat.OfSeveral(done, certainty); !math.IsNaN(v) {
		if p.Done = &v; !math.IsInf(hi, 0) { // of several runs, without what differs between processors
			v, lo, hi = math.Round(v*1000)/1000, math.Round(lo*1000)/1000, math.Round(hi*1000)/1000
			p.Low, p.High = &lo, &hi
		}
	}
	return p
}

// mean returns a percentile of several runs; measure.Hidden if one of them has none. That of a higher
// percentile is no less.
func mean(runs []int64) int64 {
	var all []float64
	for _, v := range runs {
		if v == measure.Hidden {
			return measure.Hidden
		}
		all = append(all, float64(v))
	}
	v, _, _ := stat.OfSeveral(all, certainty)
	return int64(math.Round(v))
}

// samples returns the runs with one of Others.
func (r *Result) samples(across int, at string) (runs []Sample) {
	for _, d := range r.Runs {
		if p := r.Points[d.Point]; d.Done != nil && r.Of(p, across, at) {
			runs = append(runs, Sample{N: r.N(p, across), X: *d.Done})
		}
	}
	return runs
}

func (r *Result) line(across int, at string) Line {
	line := Line{At: at}
	runs := r.samples(across, at)
	line.Law = FitLaw(runs)
	levelsOf(runs).settle(&line)
	if _, of := line.Awaited(r); of > 0 {
		line.Knee, line.KneeLow, line.KneeHigh, line.Doubt = 0, nil, nil, ""
	}
	return line
}
