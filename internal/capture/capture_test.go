package capture_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
)

var header = capture.Header{Store: "redis", Source: "redis://localhost", How: "MONITOR", Started: time.Unix(1000, 0).UTC(), Timing: capture.Exact}

func calls() []capture.Call {
	return []capture.Call{
		{At: 5 * time.Microsecond, Conn: 1, Args: []capture.Arg{capture.TextArg("PING")}},
		{At: time.Second, Conn: 2, DB: 3, Args: []capture.Arg{capture.TextArg("SET"), capture.TextArg("a\"b\\c\n\x01é"), {Kind: capture.Size, Size: 1024}, capture.TextArg("EX"), capture.TextArg("60")}, Keys: []int{1}},
		{At: time.Second, Conn: 2, Args: []capture.Arg{capture.TextArg("SADD"), capture.TextArg("\xff\x00"), {Kind: capture.Name, ID: 1 << 63, Size: 7}}, Keys: []int{1}},
		{At: time.Second, Conn: 2, Args: []capture.Arg{capture.TextArg("SELECT"), {Kind: capture.Null}}, Outcome: capture.Failed},
		{At: time.Second, Conn: 2, Args: []capture.Arg{capture.TextArg("SELECT")}, Outcome: capture.Succeeded},
	}
}

func create(t *testing.T, max int64) (*capture.Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.capture")
	w, err := capture.Create(path, header, max)
	require.NoError(t, err)
	return w, path
}

// all reads a file to its end.
func all(name string, data []byte) (out []capture.Call, r *capture.Reader, err error) {
	r, err = capture.NewReader(name, bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	var c capture.Call
	for {
		if err = r.Next(&c); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, r, err
		}
		out = append(out, c.Clone())
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	w, path := create(t, 0)
	for _, c := range calls() {
		require.NoError(t, w.Add(&c))
	}
	w.Leave("for a reason", 7)
	w.Tally.Notes = []string{"a note"}
	require.NoError(t, w.Close("the time was up"))
	got, r, err := all("x", read(t, path))
	require.NoError(t, err)
	want := calls()
	for i := range want {
		want[i].Keys = append([]int{}, want[i].Keys...)
		assert.Equal(t, want[i].Args, got[i].Args)
		assert.ElementsMatch(t, want[i].Keys, got[i].Keys)
		assert.Equal(t, []any{want[i].At, want[i].Conn, want[i].DB, want[i].Outcome}, []any{got[i].At, got[i].Conn, got[i].DB, got[i].Outcome})
	}
	assert.Len(t, got, 5)
	assert.Equal(t, header, r.Header)
	assert.Equal(t, capture.Tally{Calls: 5, Left: map[string]int64{"for a reason": 7}, Ended: "the time was up", Notes: []string{"a note"}}, r.Tally)
	assert.Zero(t, r.Cut())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "keys are not for everybody")
}

// A process that is killed leaves a file with everything that was flushed.
func TestFlushedCallsSurvive(t *testing.T) {
	w, path := create(t, 0)
	c := calls()[1]
	for range 10 {
		require.NoError(t, w.Add(&c))
	}
	require.NoError(t, w.Flush())
	require.NoError(t, w.Add(&c)) // lost
	got, r, err := all("x", read(t, path))
	require.NoError(t, err)
	assert.Len(t, got, 10)
	assert.EqualValues(t, 10, r.Tally.Calls)
	assert.Empty(t, r.Tally.Ended, "nobody has ended it")
	assert.Zero(t, r.Cut(), "frames are written whole")
	require.NoError(t, w.Discard())
	assert.NoFileExists(t, path)
}

func TestFileIsCutShortAnywhere(t *testing.T) {
	w, path := create(t, 0)
	for i := range 2000 {
		c := calls()[1]
		c.Args[1] = capture.TextArg(fmt.Sprintf("key:%d", i*i*i))
		require.NoError(t, w.Add(&c))
		if i%500 == 499 {
			require.NoError(t, w.Flush())
		}
	}
	require.NoError(t, w.Close(""))
	data := read(t, path)
	last, seen := 0, 0
	for n := 0; n <= len(data); n += 97 {
		got, r, err := all("x.capture", data[:n])
		if err != nil {
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			assert.Regexp(t, `^x\.capture(: line 1: the file ends before its header does| is no capture)$`, err.Error())
			continue
		}
		assert.GreaterOrEqual(t, len(got), last, "what was there is read")
		last = len(got)
		if cut := r.Cut(); cut > 0 {
			seen++
			assert.GreaterOrEqual(t, cut, len(got))
		}
	}
	assert.Greater(t, last, 1400)
	assert.Positive(t, seen)
}

// packed is text as a frame.
func packed(t *testing.T, text string) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return enc.EncodeAll([]byte(text), nil)
}

func TestBadFilesAreRefusedInOneSentence(t *testing.T) {
	top := `{"perfbench_capture":1,"header":{"store":"redis","started":"2026-01-01T00:00:00Z"}}` + "\n"
	ok := `{"t":1,"c":1,"a":["PING"]}` + "\n"
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"empty":              {nil, "x is no capture"},
		"text":               {[]byte("operations: {}\n"), "x is no capture"},
		"other JSON":         {packed(t, `{"a":1}`+"\n"), "x: line 1: this is not the header of a capture"},
		"a later format":     {packed(t, strings.Replace(top, ":1", ":2", 1)), "x: line 1: the capture has format 2, and this program reads format 1"},
		"two captures":       {append(packed(t, top+ok), packed(t, top+ok)...), "x: line 3: another capture begins here"},
		"foreign line":       {packed(t, top+ok+"GET x\n"+ok), "x: line 3: this is no call"},
		"no command":         {packed(t, top+`{"t":1,"c":1,"a":[]}`+"\n"), "x: line 2: it has no command"},
		"command by size":    {packed(t, top+`{"t":1,"c":1,"a":[3]}`+"\n"), "x: line 2: it has no command"},
		"no size found":      {packed(t, top+`{"t":1,"c":1,"a":["GET","k"],"k":[1],"h":-2}`+"\n"), "x: line 2: h is no size of what was found"},
		"no outcome":         {packed(t, top+`{"t":1,"c":1,"a":["GET","k"],"f":2}`+"\n"), "x: line 2: f is neither 0 nor 1"},
		"no time":            {packed(t, top+`{"t":-1,"c":1,"a":["GET"]}`+"\n"), "x: line 2: t is no time"},
		"no connection":      {packed(t, top+`{"t":1,"a":["GET"]}`+"\n"), "x: line 2: c is no number of a connection"},
		"no key":             {packed(t, top+`{"t":1,"c":1,"a":["GET",3],"k":[1]}`+"\n"), "x: line 2: argument 1 is no key"},
		"key that is none":   {packed(t, top+`{"t":1,"c":1,"a":["GET","x"],"k":[2]}`+"\n"), "x: line 2: argument 2 is no key"},
		"negative size":      {packed(t, top+`{"t":1,"c":1,"a":["GET",-3]}`+"\n"), "x: line 2: this is no call"},
		"something behind":   {append(packed(t, top+ok), "and this"...), "x: line 3: what follows is damaged"},
		"a line without end": {packed(t, top+`{"a":["`+strings.Repeat("x", capture.MaxLine+2)+"\n"), "x: line 2: it has more than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := all("x", tt.data)
			require.Error(t, err)
			assert.Equal(t, tt.want, err.Error())
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		})
	}
}

func TestCaptureHasNoMoreBytesThanItMay(t *testing.T) {
	w, path := create(t, 2000)
	c := calls()[1]
	var err error
	n := 0
	for ; err == nil && n < 10_000; n++ {
		c.Args[1] = capture.TextArg(strings.Repeat(fmt.Sprint(n*7919), 20))
		if err = w.Add(&c); err == nil {
			err = w.Flush()
		}
	}
	require.ErrorIs(t, err, capture.ErrFull)
	require.NoError(t, w.Close("full"))
	got, r, err := all("x", read(t, path))
	require.NoError(t, err)
	assert.Len(t, got, n)
	assert.Equal(t, "full", r.Tally.Ended)
	assert.Less(t, w.Bytes(), int64(3000))
}

func TestLargeCallIsCountedAndLeftOut(t *testing.T) {
	w, path := create(t, 0)
	c := capture.Call{Conn: 1, Args: []capture.Arg{capture.TextArg("DEL")}}
	for range 20 {
		c.Args = append(c.Args, capture.TextArg(strings.Repeat("x", capture.MaxText)))
	}
	require.NoError(t, w.Add(&c))
	require.NoError(t, w.Close(""))
	got, r, err := all("x", read(t, path))
	require.NoError(t, err)
	assert.Empty(t, got)
	assert.EqualValues(t, 1, r.Tally.Left[capture.LeftTooLarge])
}

func TestFileThatIsThereStays(t *testing.T) {
	_, path := create(t, 0)
	before := read(t, path)
	_, err := capture.Create(path, header, 0)
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	assert.Equal(t, before, read(t, path))
}

func TestWhatReadsFoundIsKept(t *testing.T) {
	w, path := create(t, 0)
	want := []capture.Found{{}, {Known: true}, {Known: true, Hit: true, Size: 70}, {Known: true, Hit: true}, {}}
	for _, f := range want {
		require.NoError(t, w.Add(&capture.Call{Conn: 1, Args: []capture.Arg{capture.TextArg("GET"), capture.TextArg("k")}, Keys: []int{1}, Found: f}))
	}
	require.NoError(t, w.Close("over"))
	calls, _, err := all("x", read(t, path))
	require.NoError(t, err)
	var got []capture.Found
	for i := range calls {
		got = append(got, calls[i].Found)
	}
	assert.Equal(t, want, got)
	r, err := capture.NewReader("x", bytes.NewReader(read(t, path)))
	require.NoError(t, err)
	defer r.Close()
	s, err := capture.Summarize(r, func(*capture.Call) capture.Meaning { return capture.Meaning{} })
	require.NoError(t, err)
	assert.EqualValues(t, []int64{5, 3, 2, 70}, []int64{s.Calls, s.Reads, s.Hits, s.FoundSizes.Max})
}

func TestSummaryAddsUp(t *testing.T) {
	w, path := create(t, 0)
	for i := range 1000 {
		c := capture.Call{At: time.Duration(i) * 10 * time.Millisecond, Conn: int64(i%4 + 1), Args: []capture.Arg{capture.TextArg("GET"), capture.TextArg(fmt.Sprintf("key:%03d", i%100))}, Keys: []int{1}}
		if i%2 == 0 {
			c.Args[1] = capture.TextArg("key:hot")
		}
		if i%10 == 9 {
			c.Args = append(c.Args, capture.Arg{Kind: capture.Size, Size: 500})
			c.Args[0] = capture.TextArg("SET")
		}
		require.NoError(t, w.Add(&c))
	}
	require.NoError(t, w.Close(""))
	r, err := capture.NewReader("x", bytes.NewReader(read(t, path)))
	require.NoError(t, err)
	defer r.Close()
	s, err := capture.Summarize(r, func(c *capture.Call) capture.Meaning {
		if c.Command() == "SET" {
			return capture.Meaning{TTL: time.Minute, LeftOut: "a reason"}
		}
		return capture.Meaning{}
	})
	require.NoError(t, err)
	assert.EqualValues(t, 1000, s.Calls)
	assert.EqualValues(t, 4, s.Connections)
	assert.EqualValues(t, 51, s.Keys)
	assert.EqualValues(t, 100, s.Peak)
	assert.InDelta(t, 0.5, s.Hottest1Percent, 0.02, "one of 51 keys has half of the calls")
	assert.Equal(t, map[string]int64{"a reason": 100}, s.LeftOut)
	assert.Equal(t, "GET", s.Commands[0].Name)
	assert.InDelta(t, 0.9, s.Commands[0].Share, 1e-9)
	assert.InDelta(t, 500, s.Commands[1].Sizes.P50, 5)
	assert.InDelta(t, 60_000, s.TTLs.P50, 600)
	assert.Equal(t, 9990*time.Millisecond, s.Last)
}

func FuzzReader(f *testing.F) {
	top := `{"perfbench_capture":1,"header":{}}` + "\n"
	enc, _ := zstd.NewWriter(nil)
	for _, text := range []string{top, top + `{"t":1,"c":1,"a":["SET","k",3,{"id":"z","n":1},{"b":"AA=="}],"k":[1]}` + "\n", top + `{"tally":{"calls":1}}` + "\n"} {
		f.Add(enc.EncodeAll([]byte(text), nil), []byte(text))
	}
	f.Fuzz(func(t *testing.T, data, text []byte) {
		for _, d := range [][]byte{data, enc.EncodeAll(text, nil)} {
			got, _, err := all("x", d)
			if err != nil {
				assert.Regexp(t, `^x`, err.Error())
				assert.NotContains(t, err.Error(), "\n")
			}
			for _, c := range got { // what is read can be written
				assert.NotEmpty(t, c.Command())
			}
		}
	})
}
