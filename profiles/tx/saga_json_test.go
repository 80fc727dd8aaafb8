package tx

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A record and its rows are JSON that says what the saga is, and are read back as it.
func TestSagaAsJSON(t *testing.T) {
	for _, empty := range []bool{true, false} {
		s := &saga{}
		now := time.Now()
		s.reset("g1", 0, 2, now)
		s.empty, s.interval, s.next, s.reason = empty, 10*time.Second, now.Add(10*time.Second), `because of "this"`
		s.steps[0], s.steps[1] = transfer{7, -50}, transfer{8, 50}
		var r struct {
			Gid      string              `json:"gid"`
			Steps    []map[string]string `json:"steps"`
			Payloads []string            `json:"payloads"`
		}
		first := s.appendRecord(nil, true)
		require.NoError(t, json.Unmarshal(first, &r), "%s", first)
		assert.Equal(t, "g1", r.Gid)
		require.Len(t, r.Steps, 2)
		if empty {
			assert.Equal(t, []string{"{}", "{}"}, r.Payloads)
		} else {
			assert.Equal(t, []string{`{"account":7,"amount":-50}`, `{"account":8,"amount":50}`}, r.Payloads)
		}
		var rows []string
		for pos := range s.rows {
			rows = append(rows, string(s.appendRow(nil, pos)))
		}
		got, err := parseSaga(0, string(s.appendRecord(nil, false)), rows)
		require.NoError(t, err)
		assert.Equal(t, s.gid, got.gid)
		assert.Equal(t, s.reason, got.reason)
		assert.Equal(t, s.interval, got.interval)
		assert.True(t, s.next.Equal(got.next))
		assert.Equal(t, empty, got.empty)
		if !empty {
			assert.Equal(t, s.steps, got.steps)
		}
		for i, row := range got.rows {
			assert.Equal(t, s.rows[i].op, row.op)
			assert.Equal(t, prepared, row.status)
		}
	}
}
