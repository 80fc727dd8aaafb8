package saga

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
)

// What stores counted is what was predicted from the outcomes: sagas done, undone at
// any step, repeated, undecided and taken up again.
func TestCallsAreThosePredicted(t *testing.T) {
	for name, c := range map[string]struct{ url, kind string }{
		"redis":    {labtest.Redis(t).URL(), "scripts"},
		"cluster":  {labtest.Shared(t, "redis-cluster").URL(), "scripts"},
		"mariadb":  {labtest.Shared(t, "mariadb").URL(), "statements"},
		"postgres": {labtest.Postgres(t, "--shared_preload_libraries=pg_stat_statements", "--max_prepared_transactions=64").URL(), "statements"},
	} {
		t.Run(name, func(t *testing.T) { // one after the other on a server, which counts for all
			t.Parallel()
			if name == "postgres" {
				_, err := common.New(typedSQL(t, c.url)).DB.ExecContext(t.Context(), "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
				require.NoError(t, err)
			}
			for what, words := range map[string][]string{
				"all go well":       {"threads=4"},
				"some are undone":   {"threads=1", "failRate=0.3"},
				"nobody is called":  {"threads=4", "accounts=off", "failRate=0.3"},
				"tcc":               {"transType=tcc", "threads=1", "failRate=0.2", "duplicateRate=0.1", "errorRate=0.02", "retryInterval=300ms", "cronInterval=10ms"},
				"messages":          {"transType=msg", "threads=1", "failRate=0.2", "duplicateRate=0.1", "lostSubmitRate=0.1", "timeout=50ms", "retryInterval=300ms", "cronInterval=10ms"},
				"xa":                {"transType=xa", "threads=1", "failRate=0.2", "errorRate=0.02", "retryInterval=300ms", "cronInterval=10ms"},
				"branches are late": {"threads=1", "failRate=0.1", "duplicateRate=0.2", "errorRate=0.05", "ongoingRate=0.05", "retryInterval=300ms", "cronInterval=10ms", "checkInterval=20ms"},
			} {
				if what == "xa" && c.kind == "scripts" || name == "cluster" && what != "some are undone" && what != "tcc" && what != "messages" {
					continue // cluster: one of each kind of transaction; the scripts are the same
				}
				t.Run(what, func(t *testing.T) {
					if name == "cluster" {
						tier.Full(t, "the same scripts on redis")
					}
					if c.kind == "statements" && (what == "xa") != (name == "postgres") {
						tier.Full(t, "xa on postgres, and the others on mariadb")
					}
					p, _ := ready(t, c.url, alone(given(append([]string{"mode=saga", "transactions=100", "branches=3", "accountCount=1000", "balance=150"}, words...)...)))
					profiletest.Work(t, p)
					v := p.Verify(t.Context())
					assert.Equal(t, workload.Passed, v.State, "%+v", v)
					f := p.Facts(nil).(*Facts)
					got := f.Cost.Calls
					assert.Equal(t, c.kind, got.Kind)
					if f.Conflicts > 0 {
						assert.Equal(t, NotCompared, got.State)
						return
					}
					assert.Equal(t, agree, got.State, "%+v", got)
					assert.InDelta(t, got.Predicted, got.Counted, agreeCalls+4)
					assert.Greater(t, got.Predicted, int64(100*5))
					if name != "postgres" { // which does not count bytes
						assert.Greater(t, f.Cost.Received, 500.0)
						assert.Positive(t, f.Cost.Sent)
					}
				})
			}
		})
	}
}

// Calls that nobody predicted make a run invalid, unless others may call too.
func TestCallsThatNobodyPredicted(t *testing.T) {
	srv := labtest.Redis(t)
	for _, ours := range []string{"on", "off"} {
		p, conn := ready(t, srv.URL(), alone(given("mode=saga", "threads=2", "transactions=50", "accountCount=20", "checkInterval=0s", "countCalls="+ours)))
		profiletest.Work(t, p)
		for range 10 {
			require.NoError(t, conn.(redis.Typed).Client().Eval(t.Context(), "return 1", nil).Err())
		}
		v := p.Verify(t.Context())
		if ours == "off" {
			assert.Equal(t, workload.Passed, v.State, "%+v", v)
			continue
		}
		assert.Equal(t, workload.Failed, v.State)
		assert.Contains(t, v.Summary, "the run is invalid: the store counted 310 scripts where 300 were predicted")
		assert.Contains(t, v.Summary, "50 sagas read back, all of them whole")
	}
}

func TestAgreement(t *testing.T) {
	at := func(calls int64) common.Usage {
		return common.Usage{At: time.Now(), Usage: store.Usage{Calls: calls, Kind: "scripts"}}
	}
	assert.Equal(t, agree, agreement(at(5), at(100105), 100000, 0, 0, agreeCalls).State)
	assert.Equal(t, differ, agreement(at(5), at(100106), 100000, 0, 0, agreeCalls).State)
	for why, a := range map[string]Agreement{
		"not over":   agreement(at(5), common.Usage{}, 0, 0, 0, agreeCalls),
		"not count":  agreement(at(-1), at(-1), 0, 0, 0, agreeCalls),
		"anew":       agreement(at(50), at(5), 10, 0, 0, agreeCalls),
		"of 2 sagas": agreement(at(5), at(15), 10, 2, 0, agreeCalls),
		"undid":      agreement(at(5), at(15), 10, 0, 1, agreeCalls),
	} {
		assert.Equal(t, NotCompared, a.State)
		assert.Contains(t, a.Why, why)
		assert.Empty(t, a.checks())
	}
}
