package traffic

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// logs are one of each kind, with four calls.
var logs = map[string]string{
	"MONITOR": `OK
1700000000.000100 [0 127.0.0.1:5001] "GET" "k"
1700000000.000200 [0 127.0.0.1:5001] "SET" "k" "a \"b\" \x00"
1700000000.000300 [0 127.0.0.1:5002] "DEL" "k" "l"
1700000000.000400 [3 [::1]:5003] "HGET" "h" "f"
`,
	"memtier": `[ proxy1 ] 1700000000.000100 [0 127.0.0.1:5001] "SET" "memtier-1" "data"
[ proxy2 ] 1700000000.000200 [0 127.0.0.1:5001] "GET" "memtier-1"
[ proxy1 ] 1700000000.000300 [0 127.0.0.1:5001] "SET" "memtier-2" "data"
[ proxy2 ] 1700000000.000400 [0 127.0.0.1:5001] "GET" "memtier-2"
`,
	"AOF": "#TS:1700000000\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n4\r\n*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\r\n\r\n*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n#TS:1700000001\r\n*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n",
	"Twitter's": `0,a,1,27,5,set,3600
0,b:c,3,9,4,get,0
1,a,1,9,5,get,0
1,"d,e,3,9,4,delete,0
`,
	"Meta's": `op_time,key,op,size,op_count,cache_hits
7,k1,SET,100,1,0
9,k1,GET,100,1,1
9,k2,GET,0,1,0
9,k2,DELETE,0,1,0
`,
}

// place is what a sentence about a log names beside the log.
var place = regexp.MustCompile(`: (line|call) \d+|has no calls in it|the packed log is cut short|cannot be unpacked`)

// refused looks whether a log was refused in one sentence that says where, and left nothing behind.
func refused(t *testing.T, path string, err error, what string) {
	t.Helper()
	require.Error(t, err, what)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err), what)
	assert.NotContains(t, err.Error(), "\n", what)
	assert.Regexp(t, place, err.Error(), what)
	assert.NoFileExists(t, path, what)
}

// Of a log of any kind that is cut short at any place, the calls in front of that are read and it is
// said that one is missing, or it is refused; and one that goes on as another kind, or has a line
// that does not belong there, is refused. What was written is whole.
func TestBadLogsOfEachKind(t *testing.T) {
	tier.Slow(t, tier.Computes)
	for kind, log := range logs {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			path, _, err := converted(t, log, capture.Options{})
			require.NoError(t, err)
			all, _ := texts(t, path)
			require.Len(t, all, 4)
			for name, pack := range map[string]func(string) string{"plain": func(s string) string { return s }, "packed": func(s string) string { return packed(t, s) }} {
				whole := pack(log)
				for at := range whole {
					what := fmt.Sprintf("%s, cut after %d bytes", name, at)
					path, tally, err := converted(t, whole[:at], capture.Options{})
					if err != nil {
						refused(t, path, err, what)
						continue
					}
					got, _ := texts(t, path)
					require.LessOrEqual(t, len(got), len(all), what)
					for i := range got[:len(got)-1] { // the last line of a trace may look whole where it is not
						require.Equal(t, all[i], got[i], what)
					}
					assert.LessOrEqual(t, tally.Left[capture.LeftCut], int64(1), what)
					assert.Len(t, tally.Notes, int(tally.Left[capture.LeftCut]), what)
				}
				for other, text := range logs {
					if kind == other || kind+other == "MONITORmemtier" || kind+other == "memtierMONITOR" {
						continue // they are of one kind
					}
					path, _, err := converted(t, pack(log+text), capture.Options{})
					refused(t, path, err, name+", and "+other+" behind it")
				}
			}
			if kind == "AOF" {
				return // it has no lines
			}
			lines := strings.SplitAfter(log, "\n")
			for i := 1; i < len(lines); i++ {
				path, _, err := converted(t, strings.Join(lines[:i], "")+"what is this\n"+strings.Join(lines[i:], ""), capture.Options{})
				refused(t, path, err, "a foreign line")
				assert.ErrorContains(t, err, fmt.Sprintf(": line %d: ", i+1))
			}
		})
	}
}

// Of an AOF of several parts, each may be bad: only the last may be cut short.
func TestBadPartsOfAnAOF(t *testing.T) {
	log := logs["AOF"]
	for name, c := range map[string]struct {
		one, two string
		refused  bool
	}{
		"whole": {log, log, false}, "the last is cut short": {log, log[:len(log)-3], false}, "the last is empty": {log, "", false},
		"the first is cut short": {log[:len(log)-3], log, true}, "the last is another kind": {log, logs["MONITOR"], true}, "a foreign line": {log, log + "what is this\r\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"a.manifest": "file a.1 seq 1 type i\nfile a.2 seq 2 type i\n", "a.1": c.one, "a.2": c.two} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			}
			path := filepath.Join(t.TempDir(), "x.capture")
			_, err := Convert(t.Context(), dir, path, capture.Options{})
			if c.refused {
				require.Error(t, err)
				assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
				assert.NotContains(t, err.Error(), "\n")
				assert.Regexp(t, `a\.\d: (call \d+:|it is what MONITOR printed, and the file before it )`, err.Error())
				assert.NoFileExists(t, path)
				return
			}
			require.NoError(t, err)
			got, _ := texts(t, path)
			assert.GreaterOrEqual(t, len(got), 4)
		})
	}
}

// A capture that is cut short anywhere is read as far as it goes, or refused in a sentence.
func TestCapturesThatAreCutShort(t *testing.T) {
	path, _, err := converted(t, logs["MONITOR"], capture.Options{})
	require.NoError(t, err)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	all, _ := texts(t, path)
	for at := range whole {
		n := 0
		r, err := capture.NewReader("shop.capture", bytes.NewReader(whole[:at]))
		if err == nil {
			var c capture.Call
			for err = r.Next(&c); err == nil; err = r.Next(&c) {
				n++
			}
			r.Close()
		}
		assert.LessOrEqual(t, n, len(all), at)
		if err != io.EOF {
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err), "%d: %v", at, err)
			assert.NotContains(t, err.Error(), "\n")
			assert.Contains(t, err.Error(), "shop.capture")
		}
	}
}

// A log of any length takes no more memory than a short one: here one that is hundreds of megabytes
// long when it is unpacked, from a million connections.
func TestALongLogTakesNoMoreMemory(t *testing.T) {
	tier.Full(t, "it takes some seconds")
	dir := t.TempDir()
	log, path := filepath.Join(dir, "log.zst"), filepath.Join(dir, "x.capture")
	f, err := os.Create(log)
	require.NoError(t, err)
	enc, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest))
	require.NoError(t, err)
	const lines, size = 400_000, 1000
	value, length := strings.Repeat("x", size), 0
	for i := range lines {
		n, err := fmt.Fprintf(enc, "%d.%06d [0 10.%d.%d.%d:%d] \"SET\" \"user:%d\" \"%s\"\n", 1_700_000_000+i/1000, i%1000*1000, i>>16&255, i>>8&255, i&255, 1000+i%50_000, i, value)
		require.NoError(t, err)
		length += n
	}
	require.NoError(t, enc.Close())
	require.NoError(t, f.Close())

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tally, err := Convert(t.Context(), log, path, capture.Options{})
	runtime.ReadMemStats(&after) // what the system was asked for once is counted until the process ends
	require.NoError(t, err)
	assert.EqualValues(t, lines, tally.Calls)
	assert.Greater(t, length, 400<<20)
	assert.Less(t, int64(after.HeapSys)-int64(before.HeapSys), int64(length/4), "of %d bytes", length)
}
