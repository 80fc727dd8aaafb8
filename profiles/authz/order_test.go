package authz

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// span is when the first operation of a kind began and the last one ended, over the
// tenants of a phase, in ns since measurement began.
func span(ts []*tenant, kinds ...string) (from, to int64) {
	from = 1 << 62
	for _, t := range ts {
		for _, kind := range kinds {
			for _, k := range t.tallies[kind] {
				if k.count.Load() > 0 {
					from, to = min(from, k.first.Load()), max(to, k.last.Load())
				}
			}
		}
	}
	return from, to
}

// In a real run loads never overlap each other; the next one begins while the phase
// before is checked; the sweep follows the valid checks of its own phase; names
// count down; and all of it stands in the document.
func TestPhasesOverlapInARun(t *testing.T) {
	var s *site
	profile := Profile()
	design := profile.Design
	profile.Design = func(in workload.Inputs) (*workload.Plan, error) {
		p, err := design(in)
		if err == nil {
			s = p.Binder.(*site)
		}
		return p, err
	}
	req := session.Request{Profile: report.Name, Target: "memory:", Out: t.TempDir(), Values: workload.Values{}, Formats: []string{report.FormatID}}
	for name, text := range map[string]string{"runs": "5", "concurrent": "2", "users": "20", "groups": "10", "sweepLimit": "100", "rate": "200", "json": "seed"} {
		req.Values.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag})
	}
	p, err := session.Prepare(t.Context(), session.Env{Profiles: []workload.Profile{profile}, Formats: Formats(), Drivers: drivers.All(), Version: "test"}, req)
	require.NoError(t, err)
	l, err := p.Start(t.Context(), nil)
	require.NoError(t, err)
	<-l.Done()
	o := l.Conclude(t.Context())
	require.NoError(t, o.Err)
	require.Len(t, s.tenants, 3)
	var before int64
	for k, ts := range s.tenants {
		loadFrom, loadTo := span(ts, "users", "groups", "memberships")
		validFrom, validTo := span(ts, "valid")
		sweepFrom, sweepTo := span(ts, "sweep")
		assert.Positive(t, sweepTo-loadFrom)
		assert.GreaterOrEqual(t, loadFrom, before, "loads do not overlap")
		assert.GreaterOrEqual(t, validFrom, loadTo)
		assert.GreaterOrEqual(t, sweepFrom, validTo)
		if k+1 < len(s.tenants) {
			next, _ := span(s.tenants[k+1], "users")
			assert.Less(t, next, sweepTo, "the next load begins beside these checks")
		}
		before = loadTo
	}
	folder, err := rundir.Load(l.Opened.Dir())
	require.NoError(t, err)
	files, err := Formats()[0].Encode(folder)
	require.NoError(t, err)
	var doc map[string]struct {
		Phase []string `json:"phase"`
	}
	require.NoError(t, json.Unmarshal(files[0].Data, &doc))
	require.Len(t, doc, 3)
	for k := range 3 {
		names := doc["phase-"+strconv.Itoa(k)].Phase
		require.Len(t, names, 2)
		for i, name := range names {
			assert.Regexp(t, `^perf-test-\d{13}-`+strconv.Itoa(2-k)+"-"+strconv.Itoa(i)+"$", name)
		}
	}
}
