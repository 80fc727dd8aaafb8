package group

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/profiletest/sample"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/design"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/northwind"
)

// file is written in the manner of PadoGrid's own, with its habits.
var file = sample.Text("padogrid/group.properties")

func TestFile(t *testing.T) {
	p, err := fromFile(t, file)
	require.NoError(t, err)
	s := specOf(t, p)
	require.Len(t, s.Groups, 3)
	require.Len(t, p.Phases, 2)
	assert.Equal(t, []string{p.Phases[0].Name}, p.Phases[1].After, "steps run one after the other")
	assert.Equal(t, "g1 & g2", s.Groups[0].Together)
	assert.Equal(t, int64(1000), s.Groups[0].Invocations())
	assert.Equal(t, int64(125), s.Groups[0].Per)
	assert.Equal(t, 8, p.Tracks()[0].Start.Threads)
	assert.Equal(t, []string{model.Invocation, "get1", "put1"}, p.Tracks()[1].Ops)
	get := s.Ops["get1"]
	assert.Equal(t, []any{model.KindMap, "map1", model.ActGet, 512, "a", int64(1000)}, []any{get.Kind, get.Target, get.Action, get.Payload, get.Prefix, get.Total})
	assert.Equal(t, 20, s.Ops["publish1"].Batch)
	assert.Equal(t, int64(2), s.TestCount)
	assert.Equal(t, 5*time.Millisecond, s.Interval)
	all := strings.Join(p.Warnings, "\n")
	assert.Contains(t, all, "g1: 3 of 1003 invocations left out")
	assert.Contains(t, all, "f.properties:12: g2.operations run as listed; PadoGrid would run them in the order put1,get1")
	assert.Contains(t, all, "publishes batchSize messages in a pipeline; PadoGrid would publish one")
	assert.Equal(t, "t-subscribers", p.Tracks()[3].Name)
	assert.Equal(t, -1, p.Tracks()[3].Counted)
}

func TestCompat(t *testing.T) {
	p, err := fromFile(t, file, "compat", "on")
	require.NoError(t, err)
	s := specOf(t, p)
	assert.Equal(t, "put1", s.Groups[1].Ops[0].Name, "the order of a hash set")
	assert.Equal(t, model.ActPublish, s.Ops["publish1"].Action)
	assert.NotNil(t, s.Ops["get1"].Shared)
}

// base is a small file to which cases add lines.
const base = "groupNames=g1\ng1.operations=op1\ng1.threadCount=2\ng1.totalInvocationCount=10\nop1.map=map1\nop1.testCase=put\n"

func TestWhatTheOriginalIgnoresOrMisreads(t *testing.T) {
	for _, c := range []struct {
		name, lines, compat string
		check               func(t *testing.T, s *model.Spec)
		warning, err        string
	}{
		{"set is a put without the old value", "op1.testCase=set", "off", func(t *testing.T, s *model.Spec) { assert.Equal(t, model.ActSet, s.Ops["op1"].Action) }, "f.properties:7: op1.testCase=set does fastput; PadoGrid would do putall", ""},
		{"set is putall to the original", "op1.testCase=set", "on", func(t *testing.T, s *model.Spec) { assert.Equal(t, model.ActPutAll, s.Ops["op1"].Action) }, "does putall, as PadoGrid does", ""},
		{"an unknown test case", "op1.testCase=putt", "off", nil, "", `f.properties:7: op1.testCase: "putt" is not a test case of a map`},
		{"an unknown test case is putall to the original", "op1.testCase=putt", "on", func(t *testing.T, s *model.Spec) { assert.Equal(t, model.ActPutAll, s.Ops["op1"].Action) }, "", ""},
		{"blanks after a number", "op1.payloadSize=100  ", "off", func(t *testing.T, s *model.Spec) { assert.Equal(t, 100, s.Ops["op1"].Payload) }, "blanks around \"100\" are dropped", ""},
		{"blanks after a number mean not set to the original", "op1.payloadSize=100  ", "on", func(t *testing.T, s *model.Spec) { assert.Equal(t, 1024, s.Ops["op1"].Payload) }, "", ""},
		{"a number as people write it", "op1.totalEntryCount=1_000", "off", func(t *testing.T, s *model.Spec) { assert.Equal(t, int64(1000), s.Ops["op1"].Total) }, `"1_000" is read as 1000; PadoGrid would use its default`, ""},
		{"no number", "op1.payloadSize=many", "off", nil, "", `f.properties:7: op1.payloadSize: "many" is not a whole number`},
		{"take takes", "g1.operations=q1,op1\nq1.queue=q\nq1.testCase=take", "off", func(t *testing.T, s *model.Spec) { assert.Equal(t, model.ActTake, s.Ops["q1"].Action) }, "q1.testCase=take does take; PadoGrid would do offer", ""},
		{"take offers in the original", "g1.operations=q1,op1\nq1.queue=q\nq1.testCase=take", "on", func(t *testing.T, s *model.Spec) { assert.Equal(t, model.ActOffer, s.Ops["q1"].Action) }, "", ""},
		{"a chain of references", "g1.operations=op1,c\nb.ref=op1\nb.batchSize=7\nc.ref=b\nc.testCase=putall", "off", func(t *testing.T, s *model.Spec) {
			assert.Equal(t, 7, s.Ops["c"].Batch)
			assert.Equal(t, "map1", s.Ops["c"].Target)
		}, "b.batchSize=7 also applies to c, through its ref; PadoGrid would use \"100\"", ""},
		{"a reference to an operation that no group lists is ignored by the original", "g1.operations=op1,c\nb.batchSize=7\nb.map=x\nc.ref=b\nc.testCase=putall", "on", func(t *testing.T, s *model.Spec) { assert.Equal(t, 100, s.Ops["c"].Batch) }, "", ""},
		{"references in a circle", "op1.ref=b\nb.ref=op1\nb.map=m", "off", nil, "", "the references form a circle: op1 → b → op1"},
		{"a reference to nothing", "op1.ref=nobody", "off", nil, "", `f.properties:7: op1.ref: there is no operation "nobody"`},
		{"a missing group", "groupNames=g1,g7", "off", nil, "", `f.properties:7: groupNames: there is no group "g7"`},
		{"a missing operation", "g1.operations=op1,op7", "off", func(t *testing.T, s *model.Spec) { assert.Equal(t, "map1", s.Ops["op7"].Target) }, "f.properties:7: g1.operations: op7 is listed but not defined, so it gets PadoGrid's defaults: putall on map1", ""},
		{"a missing operation is all defaults to the original", "g1.operations=op1,op7", "on", func(t *testing.T, s *model.Spec) { assert.Equal(t, "map1", s.Ops["op7"].Target) }, "", ""},
		{"an operation listed under another name", "g1.operations=op2", "off", func(t *testing.T, s *model.Spec) {
			o := s.Ops["op2"]
			assert.Equal(t, []any{model.KindMap, "map1", model.ActPutAll, 1024, 100, int64(10000), "k", int64(1)}, []any{o.Kind, o.Target, o.Action, o.Payload, o.Batch, o.Total, o.Prefix, o.Start})
		}, "was op1 meant?", ""},
		{"lines that nothing uses", "spare.list=l\nspare.testCase=put\nspare.batchSize=many\nspare.ref=nobody", "off", func(t *testing.T, s *model.Spec) { assert.Nil(t, s.Ops["spare"]) },
			"f.properties:7: operation spare is defined, but no group of groupNames lists it", ""},
		{"an unknown structure", "g1.operations=op2\nop2.rmap=m\nop2.testCase=put", "off", nil, "", "f.properties:8: op2.rmap: there is no such structure here"},
		{"an unknown key", "op1.batchSze=5", "off", func(*testing.T, *model.Spec) {}, "op1.batchSze is unknown and has no effect; did you mean op1.batchSize?", ""},
		{"a nameless group", "groupNames=g1&&g1", "off", func(t *testing.T, s *model.Spec) {
			assert.Equal(t, "g1#2", s.Groups[1].Track)
		}, "has a group without a name", ""},
		{"a pause of nothing", "g1.operations=op1,s\ns.sleep=0", "off", func(t *testing.T, s *model.Spec) { assert.Len(t, s.Groups[0].Ops, 1) }, "pauses for 0 ms", ""},
		{"an unknown factory", "op1.factory.class=org.x.NobodyFactoryImpl", "off", nil, "", `there is no data object factory "org.x.NobodyFactoryImpl"`},
		{"children in a circle", "op1.factory.class=CustomerFactoryImpl\nop1.factory.er.operation=b\nb.map=o\nb.factory.class=OrderFactoryImpl\nb.factory.er.operation=op1", "off", nil, "", "the children form a circle: op1 → b → op1"},
		{"a child that is missing", "op1.factory.class=CustomerFactoryImpl\nop1.factory.er.operation=b", "off", nil, "", `there is no operation "b"`},
		{"Coherence by its factory", "op1.factory.class=org.oracle.coherence.addon.demo.nw.impl.OrderFactoryImpl", "off", func(t *testing.T, s *model.Spec) {
			assert.Equal(t, model.FlavourCoherence, s.Flavour)
			assert.True(t, s.Ops["op1"].Factory.Coherence)
		}, "never find them again", ""},
		{"Coherence by its logging", "coherence-addon.logging.type=log4j2\ng1.operations=op1,op1\nop1.map= map2 ", "on", func(t *testing.T, s *model.Spec) {
			assert.Equal(t, model.FlavourCoherence, s.Flavour)
			assert.Equal(t, "map2", s.Ops["op1"].Target, "blanks are dropped")
			assert.Len(t, s.Groups[0].Ops, 2, "listed twice, done twice")
		}, "", ""},
		{"an unknown test case is getall to Coherence", "coherence-addon.logging.type=log4j2\nop1.testCase=putt", "on", func(t *testing.T, s *model.Spec) { assert.Equal(t, model.ActGetAll, s.Ops["op1"].Action) }, "does getall, as PadoGrid does", ""},
		{"a queue of Coherence", "coherence-addon.logging.type=log4j2\ng1.operations=q1,op1\nq1.queue=q\nq1.testCase=offer", "off", func(t *testing.T, s *model.Spec) { assert.Equal(t, model.ActOffer, s.Ops["q1"].Action) }, "PadoGrid for Coherence has maps only", ""},
		{"a queue is putall on map1 to Coherence", "coherence-addon.logging.type=log4j2\ng1.operations=q1,op1\nq1.queue=q", "on", func(t *testing.T, s *model.Spec) {
			assert.Equal(t, "map1", s.Ops["q1"].Target)
			assert.Equal(t, model.ActPutAll, s.Ops["q1"].Action)
		}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := fromFile(t, base+c.lines+"\n", "compat", c.compat)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
				return
			}
			require.NoError(t, err)
			if c.check != nil {
				c.check(t, specOf(t, p))
			}
			assert.Contains(t, strings.Join(p.Warnings, "\n"), c.warning)
		})
	}
}

func TestDocumentedKeys(t *testing.T) {
	customers, _ := northwind.EntityOfClass("customer")
	f := northwind.Factory{Entity: customers, Prefix: "000000-", Length: 11, Zeros: true}
	for n, want := range map[int64]string{0: "000000-0000", 42: "000000-0042", 12345: "000000-12345"} {
		assert.Equal(t, want, string(f.Key(nil, n)))
	}
	f.Prefix = "k"
	assert.Equal(t, "k0000000007", string(f.Key(nil, 7)))
	f.Length = 0
	assert.Equal(t, "7", string(f.Key(nil, 7)))
}

func TestChildrenAreSpread(t *testing.T) {
	for spread, mean := range map[string][2]float64{model.ChildrenFixed: {5, 5}, model.ChildrenUniform: {2.8, 3.2}, model.ChildrenGeometric: {1.8, 2.1}, model.ChildrenZipf: {2, 2.4}} {
		r := model.Relation{Least: 1, Most: 5, Spread: spread}
		sum := int64(0)
		for n := range int64(4000) {
			k := r.Count(1, "o", n)
			require.True(t, k >= 1 && k <= 5)
			require.Equal(t, k, r.Count(1, "o", n))
			sum += k
		}
		got := float64(sum) / 4000
		assert.True(t, got >= mean[0] && got <= mean[1], "%s: %v", spread, got)
	}
}

func TestKnobsSetEveryGroup(t *testing.T) {
	p, err := fromFile(t, file, "threads", "3", "rate", "50")
	require.NoError(t, err)
	for _, tr := range p.Tracks()[:3] {
		assert.Equal(t, 3, tr.Start.Threads)
		assert.InDelta(t, 50, tr.Start.Rate, 0)
	}
	receivers := p.Tracks()[3]
	assert.Equal(t, 1, receivers.Start.Threads)
	k, ok := p.Knob("threads")
	require.True(t, ok)
	assert.False(t, k.Sum)
	assert.Equal(t, "receivers take what is published", p.Idle(3, k), "callers are no receivers")
	k, ok = p.Knob("subscribers")
	require.True(t, ok)
	assert.Equal(t, 4, k.Set(receivers.Start, 4).Threads)
	assert.Equal(t, 3, k.Set(p.Tracks()[0].Start, 4).Threads)
}

func TestCountAndDuration(t *testing.T) {
	vs := given()
	from, _, err := design.Read([]workload.File{{Path: "f.properties", Data: []byte(file)}})
	require.NoError(t, err)
	for _, v := range from {
		vs.Set(v)
	}
	p, err := plan(workload.Inputs{Values: vs, Count: 1000})
	require.NoError(t, err)
	assert.Equal(t, int64(1000), p.Tracks()[0].Total+p.Tracks()[1].Total+p.Tracks()[3-1].Total)
	p, err = plan(workload.Inputs{Values: vs, Duration: 10 * time.Second})
	require.NoError(t, err)
	assert.True(t, specOf(t, p).Wrap)
	assert.Equal(t, 5*time.Second, p.Phases[0].Duration, "the steps share the time")
}

func TestPresetsOnMemoryAndNull(t *testing.T) {
	for _, target := range []string{"memory:", "null:"} {
		eachPreset(t, []string{"group", "queue", "list", "topic", "mcache", "structures", "factory-er"}, func(t *testing.T, name string) {
			o, _ := runs(t, target, nil, "preset", name)
			assert.Empty(t, o.Run.Errors)
			assert.NotEqual(t, workload.Failed, o.Run.Verification.State, "%+v", o.Run.Verification)
			for _, op := range o.Run.Operations {
				assert.Positive(t, op.Count+op.Errors, "%s.%s", op.Track, op.Op)
			}
		})
	}
}
