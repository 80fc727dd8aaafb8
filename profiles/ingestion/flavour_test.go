package ingestion

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// ofCoherence is written in the shape of PadoGrid's Coherence flavour, with all keys.
const ofCoherence = `# the Coherence flavour
! differs in its key of logging
coherence-addon.logging.type=log4j2
memberSetSize=5
mapNames=eligibility,profile,Summary
prefix=x
testCount=1
testIntervalInMsec=0
printStatusIntervalInSec=10
eligibility.totalEntryCount=0310
eligibility.payloadSize=0x40
eligibility.batchSize=25
eligibility.threadCount=4
eligibility.testCase= putall 
profile.totalEntryCount=200
profile.threadCount=4
profile.testCase=put
summary.totalEntryCount=120
summary.payloadSize=64
summary.batchSize=30   
summary.threadCount=3
unknown.key=1
`

func TestTheCoherenceFlavour(t *testing.T) {
	for _, compat := range []string{"off", "on"} {
		vs, warnings := withFile(t, given([2]string{"compat", compat}), "c.properties", ofCoherence)
		assert.Contains(t, warnings, "c.properties:22: unknown.key is unknown and has no effect")
		p := design(t, workload.Inputs{Values: vs, Driver: "redis"})
		s := specOf(p)
		require.Len(t, s.maps, 3)
		e, q, m := s.maps[0], s.maps[1], s.maps[2]
		assert.Equal(t, int64(200), e.entries(), "octal")
		assert.Equal(t, 64, e.start.Payload)
		assert.True(t, e.putAll, "blanks around a test case are dropped")
		assert.False(t, q.putAll)
		assert.Equal(t, "summary", m.name)
		assert.Equal(t, []int64{120, 40}, []int64{m.entries(), m.per})
		assert.True(t, m.putAll)
		said := strings.Join(p.Warnings, "\n")
		assert.Contains(t, said, "summary.testCase is not in the file: PadoGrid for Coherence uses getall for it")
		assert.NotContains(t, said, "putall\" are dropped")
		if compat == "on" {
			assert.Equal(t, "getall", m.word, "as the original prints it")
			assert.Equal(t, 1000, m.batch, "blanks after a number mean not set")
		} else {
			assert.Equal(t, "putall", m.word)
			assert.Equal(t, 30, m.batch)
		}
	}
	redis := strings.Replace(ofCoherence, "coherence-addon", "redisson-addon", 1)
	vs, _ := withFile(t, given(), "r.properties", redis)
	_, err := Design(workload.Inputs{Values: vs, Driver: "coherence"})
	require.ErrorContains(t, err, `"Summary" (file r.properties:5) is not one of eligibility, profile`)
}
