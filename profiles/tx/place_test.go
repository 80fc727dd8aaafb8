package tx

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

// Tables of others, empty or not, are found where each mode writes, and refusing them
// leaves nothing behind.
func TestTablesOfOthersAreRefused(t *testing.T) {
	for table, words := range map[string][]string{
		"t_baseline":             {"mode=baseline", "rows=set", "ceiling=off", "requests=10"},
		"t_saga_barrier":         {"mode=saga", "transactions=10", "accountCount=10"},
		"t_summary_by_group":     append([]string{"testCase=tx"}, small...),
		"t_profile_by_group":     append([]string{"testCase=tx"}, small...),
		"t_saga_global":          {"mode=baseline", "rows=set", "ceiling=on", "requests=10"},
		"t_eligibility_by_group": append([]string{"testCase=tx"}, small...),
	} {
		t.Run(table, func(t *testing.T) {
			c := open(t, "sqlite:"+t.TempDir()+"/x.db")
			db := c.(sqlstore.Typed).SQL()
			_, err := db.ExecContext(t.Context(), "CREATE TABLE "+table+" (id INTEGER)")
			require.NoError(t, err)
			err = bound(t, c, "sqlite", inputs(given(words...))).Setup(t.Context(), nil)
			require.ErrorContains(t, err, "already exists and was not made by perfbench")
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			var names []string
			rows, err := db.QueryContext(t.Context(), "SELECT name FROM sqlite_master WHERE type = 'table'")
			require.NoError(t, err)
			for rows.Next() {
				var name string
				require.NoError(t, rows.Scan(&name))
				names = append(names, name)
			}
			require.NoError(t, rows.Err())
			assert.Equal(t, []string{table}, names)
		})
	}
}

// Keys of others beside those of sagas are noticed, and stay when ours go.
func TestKeysOfOthersAmongSagas(t *testing.T) {
	c := open(t, "embedded:")
	client := c.(redis.Typed).Client()
	words := []string{"mode=saga", "transactions=10", "accountCount=10"}
	for _, key := range []string{"t:saga:foreign", "t:saga:{0}:x", "t:saga:{0}"} {
		require.NoError(t, client.Set(t.Context(), key, "theirs", 0).Err())
		err := bound(t, c, "embedded", inputs(given(words...))).Setup(t.Context(), nil)
		require.ErrorContains(t, err, key+" already exists")
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		require.NoError(t, client.Del(t.Context(), key).Err())
	}
	require.NoError(t, client.Set(t.Context(), "t:saga:foreign", "theirs", 0).Err())
	in := inputs(given(words...))
	in.AllowExisting = true
	p := bound(t, c, "embedded", in)
	require.NoError(t, p.Setup(t.Context(), nil))
	profiletest.Work(t, p)
	require.NoError(t, p.Teardown(t.Context()))
	left, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	assert.Equal(t, []string{"t:saga:foreign"}, left)
}

// What an older version recorded, which named no parts, is still known as ours.
func TestRecordsOfAnOlderVersion(t *testing.T) {
	c := open(t, "embedded:")
	keep := storetest.As[store.Keeper](t, c)
	in := inputs(given("mode=saga", "transactions=10", "accountCount=10"))
	require.NoError(t, bound(t, c, "embedded", in).Setup(t.Context(), nil))
	made, err := keep.Made(t.Context(), "t")
	require.NoError(t, err)
	require.Len(t, made, 1)
	require.Equal(t, saga.KeyForms, made[0].Parts)
	made[0].Parts = nil
	require.NoError(t, keep.Record(t.Context(), made[0]))
	more := inputs(given("mode=saga", "transactions=10", "accountCount=11"))
	require.ErrorContains(t, bound(t, c, "embedded", more).Setup(t.Context(), nil), "made with accounts=10")
	p := bound(t, c, "embedded", in)
	require.NoError(t, p.Setup(t.Context(), nil))
	made, err = keep.Made(t.Context(), "t")
	require.NoError(t, err)
	require.Len(t, made, 1)
	assert.Equal(t, saga.KeyForms, made[0].Parts)
	require.NoError(t, p.Teardown(t.Context()))
	n, err := c.(redis.Typed).Client().HLen(t.Context(), "t:saga:{0}:a").Result()
	require.NoError(t, err)
	assert.Positive(t, n, "an earlier run made them")
}

// A key of others that is no string would be overwritten by a SET: a run is refused even
// where it may write into what others made, and the key stays as it is.
func TestKeysOfAnotherTypeAreNotOverwritten(t *testing.T) {
	c := open(t, labtest.Redis(t).URL())
	client := c.(redis.Typed).Client()
	in := inputs(given("mode=baseline", "rows=set", "ceiling=off", "requests=10"))
	in.AllowExisting = true
	p := bound(t, c, "redis", in)
	_, rest, _ := strings.Cut(p.Claims[0].Parts[0], " ")
	key := "t:" + p.Claims[0].Name + ":" + strings.ReplaceAll(rest, `\`, "")
	require.NoError(t, client.HSet(t.Context(), key, "f", "theirs").Err())
	err := p.Setup(t.Context(), nil)
	require.ErrorContains(t, err, key+" already exists and is a hash, not a string")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	assert.Equal(t, "theirs", client.HGet(t.Context(), key, "f").Val())

	// So is a run where an earlier one has written, and others have put something since.
	require.NoError(t, client.Del(t.Context(), key).Err())
	in.AllowExisting = false
	require.NoError(t, bound(t, c, "redis", in).Setup(t.Context(), nil))
	require.NoError(t, client.HSet(t.Context(), key, "f", "theirs").Err())
	require.ErrorContains(t, bound(t, c, "redis", in).Setup(t.Context(), nil), key+" already exists and is a hash, not a string")
	assert.Equal(t, "theirs", client.HGet(t.Context(), key, "f").Val())
}
