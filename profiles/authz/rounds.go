package authz

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// maxTenants is how many tenants a run may have in total.
const maxTenants = 256

// maxConcurrent is how many of them may be tested at the same time.
const maxConcurrent = 64

// round is one test: what one invocation of the original does. A run has one or, with
// the parameter series, several in succession.
type round struct {
	// phases is the number of phases, which follow each other, with concurrent tenants
	// each; first is the number of the first of them in the run.
	phases, concurrent, first int
}

// rounds are the tests of a run, one after the other.
type rounds []round

// readRounds reads runs and concurrent, or the series given instead by a preset or a
// user: whichever has the higher origin.
func (s *spec) readRounds(r *values.Reader, p workload.Param) {
	v := r.Pick(p, "series")
	if strings.TrimSpace(v.Text) == "" || r.Values["runs"].Origin > v.Origin || r.Values["concurrent"].Origin > v.Origin {
		r.Show("series", "", v)
		s.addRound(r, s.runs, s.concurrent)
		return
	}
	r.Show("series", v.Text, v)
	for part := range strings.SplitSeq(v.Text, ",") {
		runs, concurrent, ok := strings.Cut(strings.TrimSpace(part), "/")
		n, err := strconv.Atoi(strings.TrimSpace(runs))
		c, err2 := strconv.Atoi(strings.TrimSpace(concurrent))
		if !ok || err != nil || err2 != nil || n < 1 || c < 1 || n > maxTenants || c > maxConcurrent {
			r.Problems.Add(fault.Field("series", fault.Input(fmt.Errorf("series: %q (%s) is not RUNS/CONCURRENT", part, v.From()), "for example 1/1,4/4,12/4")))
			return
		}
		s.addRound(r, n, c)
	}
}

// addRound adds a test of n runs, c at a time, rounded up to whole phases.
func (s *spec) addRound(r *values.Reader, n, c int) {
	if c < 1 {
		return // already reported
	}
	rd := round{phases: (n + c - 1) / c, concurrent: c}
	for _, before := range s.rounds {
		rd.first += before.phases
	}
	s.rounds = append(s.rounds, rd)
	if all := s.rounds.tenants(); all > maxTenants {
		r.Problems.Add(fault.Field("runs", fault.Input(fmt.Errorf("runs: %d phases of %d tenants are more than %d", rd.phases, c, maxTenants), "")))
	}
}

// tenants returns how many tenants the run has.
func (rs rounds) tenants() int {
	n := 0
	for _, rd := range rs {
		n += rd.phases * rd.concurrent
	}
	return n
}

// tenantName returns the name of tenant i of phase k: phases count down within a test,
// and each test has its own epoch, as if it had been started a moment later.
func (rs rounds) tenantName(epoch string, k, i int) string {
	for number, rd := range rs {
		if k >= rd.first+rd.phases {
			continue
		}
		prefix, ms, _ := cutLast(epoch, "-")
		if at, err := strconv.ParseInt(ms, 10, 64); err == nil {
			epoch = prefix + "-" + strconv.FormatInt(at+int64(number), 10)
		}
		return fmt.Sprintf("%s-%d-%d", epoch, rd.phases-1-(k-rd.first), i)
	}
	return epoch
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// words describes the rounds, for comparison with those of a later load.
func (rs rounds) words() string {
	var out []string
	for _, rd := range rs {
		out = append(out, fmt.Sprintf("%d %d", rd.phases, rd.concurrent))
	}
	return strings.Join(out, ", ")
}
