package values_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// What a line declares is listed, read into its field and shown, in the order of the
// lines; what is wrong is named with its range.
func TestFieldsAreListedAndReadInOneLine(t *testing.T) {
	var s struct {
		n, size      int
		many, bytes  int64
		share        float64
		wait, pause  time.Duration
		every        time.Duration
		on, full     bool
		word, to, by string
	}
	var own string
	p := &values.Fields{}
	p.Int(&s.n, "n", 2, 1, 99, "branches", "how many")
	p.Int64(&s.many, "many", 1_000_000, 0, 1e12, "", "a lot")
	p.Size(&s.size, "size", "1MiB", 0, 1<<30, "how large")
	p.Size64(&s.bytes, "bytes", "512", 0, 1<<40, "how large in all")
	p.Float(&s.share, "share", 0.25, 0, 1, "", "what part")
	p.Duration(&s.wait, "wait", "100ms", "how long")
	p.Millis(&s.pause, "pause", 0, 1000, "how long between")
	p.Switch(&s.on, "on", true, "whether")
	p.Choice(&s.word, "word", "b", []string{"a", "b"}, "which")
	p.Is(&s.full, "full", "verify", []string{"full", "off"}, "whether in full")
	p.Text(&s.to, "to", "x", "a text")
	p.Target(&s.by, "by", "direct", "a URL")
	p.Status("how often it said how far it was")
	p.ResultsDir("where its results went")
	p.Period(&s.every, "every", "3s", "how often")
	p.Own(workload.Param{Name: "own", Kind: workload.List, Default: "c"}, func(r *values.Reader, q workload.Param) { own = r.Pick(q, q.Name).Text })

	all := p.Params()
	require.Len(t, all, 16)
	assert.Equal(t, workload.Param{Name: "n", Kind: workload.Integer, Default: "2", Min: 1, Max: 99, Unit: "branches", Help: "how many"}, all[0])
	assert.Equal(t, workload.Param{Name: "pause", Kind: workload.Integer, Default: "0", Max: 1000, Unit: "ms", Help: "how long between"}, all[6])
	assert.Equal(t, workload.Param{Name: "verify", Kind: workload.Choice, Default: "full", Choices: []string{"full", "off"}, Help: "whether in full"}, all[9])

	vs := workload.Values{}
	for name, text := range map[string]string{"n": "7", "word": "A", "verify": "off", "share": "2", "pause": "250", "results.dir": "out", "every": "0s"} {
		vs.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--set"})
	}
	r := values.New(vs)
	p.Read(r)
	assert.Equal(t, 7, s.n)
	assert.Equal(t, int64(1_000_000), s.many)
	assert.Equal(t, 1<<20, s.size)
	assert.Equal(t, int64(512), s.bytes)
	assert.Equal(t, 100*time.Millisecond, s.wait)
	assert.Equal(t, 250*time.Millisecond, s.pause)
	assert.True(t, s.on)
	assert.Equal(t, "a", s.word)
	assert.False(t, s.full)
	assert.Equal(t, "x direct c", s.to+" "+s.by+" "+own)
	var shown []string
	for _, v := range r.Shown {
		shown = append(shown, v.Name+"="+v.Text+" "+v.Origin.String())
	}
	assert.Equal(t, []string{
		"n=7 flag", "many=1000000 default", "size=1MiB default", "bytes=512 default", "share=0 flag", "wait=100ms default", "pause=250 flag", "on=on default",
		"word=a flag", "verify=off flag", "to=x default", "by=direct default",
		"printStatusIntervalInSec=1000 default", "results.dir=out flag", "every=0s flag",
	}, shown)
	assert.Equal(t, []string{"results.dir=out has no effect: --out says where documents go"}, r.Warnings)
	err := r.Problems.Err()
	require.EqualError(t, err, "share: \"2\" (flag --set) is not in 0..1\nevery: must be more than 0")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
