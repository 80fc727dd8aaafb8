package padogrid_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// ingested is a text of today with the figures of the sample on the original's page:
// 10000 entries of 10240 bytes, 758 ms.
const ingested = `******************************************
Data Ingestion Test
******************************************

                     Product: redis
                   Test Case: putall
                         Map: profile
   Total Entry Count Per Run: 10000
                      Prefix: x

Start Time: Sun Jun 30 15:16:18 UTC 2019

Actual Total Entry (Put) Count: 10000

        Max Time (msec): 758
   Throughput (msg/sec): 13192.612
  *Throughput (KiB/sec): 131926.121
  *Throughput (MiB/sec): 128.834
 Latency per put (msec): 0.076
   **Total Volume (KiB): 100000
   **Total Volume (MiB): 97.656
   **Total Volume (GiB): 0.095
   Payload Size (bytes): 10240

Stop Time: Sun Jun 30 15:16:19 UTC 2019

`

func TestOlderLayout(t *testing.T) {
	now := padogrid.Text{Name: "ingestion-profile-redis-190630-151618_x.txt", Data: []byte(ingested)}
	old := padogrid.Older(now, "ingestion", "redis")
	assert.Equal(t, "ingestion-profile-190630-151618_x.txt", old.Name)
	want := strings.NewReplacer("                     Product: redis\n", "", "Max Time", "Max time", "Volume (KiB)", "Volume (MiB)").Replace(ingested)
	assert.Equal(t, want, string(old.Data))
	assert.Equal(t, 2, strings.Count(string(old.Data), "**Total Volume (MiB)"), "as on the original's page, the first of them being KiB")
}

// Texts of both layouts make one table, and the same figures stand in its cells.
func TestTableOfBothLayouts(t *testing.T) {
	now := padogrid.Text{Name: "ingestion-profile-redis-190630-151618_x.txt", Data: []byte(ingested)}
	lines := strings.Split(strings.TrimSpace(string(padogrid.CSV("ingestion", []padogrid.Text{now, padogrid.Older(now, "ingestion", "redis")}))), "\n")
	assert.Len(t, lines, 3)
	head, recent, old := strings.Split(lines[0], ", "), strings.Split(lines[1], ", "), strings.Split(lines[2], ", ")
	for i, h := range head {
		switch h {
		case "File":
			assert.Equal(t, "ingestion-profile-190630-151618_x.txt", old[i])
		case "Product":
			assert.Empty(t, old[i], "the older layout does not say")
		default:
			assert.Equal(t, recent[i], old[i], h)
		}
	}
	assert.Contains(t, lines[2], ", 758, 13192.612, 131926.121, 128.834, 0.076, 100000, 97.656, 0.095")
}

// A folder of the original's own results and runs of ours make one table.
func TestTableOfAFolderAndRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "old [1]")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "group-x.txt"), 0o755))
	now := padogrid.Text{Name: "ingestion-profile-redis-190630-151618_x.txt", Data: []byte(ingested)}
	old := padogrid.Older(now, "ingestion", "redis")
	for i, x := range []padogrid.Text{{Name: "ingestion-later.txt", Data: now.Data}, old, {Name: "notes-x.txt"}, {Name: "tx-profile-190630-151618_x.txt"}} {
		path := filepath.Join(dir, x.Name)
		require.NoError(t, os.WriteFile(path, x.Data, 0o600))
		written := time.Date(2019, 6, 30, 15, 16-i, 0, 0, time.UTC)
		require.NoError(t, os.Chtimes(path, written, written))
	}
	found, err := padogrid.Found(dir)
	require.NoError(t, err)
	require.Len(t, found, 2)
	assert.Equal(t, []string{"tx", "ingestion"}, []string{found[0].Run.Profile, found[1].Run.Profile}, "the oldest first")
	texts := rundir.Format{Profile: "ingestion", Encode: func(*rundir.Folder) ([]rundir.File, error) {
		return []rundir.File{{Name: now.Name, Data: now.Data}}, nil
	}}
	files, err := padogrid.CSVFormat("ingestion", texts).Join([]*rundir.Folder{found[1], {}})
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(files[0].Data)), "\n")
	require.Len(t, lines, 4)
	for i, name := range []string{old.Name, "ingestion-later.txt", now.Name} {
		assert.Contains(t, lines[i+1], "perf_test, "+name+", ")
	}
}

func TestOlderNamesKeepWhatIsNoProduct(t *testing.T) {
	for name, want := range map[string]string{
		"tx-eligibility-redis-250303-091240_x.txt":                   "tx-eligibility-250303-091240_x.txt",
		"group-redis-redis-250303-092000.txt":                        "group-redis-250303-092000.txt",
		"ingestion-profile-redis-250303-090507_a-redis-190101-1.txt": "ingestion-profile-250303-090507_a-redis-190101-1.txt",
	} {
		assert.Equal(t, want, padogrid.Older(padogrid.Text{Name: name}, "tx", "redis").Name)
	}
	old := padogrid.Older(padogrid.Text{Data: []byte("   Total Entry Count Per Run: 5\nComment: Max Time (msec): 3\n")}, "tx", "redis")
	assert.Equal(t, "   Total Entry Count per Run: 5\nComment: Max Time (msec): 3\n", string(old.Data))
}
