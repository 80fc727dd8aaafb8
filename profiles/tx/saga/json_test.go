package saga

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// A record and its rows are JSON that says what the saga is, and are read back as it.
func TestSagaAsJSON(t *testing.T) {
	for _, empty := range []bool{true, false} {
		s := &model.Saga{}
		now := time.Now()
		s.Reset("g1", 0, 2, now)
		s.Empty, s.Interval, s.Next, s.Reason = empty, 10*time.Second, now.Add(10*time.Second), `because of "this"`
		s.Steps[0], s.Steps[1] = model.Transfer{Account: 7, Amount: -50}, model.Transfer{Account: 8, Amount: 50}
		var r struct {
			Gid      string              `json:"gid"`
			Steps    []map[string]string `json:"steps"`
			Payloads []string            `json:"payloads"`
		}
		first := s.AppendRecord(nil, true)
		require.NoError(t, json.Unmarshal(first, &r), "%s", first)
		assert.Equal(t, "g1", r.Gid)
		require.Len(t, r.Steps, 2)
		if empty {
			assert.Equal(t, []string{"{}", "{}"}, r.Payloads)
		} else {
			assert.Equal(t, []string{`{"account":7,"amount":-50}`, `{"account":8,"amount":50}`}, r.Payloads)
		}
		var rows []string
		for pos := range s.Rows {
			rows = append(rows, string(s.AppendRow(nil, pos)))
		}
		got, err := model.ParseSaga(0, string(s.AppendRecord(nil, false)), rows)
		require.NoError(t, err)
		assert.Equal(t, s.Gid, got.Gid)
		assert.Equal(t, s.Reason, got.Reason)
		assert.Equal(t, s.Interval, got.Interval)
		assert.True(t, s.Next.Equal(got.Next))
		assert.Equal(t, empty, got.Empty)
		if !empty {
			assert.Equal(t, s.Steps, got.Steps)
		}
		for i, row := range got.Rows {
			assert.Equal(t, s.Rows[i].Op, row.Op)
			assert.Equal(t, model.Prepared, row.Status)
		}
	}
}
