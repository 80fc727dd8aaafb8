package traffic

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/capturetest"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// texts are the calls of a capture, a line each: connection, database, and the arguments;
// sizes in brackets.
func texts(t *testing.T, path string) ([]string, *capture.Reader) {
	t.Helper()
	return capturetest.Lines(t, path, func(c *capture.Call) string {
		line := fmt.Sprintf("%d/%d", c.Conn, c.DB)
		for _, a := range c.Args {
			switch a.Kind {
			case capture.Text:
				line += " " + a.Text
			case capture.Size:
				line += fmt.Sprintf(" [%d]", a.Size)
			case capture.Name:
				line += fmt.Sprintf(" <%d>", a.Size)
			}
		}
		return line
	})
}

func converted(t *testing.T, log string, o capture.Options) (string, capture.Tally, error) {
	t.Helper()
	return capturetest.Converted(t, Convert, log, o)
}

const printed = `OK
1700000000.000100 [0 127.0.0.1:5001] "SET" "user:1" "hunter2" "EX" "60"
1700000000.000300 [0 127.0.0.1:5002] "hget" "h" "field"
1700000001.500000 [3 [::1]:5003] "lpush" "l\x00\n" "a \"quoted\" \\ thing"
1700000001.500100 [0 lua] "GET" "inner"
1700000001.500200 [0 unix:/run/redis.sock] "FLUSHALL"
1700000001.500300 [0 127.0.0.1:5002] "AUTH" "s3cret"
1700000001.500400 [0 127.0.0.1:5002] "HELLO" "3" "AUTH" "u" "s3cret"
1700000001.500500 [0 127.0.0.1:5002] "config" "set" "requirepass" "s3cret"
1700000001.500600 [0 127.0.0.1:5002] "ACL" "SETUSER" "u" ">s3cret"
1700000001.500700 [0 127.0.0.1:5002] "MIGRATE" "h" "1" "k" "0" "9" "AUTH" "s3cret"
`

func TestPrintedLinesBecomeCalls(t *testing.T) {
	path, tally, err := converted(t, printed, capture.Options{})
	require.NoError(t, err)
	got, r := texts(t, path)
	assert.Equal(t, []string{
		"1/0 SET user:1 [7] EX 60",
		"2/0 HGET h <5>",
		"3/3 LPUSH l\x00\n [18]",
		"4/0 FLUSHALL",
	}, got)
	assert.Equal(t, map[string]int64{leftScripts: 1, leftSecret: 5}, tally.Left)
	assert.Equal(t, capture.Exact, r.Header.Timing)
	assert.Equal(t, time.Unix(1700000000, 100_000).UTC(), r.Header.Started)
}

func TestSecretsAreInNoCapture(t *testing.T) {
	for name, o := range map[string]capture.Options{"sizes": {}, "values": {Values: true}} {
		path, _, err := converted(t, printed, o)
		require.NoError(t, err, name)
		got, _ := texts(t, path)
		all := strings.Join(got, "\n")
		assert.NotContains(t, all, "s3cret")
		assert.Equal(t, o.Values, strings.Contains(all, "hunter2"), "values are there if they were asked for")
		assert.Equal(t, o.Values, strings.Contains(all, `a "quoted" \ thing`))
	}
}

func TestDisguisedCaptureNamesNothing(t *testing.T) {
	path, _, err := converted(t, printed, capture.Options{Values: true, Disguise: capture.NewDisguise([]byte("k"), ":")})
	require.NoError(t, err)
	got, r := texts(t, path)
	all := strings.Join(got, "\n")
	for _, text := range []string{"hunter2", "field", "quoted", "user:1"} {
		assert.NotContains(t, all, text)
	}
	assert.Regexp(t, `^1/0 SET user:\d .{7} EX 60$`, got[0])
	assert.True(t, r.Header.Anonymised)
}

func TestMemtiersFileBecomesCalls(t *testing.T) {
	path, _, err := converted(t, `[ proxy49 ] 1764031576.604009 [0 172.16.10.147:51682] "SET" "key1" "value1"
[ proxy47 ] 1764031576.603223 [0 172.16.10.147:51682] "GET" "key1"
`, capture.Options{})
	require.NoError(t, err)
	got, _ := texts(t, path)
	assert.Equal(t, []string{"1/0 SET key1 [6]", "2/0 GET key1"}, got, "a connection of another proxy is another one")
}

func TestSampleHasWholeConnections(t *testing.T) {
	log := strings.Builder{}
	for i := range 10_000 {
		fmt.Fprintf(&log, "17000000%02d.000000 [0 10.0.0.1:%d] \"GET\" \"k%d\"\n", i/1000, 1000+i%500, i)
	}
	path, tally, err := converted(t, log.String(), capture.Options{Sample: 10})
	require.NoError(t, err)
	got, r := texts(t, path)
	assert.Equal(t, 10, r.Header.Sample)
	assert.EqualValues(t, 20*tally.Connections, len(got), "each has all of its 20 calls")
	assert.EqualValues(t, 10_000, int64(len(got))+tally.Left[capture.LeftSample])
	assert.Positive(t, tally.Connections)
	assert.Less(t, tally.Connections, int64(150))
}

func TestBadLogsAreRefusedWithTheirPlace(t *testing.T) {
	line := `1700000000.000100 [0 127.0.0.1:5001] "GET" "k"` + "\n"
	aof := "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n"
	for name, tt := range map[string]struct{ log, want string }{
		"empty":                 {"", "has no calls in it"},
		"prose":                 {"hello there\n", "line 1: this is no line of MONITOR"},
		"a foreign line":        {line + "password=s3cret\n" + line, "line 2: this is no line of MONITOR"},
		"cut within":            {line + line[:30] + "\n" + line, "line 2: this is no line of MONITOR"},
		"cut within a text":     {line + line[:len(line)-2] + "\n" + line, "line 2: the line is cut short"},
		"an AOF behind":         {line + aof, "line 2: this is no line of MONITOR"},
		"lines behind an AOF":   {aof + line, "call 3: this is no call of an AOF"},
		"an AOF that lies":      {aof + "*1\r\n$3\r\nDELETE\r\n", "call 3: this is no call of an AOF"},
		"an AOF of no size":     {aof + "*9999999999\r\n", "call 3: this is no call of an AOF"},
		"a snapshot":            {"REDIS0011\xfa\x09", "it begins with a snapshot (RDB), behind which the calls cannot be found"},
		"only the cut line":     {line[:20], "line 1: this is no line of MONITOR"},
		"only the cut AOF call": {"*2\r\n$3\r\nDEL\r\n$5\r\nab", "call 1: it is cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			path, _, err := converted(t, tt.log, capture.Options{})
			require.Error(t, err)
			assert.True(t, strings.HasSuffix(err.Error(), tt.want), err.Error())
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			assert.NotContains(t, err.Error(), "s3cret")
			assert.NoFileExists(t, path, "nothing half-written")
		})
	}
}

func TestLogThatEndsInTheMiddleOfACallIsRead(t *testing.T) {
	line := `1700000000.000100 [0 127.0.0.1:5001] "GET" "k"` + "\n"
	aof := "*2\r\n$6\r\nSELECT\r\n$1\r\n4\r\n*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n"
	for log, want := range map[string]string{
		line + line[:40]:                  "line 2 is cut short, and was left out",
		aof + "*2\r\n$3\r\nDEL\r\n$5\r\n": "call 3 is cut short, and was left out",
		aof + "*2":                        "call 3 is cut short, and was left out",
	} {
		path, tally, err := converted(t, log, capture.Options{})
		require.NoError(t, err)
		got, _ := texts(t, path)
		assert.Len(t, got, 1)
		assert.Equal(t, []string{want}, tally.Notes)
		assert.EqualValues(t, 1, tally.Left[capture.LeftCut])
	}
}

// What a real server writes: the folder of an AOF of several parts.
func TestFolderOfAnAOF(t *testing.T) {
	for stamped, timing := range map[string]capture.Timing{"no": capture.Unknown, "yes": capture.Seconds} {
		t.Run("timestamps="+stamped, func(t *testing.T) {
			c := client(t, labtest.Redis(t, "--appendonly", "yes", "--appendfsync", "always", "--aof-timestamp-enabled", stamped))
			ctx := t.Context()
			require.NoError(t, c.Set(ctx, "before", "x", 0).Err())
			require.NoError(t, c.BgRewriteAOF(ctx).Err()) // now that is in a snapshot
			require.Eventually(t, func() bool {
				return strings.Contains(c.Info(ctx, "persistence").Val(), "aof_rewrite_in_progress:0") && strings.Contains(c.Info(ctx, "persistence").Val(), "aof_rewrite_scheduled:0")
			}, time.Minute, 10*time.Millisecond)
			require.NoError(t, c.Set(ctx, "a", "hunter2", time.Hour).Err())
			pipe := c.TxPipeline()
			pipe.HSet(ctx, "h", "field", "hunter3")
			pipe.Incr(ctx, "n")
			_, err := pipe.Exec(ctx)
			require.NoError(t, err)
			require.NoError(t, c.Eval(ctx, "redis.call('SELECT', 5) return redis.call('SET', KEYS[1], ARGV[1])", []string{"s"}, "hunter4").Err())
			if stamped == "yes" { // there is no time in the second in which an AOF was begun
				require.Eventually(t, func() bool {
					return c.Incr(ctx, "n").Err() == nil && strings.Contains(incremental(c), "#TS:")
				}, time.Minute, 10*time.Millisecond)
			}
			dir := filepath.Join(c.ConfigGet(ctx, "dir").Val()["dir"], "appendonlydir")

			path := filepath.Join(t.TempDir(), "x.capture")
			_, err = Convert(ctx, dir, path, capture.Options{})
			require.NoError(t, err)
			got, r := texts(t, path)
			require.Greater(t, len(got), 5)
			assert.Regexp(t, `^1/0 SET a \[7\] PXAT \d+$`, got[0])
			assert.Equal(t, []string{"1/0 MULTI", "1/0 HSET h <5> [7]", "1/0 INCR n", "1/0 EXEC"}, got[1:5])
			assert.Contains(t, got, "1/5 SET s [7]")
			assert.NotContains(t, strings.Join(got, "\n"), "hunter")
			assert.Equal(t, timing, r.Header.Timing)
			assert.Equal(t, stamped == "yes", time.Since(r.Header.Started) < time.Hour)
			assert.Len(t, r.Header.Notes, 1)
			assert.Regexp(t, `base\.rdb was skipped: it is what was there before`, r.Header.Notes[0])

			_, err = Convert(ctx, dir, filepath.Join(t.TempDir(), "y.capture"), capture.Options{Sample: 10})
			assert.ErrorContains(t, err, "does not say which connection")
		})
	}
}

// incremental is what the last part of a server's AOF holds.
func incremental(c *goredis.Client) string {
	parts, _ := filepath.Glob(filepath.Join(c.ConfigGet(context.Background(), "dir").Val()["dir"], "appendonlydir", "*.incr.aof"))
	if len(parts) != 1 {
		return ""
	}
	data, _ := os.ReadFile(parts[0]) // it says nothing then
	return string(data)
}

func TestManifestThatIsNone(t *testing.T) {
	for text, want := range map[string]string{
		"file ../../secret seq 1 type i\n": "line 1: this is no line of a manifest",
		"what is this\n":                   "line 1: this is no line of a manifest",
		"file a.base.rdb seq 1 type b\n":   "names no file with calls",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.manifest"), []byte(text), 0o600))
		_, err := Convert(t.Context(), dir, filepath.Join(dir, "x.capture"), capture.Options{})
		require.Error(t, err)
		assert.True(t, strings.HasSuffix(err.Error(), want), err.Error())
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

func TestWhatAReplayLeavesOutIsSaid(t *testing.T) {
	calls := map[string]string{
		`"GET" "k"`: "", `"SET" "k" "v" "EX" "5"`: "", `"ZADD" "k" "1" "m"`: "", `"MULTI"`: "", `"BLPOP" "k" "0"`: ofWaiting, `"WATCH" "k"`: ofConnection, `"XREAD" "BLOCK" "0" "STREAMS" "k" "$"`: ofWaiting, `"XREAD" "STREAMS" "block" "0"`: "", `"RESTORE" "k" "0" "dump"`: ofNoText, `"SORT" "k" "LIMIT" "0" "1"`: "",
		`"FLUSHALL"`: ofServer, `"KEYS" "*"`: ofServer, `"SHUTDOWN"`: ofServer, `"SCAN" "0"`: ofServer, `"RANDOMKEY"`: ofServer,
		`"EVAL" "return 1" "1" "k"`: ofScripts, `"PUBLISH" "c" "m"`: ofChannels, `"SELECT" "1"`: ofConnection, `"MOVE" "k" "1"`: ofOthers,
		`"COPY" "k" "l" "DB" "1"`: ofOthers, `"SORT" "k" "BY" "w_*"`: ofPatterns, `"JSON.GET" "k"`: ofStrangers, `"EXPIRE" "k" "soon"`: ofNoText,
	}
	for call, want := range calls {
		path, _, err := converted(t, "1700000000.000100 [0 127.0.0.1:5001] "+call+"\n", capture.Options{})
		require.NoError(t, err)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		r, err := capture.NewReader("x", bytes.NewReader(data))
		require.NoError(t, err)
		var c capture.Call
		require.NoError(t, r.Next(&c), call)
		assert.Equal(t, want, Mean(&r.Header)(&c).LeftOut, call)
		r.Close()
	}
}

func TestTimesToLiveAreRead(t *testing.T) {
	h := capture.Header{Started: time.Unix(1700000000, 0)}
	for call, want := range map[string]time.Duration{
		"SET k v EX 5": 5 * time.Second, "SET k v NX PX 250": 250 * time.Millisecond, "SETEX k 7 v": 7 * time.Second, "PSETEX k 7 v": 7 * time.Millisecond,
		"EXPIRE k 60": time.Minute, "PEXPIRE k 60": 60 * time.Millisecond, "EXPIREAT k 1700000010": 10 * time.Second, "SET k v PXAT 1700000000500": 500 * time.Millisecond,
		"GETEX k EX 9": 9 * time.Second, "SET k v": 0, "SET EX 5": 0, "EXPIRE k -1": 0, "EXPIREAT k 1": 0, "EXPIRE k 9223372036854775807": 0,
	} {
		c := capture.Call{}
		for _, w := range strings.Fields(call) {
			c.Args = append(c.Args, capture.TextArg(w))
		}
		assert.Equal(t, want, Mean(&h)(&c).TTL, call)
	}
}

func FuzzLog(f *testing.F) {
	f.Add([]byte(printed))
	f.Add([]byte("#TS:1700000000\r\n*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n"))
	f.Add([]byte("*3\r\n$4\r\nEVAL\r\n$1\r\ns\r\n$1\r\n9\r\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		path, _, err := converted(t, string(log), capture.Options{})
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
			assert.NoFileExists(t, path)
			return
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		r, err := capture.NewReader("x", bytes.NewReader(data))
		require.NoError(t, err)
		defer r.Close()
		_, err = capture.Summarize(r, Mean(&r.Header))
		require.NoError(t, err, "what was written is read, and understood")
	})
}

// quote writes a text as Redis does.
func quote(text []byte) string {
	b := []byte{'"'}
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c < ' ' || c > '~':
			b = append(b, `\x`...)
			if c < 16 {
				b = append(b, '0')
			}
			b = strconv.AppendUint(b, uint64(c), 16)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

func FuzzLine(f *testing.F) {
	f.Add([]byte("GET"), []byte("k\x00\"\\"), "1.2.3.4:5")
	f.Fuzz(func(t *testing.T, name, arg []byte, line string) {
		var p parser
		var c raw
		_ = p.parse([]byte(line), &c) // any error is fine, a panic is not
		require.NoError(t, p.parse([]byte("1700000000.123456 [7 10.0.0.1:80] "+quote(name)+" "+quote(arg)), &c))
		assert.Equal(t, name, append([]byte{}, c.args[0]...))
		assert.Equal(t, arg, append([]byte{}, c.args[1]...))
		assert.Equal(t, 7, c.db)
		assert.Equal(t, int64(1700000000123456), c.at.UnixMicro())
	})
}
