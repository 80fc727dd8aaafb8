package group

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/profiles/group/report"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// createCSV reads a folder of group texts as PadoGrid's create_csv does: the files
// by their names' beginning, oldest first; of each the lines that contain the text of
// a label, cut behind their last colon (times: behind the label), blanks collapsed;
// fields joined without quoting. It shares nothing with our own table.
func createCSV(t *testing.T, dir string) string {
	t.Helper()
	labels := []string{
		"Product", "Group:", "Concurrent Group", "Operations", "Comment", "Test Run Count", "Test Run Interval", "Total Invocation Count per Run", "Thread Count",
		"Invocation Count per Thread", "Start Time", "Stop Time", "Actual Total Number of Invocations", "Max Time", "Elapsed Time", "Total Invocation Count:",
		"M Throughput", "M Latency", "E Throughput", "E Latency",
	}
	files, err := filepath.Glob(filepath.Join(dir, "group-*"))
	require.NoError(t, err)
	slices.SortStableFunc(files, func(a, b string) int {
		x, err := os.Stat(a)
		require.NoError(t, err)
		y, err := os.Stat(b)
		require.NoError(t, err)
		return x.ModTime().Compare(y.ModTime())
	})
	out := "perf_test, File, Product, Group, Concurrent Groups, Operations, Comment, Test Run Count, Test Run Interval (msec), Total Invocation Count Per Run, " +
		"Thread Count, Invocation Count per Thread, Start Time, Stop Time, Actual Total Number of Invocations, Max Time (msec), Elapsed Time (msec), " +
		"Total Invocation Count, M Throughput invocations/sec), M Latency (msec), E Throughput (invocations/sec), E Latency (msec)\n"
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		row := []string{"perf_test", filepath.Base(f)}
		for _, label := range labels {
			var got []string
			for line := range strings.Lines(string(data)) {
				if !strings.Contains(line, label) {
					continue
				}
				cut := strings.LastIndexByte(line, ':')
				if strings.HasSuffix(label, " Time") && label[0] == 'S' {
					cut = strings.Index(line, ":")
				}
				got = append(got, strings.Fields(line[cut+1:])...)
			}
			row = append(row, strings.Join(got, " "))
		}
		out += strings.Join(row, ", ") + "\n"
	}
	return out
}

func TestCreateCSVReadsOurTexts(t *testing.T) {
	// What the original's own file is, and the row that its script makes of it.
	theirs := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(theirs, "group-g1-redis-250303-092000.txt"), []byte(documented), 0o600))
	want := createCSV(t, theirs)
	row := "perf_test, group-g1-redis-250303-092000.txt, redis, g1, g1 & g2, put1,get1, put() and get() mix, 2, 100, 1003, 4, 250, " +
		"Mon Mar 03 09:20:00 UTC 2025, Mon Mar 03 09:20:00 UTC 2025, 2000, 655, 868, 2000, 3053.4351, 0.3275, 2304.1475, 0.434\n"
	require.True(t, strings.HasSuffix(want, row), want)
	// Ours of the same run gives the same.
	ours := t.TempDir()
	files, err := report.Encode(documentedRun(t))
	require.NoError(t, err)
	for _, f := range files {
		require.NoError(t, os.WriteFile(filepath.Join(ours, f.Name), f.Data, 0o600))
	}
	assert.Equal(t, want, createCSV(t, ours))
}

func TestCreateCSVAndOurTableAgreeOnARealRun(t *testing.T) {
	file := "groupNames: g1&g2,g3\ng1: {operations: 'p,g', threadCount: 2, totalInvocationCount: 20, comment: puts and gets (1 KiB)}\n" +
		"g2: {operations: p, threadCount: 1, totalInvocationCount: 10}\ng3: {operations: g, threadCount: 3, totalInvocationCount: 31}\n" +
		"p: {map: m, testCase: put}\ng: {map: m, testCase: get, totalEntryCount: 20}\n"
	o, _ := runs(t, "memory:", []string{write(t, "g.yaml", file)})
	texts, err := filepath.Glob(filepath.Join(o.Dir, "group-*.txt"))
	require.NoError(t, err)
	require.Len(t, texts, 3)
	table, err := os.ReadFile(filepath.Join(o.Dir, padogrid.CSVName(Name)))
	require.NoError(t, err)
	lines := func(s string) []string {
		out := strings.Split(strings.TrimSpace(s), "\n")
		slices.Sort(out) // files written in the same tick of the clock have no order
		return out
	}
	assert.Equal(t, lines(createCSV(t, o.Dir)), lines(string(table)))
}
