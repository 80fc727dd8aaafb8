//go:build trust

package bench

import (
	"context"
	"flag"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

var inRounds = flag.Int("rounds", 36, "rounds of each of the four series of runs that are compared")

const (
	// asked is how many rounds a comparison has at first: the default of --repeat.
	asked = 5
	// shift is by how much the slower side is slower.
	shift = 0.05
)

// work is what a server does for a call, in steps of a loop: each of them, one in fifty, and one in
// five hundred.
type work struct{ each, some, few int }

// times returns the work in which what a shift concerns is so much more.
func (w work) times(by float64) work {
	more := func(n int) int { return int(math.Round(float64(n) * by)) }
	if w.some == 0 {
		return work{each: more(w.each)}
	}
	return work{w.each, more(w.some), more(w.few)}
}

// laborious is a store whose server can be told to work for each call.
type laborious struct {
	name, statement string
	loads           map[string]work
	// long is how long a run is, so that p99.9 has the 10,000 calls that it takes.
	long string
	// sides starts the server, and returns two targets on it, which differ in nothing but what set says
	// of each.
	sides func(t *testing.T) (targets [2]string, set func(side int, w work))
}

// loads are, in order, what is measured with each kind of work: in the second, only the tail moves.
var loads = []struct {
	name    string
	figures []compare.Figure
}{
	{"every call", []compare.Figure{compare.Throughput, compare.P50, compare.StoreCPU}},
	{"one in 50", []compare.Figure{compare.P99, compare.P999}},
}

var laborers = []laborious{
	{
		name: "Redis", sides: twoRedis,
		statement: `EVAL "local w, r, n, x = redis.call('HMGET', 'work', 'each', 'some', 'few'), tonumber(ARGV[1]), 0, 0; n = tonumber(w[1]); if r <= 2 then n = n + tonumber(w[3]) elseif r <= 22 then n = n + tonumber(w[2]) end; for i = 1, n do x = x + i end; return x" 0 ?`,
		loads:     map[string]work{"every call": {each: 100_000}, "one in 50": {some: 200_000, few: 800_000}},
		long:      "1100ms",
	},
	{
		name: "PostgreSQL", sides: twoPostgres, statement: "SELECT work(?)",
		loads: map[string]work{"every call": {each: 10_000}, "one in 50": {some: 20_000, few: 80_000}},
		long:  "1700ms",
	},
}

// twoRedis are two databases of one server.
func twoRedis(t *testing.T) ([2]string, func(int, work)) {
	srv := labtest.Redis(t)
	targets := [2]string{srv.URL() + "/0", srv.URL() + "/1"}
	return targets, func(side int, w work) {
		o, err := goredis.ParseURL(targets[side])
		require.NoError(t, err)
		c := goredis.NewClient(o)
		defer func() { assert.NoError(t, c.Close()) }()
		require.NoError(t, c.HSet(t.Context(), "work", "each", w.each, "some", w.some, "few", w.few).Err())
	}
}

// twoPostgres are two databases of one server, each with a function of its own.
func twoPostgres(t *testing.T) ([2]string, func(int, work)) {
	first := labtest.Postgres(t).URL()
	u, err := url.Parse(first)
	require.NoError(t, err)
	u.Path = "/slower"
	targets := [2]string{first, u.String()}
	do := func(target, statement string) {
		to, err := store.ParseTarget(target)
		require.NoError(t, err)
		c, err := sqlstore.Open(t.Context(), to, store.OpenOptions{Threads: 1})
		require.NoError(t, err)
		defer func() { assert.NoError(t, c.Close()) }()
		_, err = c.SQL().ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	do(first, "CREATE DATABASE slower")
	return targets, func(side int, w work) {
		do(targets[side], fmt.Sprintf(`CREATE OR REPLACE FUNCTION work(r bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE x bigint := 0; n int := %d;
BEGIN
	IF r <= 2 THEN n := n + %d; ELSIF r <= 22 THEN n := n + %d; END IF;
	FOR i IN 1..n LOOP x := x + i; END LOOP;
	RETURN x;
END $$`, w.each, w.few, w.some))
	}
}

// series has the command do rounds of runs on two targets, or one run without a second, and returns
// the folder of the runs.
func series(ctx context.Context, t *testing.T, binary string, l laborious, rounds int, targets ...string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "work.yaml")
	text := fmt.Sprintf("data: {none: {records: 1}}\noperations: {work: {statement: %q, args: [{number: 1..1000}]}}\nthreads: 1\n", l.statement)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	args := []string{"run", "mix", "--file=" + file, "--target=" + targets[0], "--duration=" + l.long, "--warmup=100ms", "--out=" + dir}
	if len(targets) > 1 {
		args = append(args, "--against="+targets[1], fmt.Sprintf("--repeat=%d", rounds))
	}
	out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}

// one returns the response times of one run at the median and beyond.
func one(t *testing.T, binary string, l laborious, target string) rundir.Latency {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(series(t.Context(), t, binary, l, 1, target), "*", rundir.RunFile))
	require.NoError(t, err)
	require.Len(t, dirs, 1)
	f, err := rundir.Load(filepath.Dir(dirs[0]))
	require.NoError(t, err)
	require.NotEmpty(t, f.Run.Operations)
	return f.Run.Operations[0].Response
}

// slower finds the work that makes what a load measures slower by the shift: from how much longer it
// takes with twice the work.
func slower(t *testing.T, binary string, l laborious, load string, target string, set func(work)) work {
	t.Helper()
	w := l.loads[load]
	takes := func(w work) float64 { // of three runs, the one that others disturbed the least
		set(w)
		least := math.Inf(1)
		for range 3 {
			r := one(t, binary, l, target)
			if w.some > 0 {
				least = min(least, float64(r.P99))
			} else {
				least = min(least, float64(r.P50))
			}
		}
		return least
	}
	usual, twice := takes(w), takes(w.times(2))
	require.Greater(t, twice, 1.5*usual, "twice the work takes longer")
	return w.times(1 + shift*usual/(twice-usual))
}

// tally counts comparisons of one figure.
type tally struct {
	done, right, wrong int // where as many rounds were done as were asked for
	atFirst            int // right at first
	rounds             int // of all of them
	hopeless           int // of which no number of rounds was said to tell
	left               int // which asked for more rounds than were left
	able, ableRight    int // which at first found it, or said that they would have; and found it
}

// follow compares round after round, each round in one comparison, does what each asks for, and
// counts what is certain: as right if it is of the sign, as wrong if it is of the other.
func follow(a, b compare.Set, figure compare.Figure, sign float64) (n tally) {
	for from := 0; from+asked <= len(a.Runs); {
		to := from + asked
		f := judged(a, b, from, to, figure)
		switch {
		case math.IsNaN(f.Change):
			n.hopeless++
			from = to
			continue
		case f.Moved():
			n.atFirst++
			n.able++
			if f.Change*sign > 0 {
				n.ableRight++
			}
		case f.Power == nil: // the same
		case f.Power.ShowsOften <= shift:
			n.able++
		}
		if p := f.Power; p != nil && p.More < 0 {
			n.hopeless++
			from = to
			continue
		} else if p != nil && p.More > 0 {
			if to += p.More; to > len(a.Runs) {
				n.left++
				return n
			}
			f = judged(a, b, from, to, figure)
		}
		n.done++
		n.rounds += to - from
		switch {
		case !f.Moved():
		case f.Change*sign > 0:
			n.right++
		default:
			n.wrong++
		}
		from = to
	}
	return n
}

// judged compares some rounds.
func judged(a, b compare.Set, from, to int, figure compare.Figure) compare.Finding {
	for _, f := range compare.Sets(part(a, from, to), part(b, from, to), compare.Options{Tolerance: shift}).Parts[0].Findings {
		if f.Figure == figure {
			return f
		}
	}
	return compare.Finding{Figure: figure, Change: math.NaN(), Lo: math.Inf(-1), Hi: math.Inf(1)}
}

func part(s compare.Set, from, to int) compare.Set {
	return compare.Set{Name: s.Name, Runs: s.Runs[from:to]}
}

// itself makes two sides, in rounds, of the runs of one.
func itself(s compare.Set) (a, b compare.Set) {
	for i := 0; i+1 < len(s.Runs); i += 2 {
		x, y := *s.Runs[i], *s.Runs[i+1]
		x.Conditions.Turn, y.Conditions.Turn = &rundir.Turn{Series: "itself", Round: i}, &rundir.Turn{Series: "itself", Round: i}
		a.Runs, b.Runs = append(a.Runs, &x), append(b.Runs, &y)
	}
	return a, b
}

// most returns the probability of so many of n, or fewer, if each has the probability p.
func most(k, n int, p float64) float64 {
	sum := 0.0
	for i := range k + 1 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}

// share formats k of n with the bounds of its 95 % interval (Clopper and Pearson).
func share(k, n int) string {
	if n == 0 {
		return "none"
	}
	where := func(above func(p float64) bool) float64 {
		lo, hi := 0.0, 1.0
		for range 40 {
			if mid := (lo + hi) / 2; above(mid) {
				hi = mid
			} else {
				lo = mid
			}
		}
		return 100 * lo
	}
	lo, hi := 0.0, 100.0
	if k > 0 {
		lo = where(func(p float64) bool { return 1-most(k-1, n, p) > 0.025 })
	}
	if k < n {
		hi = where(func(p float64) bool { return most(k, n, p) < 0.025 })
	}
	return fmt.Sprintf("%d of %d (%.0f to %.0f %%)", k, n, lo, hi)
}

// What the pages say of comparisons is true on real servers: of the same thing compared with itself,
// at most 5 % of the tables say that any figure differs; and a server that works 5 % longer is found
// to be slower in nine of ten, in each figure, with the five rounds of the default and as many more
// as the comparison then asks for. It takes nine minutes, and its figures are those of the machine:
// run it on one that has nothing else to do.
//
// Each of the four series is of runs in rounds, as --against and --repeat make them, on two databases
// of one server, which differ in what the server does for a call. The rounds are then dealt out to as
// many comparisons as there are rounds for, none to two. The same thing is a side's run and its next.
func TestComparisonsCanBeTrusted(t *testing.T) {
	binary := build(t)
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "store\twhat takes longer\tfigure\tby, in all rounds\tfound at first\tfound with the rounds asked for\trounds\twrong way\tfound if said to be\tno rounds would tell, too few left")
	tables, alarms := 0, 0
	falsely, found := map[compare.Figure]tally{}, map[compare.Figure]tally{}
	for _, l := range laborers {
		t.Run(l.name, func(t *testing.T) {
			targets, set := l.sides(t)
			for _, load := range loads {
				w := slower(t, binary, l, load.name, targets[1], func(w work) { set(1, w) })
				set(0, l.loads[load.name])
				set(1, w)
				dir := series(t.Context(), t, binary, l, *inRounds, targets[0], targets[1])
				var sides [2]compare.Set
				for i, name := range []string{"a.json", "b.json"} {
					files, err := filepath.Glob(filepath.Join(dir, "*-compared", name))
					require.NoError(t, err)
					require.Len(t, files, 1)
					sides[i], _, err = compare.FindSet(dir, files[0])
					require.NoError(t, err)
					require.Len(t, sides[i].Runs, *inRounds)
				}
				a, b := sides[0], sides[1]
				for _, figure := range load.figures {
					sign := 1.0
					if figure == compare.Throughput {
						sign = -1
					}
					n, all := follow(a, b, figure, sign), judged(a, b, 0, *inRounds, figure)
					add(found, figure, n)
					row := fmt.Sprintf("%s\t%s\t%s\t%+.1f %% (%+.1f … %+.1f)\t%d\t%s\t%.1f\t%d\t%s\t%d, %d", l.name, load.name, figure,
						100*all.Change, 100*all.Lo, 100*all.Hi, n.atFirst, share(n.right, n.done), float64(n.rounds)/float64(max(n.done, 1)), n.wrong, share(n.ableRight, n.able), n.hopeless, n.left)
					fmt.Fprintln(out, row)
					t.Log(strings.ReplaceAll(row, "\t", " | "))
				}
				for _, side := range sides {
					x, y := itself(side)
					for from := 0; from+asked <= len(x.Runs); from += asked {
						any := false
						tables++
						for _, f := range compare.Sets(part(x, from, from+asked), part(y, from, from+asked), compare.Options{Tolerance: shift}).Parts[0].Findings {
							if math.IsNaN(f.Change) || f.Figure == compare.Max {
								continue
							}
							n := tally{done: 1}
							if f.Verdict == compare.Better || f.Verdict == compare.Worse {
								n.right, any = 1, true
								t.Logf("false: %s %+.1f %% (%+.1f … %+.1f), paired %v", f.Figure, 100*f.Change, 100*f.Lo, 100*f.Hi, f.Paired)
							}
							add(falsely, f.Figure, n)
						}
						if any {
							alarms++
						}
					}
				}
			}
		})
	}
	fmt.Fprintln(out, "\t\t\t\t\t\t\t\t\t")
	for _, load := range loads {
		for _, figure := range load.figures {
			n, f := found[figure], falsely[figure]
			fmt.Fprintf(out, "both\t%s\t%s\tfalsely: %s\t%d\t%s\t%.1f\t%d\t%s\t%d, %d\n", load.name, figure, share(f.right, f.done), n.atFirst, share(n.right, n.done), float64(n.rounds)/float64(max(n.done, 1)), n.wrong, share(n.ableRight, n.able), n.hopeless, n.left)
			assert.Greater(t, most(n.right, n.done, 0.9), 0.05, "%s: %s of the shifts are found, fewer than nine of ten by more than chance", figure, share(n.right, n.done))
			assert.Greater(t, 1-most(f.right-1, f.done, 0.05), 0.05, "%s: %s are called better or worse falsely", figure, share(f.right, f.done))
			assert.Zero(t, n.wrong, "%s: shifts that are said to be the other way", figure)
			assert.NotZero(t, n.done, "%s: no comparison had as many rounds as it asked for, so this machine is too noisy", figure)
		}
	}
	require.NoError(t, out.Flush())
	t.Logf("%d rounds in each series\n%stables of the same thing that call any figure better or worse: %s", *inRounds, text.String(), share(alarms, tables))
	assert.Greater(t, 1-most(alarms-1, tables, 0.05), 0.05, "false alarms")
}

// add adds up what was counted of a figure.
func add(all map[compare.Figure]tally, of compare.Figure, n tally) {
	m := all[of]
	m.done, m.right, m.wrong, m.atFirst, m.rounds = m.done+n.done, m.right+n.right, m.wrong+n.wrong, m.atFirst+n.atFirst, m.rounds+n.rounds
	m.hopeless, m.left, m.able, m.ableRight = m.hopeless+n.hopeless, m.left+n.left, m.able+n.able, m.ableRight+n.ableRight
	all[of] = m
}
