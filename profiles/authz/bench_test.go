package authz

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/dataset"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/oncassandra"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// wholeRun makes a run as a user would and returns its facts.
func wholeRun(tb testing.TB, target, dir string, set map[string]string) *report.Facts {
	tb.Helper()
	req := session.Request{Profile: report.Name, Target: target, Out: dir, Values: workload.Values{}, Formats: []string{report.FormatID}}
	for name, text := range set {
		req.Values.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag})
	}
	p, err := session.Prepare(tb.Context(), session.Env{Profiles: []workload.Profile{Profile()}, Formats: Formats(), Drivers: drivers.All(), Version: "bench"}, req)
	require.NoError(tb, err)
	l, err := p.Start(tb.Context(), nil)
	require.NoError(tb, err)
	<-l.Done()
	o := l.Conclude(tb.Context())
	require.NoError(tb, o.Err)
	var f report.Facts
	require.NoError(tb, json.Unmarshal(o.Run.Facts, &f))
	return &f
}

// BenchmarkAgainstBareLoop compares whole runs on Cassandra, with all that
// perfbench measures, checks and keeps, with bare loops of the driver that send
// the same prepared statements at the same concurrency. Both load the same
// memberships and check each of them once, turn about within one run, and who is
// first changes from round to round. Reported are the medians over the rounds:
// "ratio-checks" and "ratio-writes" are our rate over that of the bare loop.
func BenchmarkAgainstBareLoop(b *testing.B) {
	const workers, rounds, warm = 16, 6, 2
	// Time-outs that a busy machine does not run into, and a log as it is by default.
	srv := labtest.Cassandra(b, "--write_request_timeout", "20000ms", "--read_request_timeout", "20000ms")
	url := srv.Patient()
	target, _, err := drivers.Parse(url)
	require.NoError(b, err)
	c, err := drivers.Open(b.Context(), target, store.OpenOptions{Threads: workers})
	require.NoError(b, err)
	defer c.Close()
	m, err := model.New(dataset.Generate("classic", 1000, 700, 42), model.Roles, false)
	require.NoError(b, err)
	l := oncassandra.New(c.(cassandra.Typed), "bench")
	require.NoError(b, l.Tables.Create(b.Context()))
	bare := &bareLoop{m: m, l: l.Tables.(*cassandra.Set), session: c.(cassandra.Typed).Session(), workers: workers}
	set := map[string]string{
		"namespace": "bench", "users": "1000", "groups": "700", "variant": "v2", "tests": "valid", "seed": "42", "threads": strconv.Itoa(workers),
	}
	dir := b.TempDir()
	var ratio, rate [2][]float64
	b.ResetTimer()
	for b.Loop() {
		for round := range rounds + warm {
			var ours, theirs [2]float64
			turns := []func(){
				func() {
					f := wholeRun(b, url, filepath.Join(dir, strconv.Itoa(round)), set).Phases[0]
					require.EqualValues(b, len(m.Edges), f.Load[0].Total)
					require.EqualValues(b, len(m.Edges), f.Tests[0].Allowed)
					ours = [2]float64{float64(f.Load[0].TotalMS) / 1e3, float64(f.Tests[0].TotalMS) / 1e3}
				},
				func() { theirs = bare.run(b, round) },
			}
			if round%2 == 1 {
				slices.Reverse(turns)
			}
			for _, turn := range turns {
				runtime.GC()
				turn()
			}
			if round < warm {
				continue // the server is getting faster
			}
			for k := range ours {
				ratio[k] = append(ratio[k], theirs[k]/ours[k])
				rate[k] = append(rate[k], float64(len(m.Edges))/ours[k])
			}
			b.Logf("round %d: ours %.2f s writes, %.2f s checks; bare %.2f s and %.2f s", round-warm, ours[0], ours[1], theirs[0], theirs[1])
		}
	}
	for k, name := range []string{"writes", "checks"} {
		b.ReportMetric(median(ratio[k]), "ratio-"+name)
		b.ReportMetric(median(rate[k]), name+"/s")
	}
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return (xs[len(xs)/2] + xs[(len(xs)-1)/2]) / 2
}

// bareLoop sends what a run sends, and does nothing else.
type bareLoop struct {
	m       *model.Model
	l       *cassandra.Set
	session *gocql.Session
	workers int
}

// run loads and checks a tenant of its own and returns the seconds of each.
func (k *bareLoop) run(b *testing.B, round int) (seconds [2]float64) {
	tenant := fmt.Sprintf("bare-%d", round)
	ids := make([]string, len(k.m.Local))
	for i := range ids {
		ids[i] = k.m.ID(tenant, int32(i))
	}
	member := k.l.Text("INSERT INTO %members (resource_id, member_id, role) VALUES (?, ?, ?)")
	direct := k.l.Text("INSERT INTO %roles (principal_id, resource_id, role) VALUES (?, ?, ?)")
	read := k.l.Text("SELECT role FROM %roles WHERE principal_id = ? AND resource_id = ?")
	for step, f := range []func(ctx context.Context, group, member, role string) error{
		func(ctx context.Context, group, who, role string) error {
			return k.session.Batch(gocql.LoggedBatch).Query(member, group, who, role).Query(direct, who, group, role).ExecContext(ctx)
		},
		func(ctx context.Context, group, who, want string) error {
			var role string
			err := k.session.Query(read, who, group).ScanContext(ctx, &role)
			if err == nil && role != want {
				err = fmt.Errorf("%s on %s: %s", who, group, role)
			}
			return err
		},
	} {
		begin := time.Now()
		g, ctx := errgroup.WithContext(b.Context())
		for w := range k.workers {
			g.Go(func() error {
				for i := w; i < len(k.m.Edges); i += k.workers {
					e := k.m.Edges[len(k.m.Edges)-1-i]
					if err := f(ctx, ids[e.Group], ids[e.Member], k.m.Roles[e.Role]); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(b, g.Wait())
		seconds[step] = time.Since(begin).Seconds()
	}
	return seconds
}

// BenchmarkMillionMemberships loads and checks 1,000,000 memberships with nothing
// behind it, and reports what the process needs for them: "heap-MiB" is what is
// alive once all is made, "peak-MiB" the most that the process ever had in memory.
func BenchmarkMillionMemberships(b *testing.B) {
	for b.Loop() {
		_, s := million(b)
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		b.ReportMetric(float64(stats.HeapAlloc)/(1<<20), "heap-MiB")
		b.ReportMetric(float64(len(s.model.Edges)), "memberships")
		runtime.KeepAlive(s)
		set := map[string]string{"tests": "valid,sweep", "sweepLimit": "100000", "threads": "16"}
		maps.Copy(set, millionSet)
		f := wholeRun(b, "null:", b.TempDir(), set)
		require.EqualValues(b, len(s.model.Edges), f.Phases[0].Tests[0].Total)
	}
	peak := peakMiB(b)
	b.ReportMetric(peak, "peak-MiB")
	require.Less(b, peak, 1024.0)
}

var millionSet = map[string]string{"users": "50000", "groups": "32000", "variant": "v1", "seed": "42"}

// million designs a plan of 1,000,000 memberships.
func million(b *testing.B) (*workload.Plan, *spec) {
	in := workload.Inputs{Values: workload.Values{}, Seed: 42, Namespace: "perfbench", Driver: "null"}
	for name, text := range millionSet {
		in.Values.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag})
	}
	p, err := Design(in)
	require.NoError(b, err)
	x := p.Binder.(*site)
	x.begin("260102-030405-authz-x")
	require.Greater(b, len(x.s.model.Edges), 1_000_000)
	return p, x.s
}

// peakMiB is the most memory that this process has ever had.
func peakMiB(b *testing.B) float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("this system does not tell the peak of a process")
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			require.NoError(b, err)
			return kb / 1024
		}
	}
	b.Skip("this system does not tell the peak of a process")
	return 0
}
