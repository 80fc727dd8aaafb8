package group

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// Maps, caches with expiry, queues and families of the Coherence flavour on a real
// Coherence; the rest is refused before anything starts.
func TestOnCoherence(t *testing.T) {
	t.Parallel()
	url := labtest.Coherence(t).Patient()
	t.Run("structures", func(t *testing.T) {
		path := write(t, "group.properties", "groupNames=g1&g2,g3\ng1.operations=put1,all1,c1,c2,r1\ng1.threadCount=2\ng1.totalInvocationCount=40\n"+
			"g2.operations=q1,q2,q3\ng2.threadCount=1\ng2.totalInvocationCount=20\ng3.operations=get1,getall1\ng3.threadCount=2\ng3.totalInvocationCount=40\n"+
			"put1.map=/nw/map1\nput1.testCase=put\nput1.totalEntryCount=40\nall1.map=map2\nall1.testCase=putall\nall1.batchSize=5\nall1.totalEntryCount=40\n"+
			"get1.ref=put1\nget1.testCase=get\ngetall1.ref=put1\ngetall1.testCase=getall\ngetall1.batchSize=5\n"+
			"c1.mcache=c\nc1.testCase=putall\nc1.ttl=600000\nc1.totalEntryCount=40\nc2.ref=c1\nc2.testCase=get\nr1.ref=c1\nr1.testCase=remove\n"+
			"q1.queue=q\nq1.testCase=offer\nq2.ref=q1\nq2.testCase=peek\nq3.ref=q1\nq3.testCase=take\n")
		_, f := driven(t, url, []string{path}, "namespace", "structures")
		for _, g := range f.Groups {
			for _, op := range g.Ops {
				assert.Positive(t, op.Calls, op.Op)
			}
		}
	})
	t.Run("defined objects", func(t *testing.T) {
		tier.Full(t, "TestDefinedObjectsInMaps on the other stores")
		fleetInMaps(t, url)
	})
	t.Run("near cache", func(t *testing.T) {
		path := write(t, "g.yaml", "groupNames: g0,g1,g2\ng0: {operations: all1, threadCount: 1, totalInvocationCount: 1}\ng1: {operations: get1, threadCount: 2, totalInvocationCount: 600}\ng2: {operations: 'get1,put1', threadCount: 2, totalInvocationCount: 50}\n"+
			"get1: {map: near, testCase: get, totalEntryCount: 50}\nput1: {map: near, testCase: put, totalEntryCount: 50}\n"+
			"all1: {map: near, testCase: putall, batchSize: 50, totalEntryCount: 50}\n")
		o, f := runs(t, url, []string{path}, "nearCache", "on", "namespace", "near")
		assert.Empty(t, o.Run.Errors)
		require.NotNil(t, f.Near)
		assert.Equal(t, int64(650), f.Near.Hits+f.Near.Misses)
		assert.Greater(t, f.Near.Hits, int64(400), "most reads come from memory")
		assert.Greater(t, f.Near.Improvement, 1.0)
		assert.Contains(t, o.Run.Verification.Summary, "came from memory")
	})
	t.Run("families", func(t *testing.T) {
		tier.Full(t, "TestFamiliesLieTogetherOnACluster")
		_, f := driven(t, url, []string{write(t, "group.properties", "groupNames=g1\ng1.operations=put1\ng1.threadCount=2\ng1.totalInvocationCount=20\n"+
			"put1.map=customers\nput1.testCase=put\nput1.totalEntryCount=20\nput1.factory.class=org.oracle.coherence.addon.demo.nw.impl.CustomerFactoryImpl\n"+
			"put1.factory.er.operation=put2\nput1.factory.er.maxKeys=3\nput1.factory.er.isRandom=false\n"+
			"put2.map=orders\nput2.testCase=put\nput2.factory.class=org.oracle.coherence.addon.demo.nw.impl.OrderFactoryImpl\n")}, "namespace", "families")
		assert.Equal(t, model.FlavourCoherence, f.Flavour)
	})
	for words, hint := range map[string]string{
		"put1.topic=t\nput1.testCase=publish\n": "redis:// has topics",
		"put1.list=l\nput1.testCase=add\n":      "redis:// has every structure",
	} {
		_, err := try(t, url, []string{write(t, "group.properties", "groupNames=g1\ng1.operations=put1\n"+words)}, "namespace", "refused")
		require.Error(t, err, words)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), words)
		assert.Contains(t, fault.HintOf(err), hint)
	}
}
