package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Records are read in the order of their keys, without the lease among them; one under a
// key that is not its own is named.
func TestRecordsAreReadByTheirKeys(t *testing.T) {
	texts := map[string]string{
		"b": `{"name":"b"}`, "a:{}": `{"name":"a","grouped":true,"run":"r1"}`, "a": `{"name":"a"}`, store.LeaseKey: `{"run":"r1"}`,
	}
	got, wrong := store.AppendRecords(nil, "ns", texts, store.RecordKey)
	assert.Empty(t, wrong)
	a, g, b := store.Space{Namespace: "ns", Name: "a"}, store.Space{Namespace: "ns", Name: "a", Grouped: true}, store.Space{Namespace: "ns", Name: "b"}
	assert.Equal(t, []store.Made{{Space: a}, {Space: g, Run: "r1"}, {Space: b}}, got)

	texts["c"] = `{"name":"d"}`
	_, wrong = store.AppendRecords(nil, "ns", texts, store.RecordKey)
	assert.Equal(t, "c", wrong)
	err := store.NotOurs(wrong, "record")
	require.EqualError(t, err, "c is not a record of perfbench")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
}
