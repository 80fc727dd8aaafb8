package group

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

func TestMapsOnCassandra(t *testing.T) {
	t.Parallel()
	srv := labtest.Cassandra(t)
	file := "groupNames: 'write,read'\nwrite: {operations: 'p,s,a', threadCount: 2, totalInvocationCount: 40}\nread: {operations: 'g,h,o', threadCount: 2, totalInvocationCount: 40}\n" +
		"p: {map: one, testCase: put, payloadSize: 50}\ns: {map: one, testCase: set, payloadSize: 50}\na: {map: three, testCase: putall, batchSize: 20, totalEntryCount: 200, payloadSize: 50}\n" +
		"g: {map: one, testCase: get, totalEntryCount: 40}\nh: {map: three, testCase: getall, batchSize: 20, totalEntryCount: 200}\n" +
		"o: {map: nw/orders, testCase: getall, batchSize: 10, totalEntryCount: 60, factory.class: order}\n"
	_, f := driven(t, srv.Patient(), []string{write(t, "g.yaml", file)}, "namespace", "groupmaps")
	assert.Equal(t, int64(60), f.Loaded, "what is read and nobody writes")
	for _, g := range f.Groups {
		for _, op := range g.Ops {
			assert.Zero(t, op.Misses, op.Op)
			assert.Equal(t, int64(40), op.Calls, op.Op)
		}
	}
	t.Run("defined objects", func(t *testing.T) {
		tier.Full(t, "TestDefinedObjectsInMaps on the other stores")
		fleetInMaps(t, srv.Patient())
	})
	_, err := try(t, srv.URL(), nil, "preset", "queue", "namespace", "groupqueue")
	require.ErrorContains(t, err, "there is no queue here")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
