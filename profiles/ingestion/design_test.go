package ingestion

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/profiletest/sample"
	"github.com/perfbench/perfbench/internal/workload"
)

// file is written in the shape of PadoGrid's own, with its habits.
var file = sample.Text("padogrid/ingestion.properties")

func TestPropertiesFile(t *testing.T) {
	vs, warnings := withFile(t, given(), "dir/ingestion.properties", file)
	assert.Equal(t, []string{"dir/ingestion.properties:7: redisson-addon.logging.type has no effect here; PadoGrid's test does not read it either"}, warnings)
	p := design(t, workload.Inputs{Values: vs, Namespace: "perfbench"})
	s := specOf(p)
	assert.Equal(t, int64(2), s.testCount)
	assert.Equal(t, 500*time.Millisecond, s.interval)
	require.Len(t, s.maps, 2)
	e, q := s.maps[0], s.maps[1]
	assert.Equal(t, workload.Settings{Threads: 16, Payload: 1024, Batch: 625}, e.start)
	assert.Equal(t, workload.Settings{Threads: 16, Payload: 10240, Batch: 100}, q.start)
	assert.Equal(t, 1000, e.batch, "the document prints what the file says")
	assert.Equal(t, int64(10000), e.entries())
	assert.Equal(t, int64(625), q.per)
	assert.Equal(t, []string{"eligibility: batchSize 1000 is more than the 625 entries of a thread: each is written in batches of 625"}, p.Warnings)
	assert.Equal(t, int64(10000*(1024+10240)), p.Bytes)
	assert.Equal(t, int64(20000), p.Tracks()[1].Total, "both runs")
	assert.Equal(t, []string{"putall"}, p.Tracks()[0].Ops)
	assert.Contains(t, p.Parameters, workload.Value{Name: "profile.batchSize", Text: "100", Origin: workload.OriginFile, Where: "dir/ingestion.properties:16"})
	assert.Equal(t, "namespace perfbench, map profile: 10000 entries, 2 times, of 10 KiB in batches of 100 by 16 threads", p.Writes[1])
}

func TestFilesHabits(t *testing.T) {
	read := func(t *testing.T, compat string, lines ...string) (*workload.Plan, []string, error) {
		t.Helper()
		vs, warnings := withFile(t, given([2]string{"compat", compat}), "f.properties", strings.Join(lines, "\n"))
		p, err := Design(workload.Inputs{Values: vs})
		if p != nil {
			warnings = append(warnings, p.Warnings...)
		}
		return p, warnings, err
	}
	base := []string{"eligibility.totalEntryCount=1000", "eligibility.threadCount=10", "memberSetSize=5"}
	for _, c := range []struct {
		name, compat, line string
		check              func(t *testing.T, s *spec)
		warning, err       string
	}{
		{"010 is 8", "off", "eligibility.threadCount=010", func(t *testing.T, s *spec) { assert.Equal(t, 8, s.maps[0].start.Threads) }, `f.properties:4: eligibility.threadCount: "010" begins with 0 and so is octal: 8`, ""},
		{"010 is 8 for the original too", "on", "eligibility.threadCount=010", func(t *testing.T, s *spec) { assert.Equal(t, 8, s.maps[0].start.Threads) }, "octal", ""},
		{"0x10 is 16", "off", "eligibility.batchSize=0x10", func(t *testing.T, s *spec) { assert.Equal(t, 16, s.maps[0].batch) }, "", ""},
		{"blanks are dropped", "off", "eligibility.batchSize=50   ", func(t *testing.T, s *spec) { assert.Equal(t, 50, s.maps[0].batch) }, `f.properties:4: eligibility.batchSize: blanks around "50" are dropped; PadoGrid would use its default 1000`, ""},
		{"blanks mean not set to the original", "on", "eligibility.batchSize=50   ", func(t *testing.T, s *spec) { assert.Equal(t, 1000, s.maps[0].batch) }, "not set, so 1000 (compat=on)", ""},
		{"text is an error", "off", "eligibility.batchSize=many", nil, "", `f.properties:4: eligibility.batchSize: "many" is not a whole number`},
		{"text means not set to the original", "on", "eligibility.batchSize=many", func(t *testing.T, s *spec) { assert.Equal(t, 1000, s.maps[0].batch) }, "", ""},
		{"a size is no integer", "off", "eligibility.payloadSize=1KiB", nil, "", `eligibility.payloadSize: "1KiB" is not a whole number`},
		{"a negative count", "off", "eligibility.totalEntryCount=-5", nil, "", "eligibility.totalEntryCount: -5 is not in 1.."},
		{"no threads", "off", "eligibility.threadCount=0", nil, "", "eligibility.threadCount: 0 is not in 1..4096"},
		{"no members", "on", "memberSetSize=0", nil, "", "memberSetSize: 0 is not in 1.."},
		{"an unknown key", "off", "eligibility.treadCount=4", func(*testing.T, *spec) {}, "f.properties:4: eligibility.treadCount is unknown and has no effect; did you mean eligibility.threadCount?", ""},
		{"a key twice", "off", "memberSetSize=4", func(t *testing.T, s *spec) { assert.Equal(t, int64(4), s.members) }, "f.properties:3: memberSetSize is set again on line 4, which wins", ""},
		{"an unknown map", "off", "mapNames=eligibility,profil", nil, "", `mapNames: "profil" (file f.properties:4) is not one of eligibility, profile`},
		{"an unknown map is left out by the original", "on", "mapNames=eligibility,profil", func(t *testing.T, s *spec) { assert.Len(t, s.maps, 1) }, `"profil" is not a map and is left out`, ""},
		{"no map at all", "off", "mapNames=", nil, "", `names no map`},
		{"no map at all for the original", "on", "mapNames=a,b", nil, "", `names no map`},
		{"blanks around a map", "off", "mapNames=Eligibility, profile", func(t *testing.T, s *spec) { assert.Len(t, s.maps, 2) }, "blanks around \"profile\" are dropped", ""},
		{"blanks around a map hide it from the original", "on", "mapNames=eligibility, profile", func(t *testing.T, s *spec) { assert.Len(t, s.maps, 1) }, `" profile" is not a map`, ""},
		{"a map twice", "on", "mapNames=eligibility,ELIGIBILITY,", func(t *testing.T, s *spec) { assert.Len(t, s.maps, 1) }, "", ""},
		{"put", "off", "eligibility.testCase=PUT ", func(t *testing.T, s *spec) {
			assert.False(t, s.maps[0].putAll)
			assert.Equal(t, "put", s.maps[0].word)
		}, `blanks around "PUT" are dropped; PadoGrid would run putall`, ""},
		{"another test's case", "off", "eligibility.testCase=tx", func(t *testing.T, s *spec) {
			assert.True(t, s.maps[0].putAll)
			assert.Equal(t, "putall", s.maps[0].word)
		}, `"tx" is not a test case of ingestion: putall is run`, ""},
		{"an unknown case is printed as the original does", "on", "eligibility.testCase=puts", func(t *testing.T, s *spec) {
			assert.True(t, s.maps[0].putAll)
			assert.Equal(t, "getall", s.maps[0].word)
		}, "not a test case", ""},
		{"blanks after a case", "on", "eligibility.testCase=put ", func(t *testing.T, s *spec) { assert.True(t, s.maps[0].putAll) }, "", ""},
		{"blanks after a prefix", "off", "prefix=y ", func(t *testing.T, s *spec) { assert.Equal(t, "y", s.prefix) }, "PadoGrid would keep them", ""},
		{"blanks after a prefix count", "on", "prefix=y ", func(t *testing.T, s *spec) { assert.Equal(t, "y ", s.prefix) }, "", ""},
		{"left-over entries", "off", "eligibility.totalEntryCount=1003", func(t *testing.T, s *spec) { assert.Equal(t, int64(1000), s.maps[0].entries()) }, "eligibility: 3 of 1003 entries left out", ""},
		{"whole groups", "off", "memberSetSize=30", func(t *testing.T, s *spec) { assert.Equal(t, int64(1200), s.maps[0].entries()) }, "1200 entries are written instead of 1000", ""},
		{"fewer entries than threads", "off", "eligibility.totalEntryCount=9", nil, "", "eligibility.totalEntryCount: 9 is fewer than its 10 threads"},
		{"where results go", "off", "results.dir=/tmp/x", func(*testing.T, *spec) {}, "--out says where documents go", ""},
		{"another map of PadoGrid", "off", "summary.testCase=put", func(*testing.T, *spec) {}, "map summary is written by transactions only", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, warnings, err := read(t, c.compat, append(base, c.line)...)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
				return
			}
			require.NoError(t, err)
			c.check(t, specOf(p))
			assert.Contains(t, strings.Join(warnings, "\n"), c.warning)
		})
	}
}

func TestPrecedence(t *testing.T) {
	two := "mapNames=eligibility,profile\neligibility.threadCount=3\nprofile.threadCount=5\nprofile.payloadSize=100\nprofile.testCase=put\n"
	for _, c := range []struct {
		name  string
		flags [][2]string
		check func(t *testing.T, e, p workload.Settings, s *spec)
	}{
		{"the file's values hold", nil, func(t *testing.T, e, p workload.Settings, s *spec) {
			assert.Equal(t, []int{3, 5, 1024, 100}, []int{e.Threads, p.Threads, e.Payload, p.Payload})
			assert.True(t, s.maps[0].putAll)
			assert.False(t, s.maps[1].putAll)
		}},
		{"a total is split", [][2]string{{"threads", "9"}}, func(t *testing.T, e, p workload.Settings, _ *spec) {
			assert.Equal(t, []int{5, 4}, []int{e.Threads, p.Threads})
		}},
		{"one map gets its own, the other the rest", [][2]string{{"threads", "9"}, {"profile.threads", "2"}}, func(t *testing.T, e, p workload.Settings, _ *spec) {
			assert.Equal(t, []int{7, 2}, []int{e.Threads, p.Threads})
		}},
		{"a value for each map beats the file", [][2]string{{"threadCount", "6"}}, func(t *testing.T, e, p workload.Settings, _ *spec) {
			assert.Equal(t, []int{6, 6}, []int{e.Threads, p.Threads})
		}},
		{"one map beats the value for each", [][2]string{{"threadCount", "6"}, {"profile.threadCount", "7"}}, func(t *testing.T, e, p workload.Settings, _ *spec) {
			assert.Equal(t, []int{6, 7}, []int{e.Threads, p.Threads})
		}},
		{"payload and batch set all maps", [][2]string{{"payload", "4KiB"}, {"batch", "7"}, {"eligibility.batch", "20"}}, func(t *testing.T, e, p workload.Settings, _ *spec) {
			assert.Equal(t, []int{4096, 4096, 20, 7}, []int{e.Payload, p.Payload, e.Batch, p.Batch})
		}},
		{"the two names of a knob are one", [][2]string{{"eligibility.payloadSize", "64"}, {"profile.payload", "32"}}, func(t *testing.T, e, p workload.Settings, _ *spec) {
			assert.Equal(t, []int{64, 32}, []int{e.Payload, p.Payload})
		}},
		{"a test case for all", [][2]string{{"testCase", "put"}}, func(t *testing.T, _, _ workload.Settings, s *spec) {
			assert.False(t, s.maps[0].putAll)
			assert.False(t, s.maps[1].putAll)
		}},
		{"a rate is split", [][2]string{{"rate", "1000"}}, func(t *testing.T, e, p workload.Settings, _ *spec) {
			assert.Equal(t, []float64{500, 500}, []float64{e.Rate, p.Rate})
		}},
		{"a rate of one map is taken from the total", [][2]string{{"rate", "1000"}, {"profile.rate", "100"}}, func(t *testing.T, e, p workload.Settings, _ *spec) {
			assert.Equal(t, []float64{900, 100}, []float64{e.Rate, p.Rate})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			vs, _ := withFile(t, given(c.flags...), "f.properties", two)
			s := specOf(design(t, workload.Inputs{Values: vs}))
			c.check(t, s.maps[0].start, s.maps[1].start, s)
		})
	}
}

// --threads 1 is everyone's first experiment: each map has one thread then, and the
// plan says so.
func TestFewerThreadsThanMapsRunEachWithOne(t *testing.T) {
	both := [2]string{"mapNames", "eligibility,profile"}
	for _, c := range []struct {
		flags [][2]string
		want  []int
		says  string
	}{
		{[][2]string{both, {"threads", "1"}}, []int{1, 1}, "threads=1 (flag --set) is the total over the 2 maps, too few for one each: each has at least one, so 2 run; --set mapNames=eligibility loads one map alone"},
		{[][2]string{both, {"threads", "4"}, {"profile.threads", "4"}}, []int{1, 4}, "so 5 run"},
		{[][2]string{both, {"threads", "2"}}, []int{1, 1}, ""},
	} {
		p := design(t, workload.Inputs{Values: given(c.flags...)})
		s := specOf(p)
		assert.Equal(t, c.want, []int{s.maps[0].start.Threads, s.maps[1].start.Threads})
		if c.says == "" {
			assert.NotContains(t, strings.Join(p.Warnings, "\n"), "threads")
			continue
		}
		assert.Contains(t, strings.Join(p.Warnings, "\n"), c.says)
	}
}

func TestRefusals(t *testing.T) {
	both := [2]string{"mapNames", "eligibility,profile"}
	for _, c := range []struct {
		name  string
		flags [][2]string
		count int64
		want  string
	}{
		{"fewer entries than maps", [][2]string{both}, 1, "count: 1 is fewer than the 2 maps that share it"},
		{"threads out of range", [][2]string{{"threads", "5000"}}, 0, "threads: \"5000\" (flag --set) is not in 1..4096"},
		{"a size out of range", [][2]string{{"payload", "1GiB"}}, 0, "payload: \"1GiB\""},
		{"a batch of nothing", [][2]string{{"batch", "0"}}, 0, "batch: \"0\" (flag --set) is not in 1..1000000"},
		{"an unknown test case", [][2]string{{"testCase", "puttall"}}, 0, "testCase: \"puttall\""},
		{"an unknown layout", [][2]string{{"layout", "groups"}}, 0, "layout: \"groups\" (flag --set) is not one of map, group"},
		{"an unknown map", [][2]string{{"mapNames", "profiles"}}, 0, "mapNames: \"profiles\""},
		{"braces in a hash tag", [][2]string{{"layout", "group"}, {"prefix", "{x"}}, 0, "prefix: \"{x\" has braces"},
		{"a negative rate", [][2]string{{"rate", "-1"}}, 0, "rate: \"-1\""},
		{"compat is a switch", [][2]string{{"compat", "maybe"}}, 0, "compat: \"maybe\" (flag --set) is not on or off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Design(workload.Inputs{Values: given(c.flags...), Count: c.count})
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		})
	}
}

func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	_, err := Design(workload.Inputs{Values: given([2]string{"batch", "x"}, [2]string{"memberSetSize", "0"}, [2]string{"layout", "y"})})
	require.ErrorContains(t, err, "batch:")
	require.ErrorContains(t, err, "memberSetSize:")
	require.ErrorContains(t, err, "layout:")
}

func TestWhatAPresetHasIsNoWarningOfTheUsers(t *testing.T) {
	vs := given()
	vs.Set(workload.Value{Name: "testCount", Text: "60", Origin: workload.OriginPreset})
	p := design(t, workload.Inputs{Values: vs, Count: 100_000})
	assert.Equal(t, int64(1), specOf(p).testCount)
	assert.Empty(t, p.Warnings)
}

func TestOnAClusterTheLayoutDecidesWhatTxCanDo(t *testing.T) {
	for layout, says := range map[string]bool{"": true, "map": false, "group": false} {
		vs := given()
		if layout != "" {
			vs.Set(workload.Value{Name: "layout", Text: layout, Origin: workload.OriginFlag})
		}
		for _, cluster := range []bool{true, false} {
			p := design(t, workload.Inputs{Values: vs, Driver: "redis", Cluster: cluster})
			assert.Equal(t, says && cluster, strings.Contains(strings.Join(p.Warnings, "\n"), "load with --set layout=group"), "%s %t", layout, cluster)
		}
	}
}

func TestCountIsGivenAwayExactly(t *testing.T) {
	for _, n := range []int64{2, 3, 101, 1000, 9999} {
		vs := given([2]string{"mapNames", "eligibility,profile"}, [2]string{"threads", "7"}, [2]string{"testCount", "3"})
		p := design(t, workload.Inputs{Values: vs, Count: n})
		s := specOf(p)
		assert.Equal(t, n, s.maps[0].entries()+s.maps[1].entries())
		assert.Equal(t, n, p.Tracks()[0].Total+p.Tracks()[1].Total)
		assert.Contains(t, p.Warnings, "testCount=3 has no effect: --count entries are written once")
		for _, m := range s.maps {
			var next int64
			for _, sh := range m.shares {
				assert.Equal(t, next, sh.First)
				next += sh.Entries
			}
		}
	}
}

func TestDurationAloneWraps(t *testing.T) {
	p := design(t, workload.Inputs{Values: given(), Duration: time.Minute})
	assert.Zero(t, p.Tracks()[0].Total)
	assert.Equal(t, time.Minute, p.Phases[0].Duration)
	assert.True(t, specOf(p).wrap)
	p = design(t, workload.Inputs{Values: given(), Duration: time.Minute, Count: 100})
	assert.Equal(t, int64(100), p.Tracks()[0].Total)
	assert.Equal(t, time.Minute, p.Phases[0].Duration)
}

func TestYAML(t *testing.T) {
	vs, warnings := withFile(t, given(), "a.yaml", "mapNames: profile\nprofile:\n  testCase: put\n  payload: 2KiB\n  threads: 3\nduration: 5s\n")
	assert.Empty(t, warnings)
	s := specOf(design(t, workload.Inputs{Values: vs}))
	assert.Equal(t, workload.Settings{Threads: 3, Payload: 2048, Batch: 1000}, s.maps[0].start)
	_, _, err := Read([]workload.File{{Path: "a.yaml", Data: []byte("profile:\n  testcase: put\n")}})
	require.ErrorContains(t, err, `a.yaml:2:3: there is no knob or parameter "profile.testcase"`)
	_, _, err = Read([]workload.File{{Path: "etc"}})
	require.ErrorContains(t, err, "file etc: is a folder")
	_, _, err = Read([]workload.File{{Path: "g.properties", Data: []byte("prefix=x\ngroupNames=g1&g2")}})
	require.ErrorContains(t, err, "g.properties:2: groupNames: this is a file of PadoGrid's group test")
	two, found, err := Read([]workload.File{{Path: "a.properties", Data: []byte("prefix=a")}, {Path: "b.yaml", Data: []byte("prefix: b")}})
	require.NoError(t, err)
	assert.Equal(t, "b", two["prefix"].Text)
	assert.Equal(t, []string{"a.properties:1: prefix is set again in b.yaml:1, which wins"}, found.Warnings)
}

func FuzzDesign(f *testing.F) {
	f.Add([]byte(file), false)
	f.Add([]byte("mapNames=profile\nprofile.threadCount=010\nprofile.totalEntryCount=0x7fffffff\nprofile.threadCount=1 "), true)
	f.Fuzz(func(t *testing.T, data []byte, compat bool) {
		from, _, err := Read([]workload.File{{Path: "f", Data: data}})
		if err == nil {
			vs := given([2]string{"compat", map[bool]string{true: "on", false: "off"}[compat]})
			for _, v := range from {
				vs.Set(v)
			}
			_, err = Design(workload.Inputs{Values: vs})
		}
		if err != nil {
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		}
	})
}
