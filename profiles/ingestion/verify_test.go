package ingestion

import (
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestVerificationFindsWhatIsWrong(t *testing.T) {
	c := open(t, "memory:")
	for _, w := range []struct {
		name  string
		spoil func(t *testing.T, p *workload.Plan)
		want  string
	}{
		{"a changed byte", func(t *testing.T, p *workload.Plan) {
			val, _, err := storetest.As[store.Getter](t, c).Get(t.Context(), p.Spaces[1], []byte("x7"), nil)
			require.NoError(t, err)
			bad := append([]byte(nil), val...)
			bad[20] ^= 1
			require.NoError(t, storetest.As[store.Setter](t, c).Set(t.Context(), p.Spaces[1], []byte("x7"), bad))
		}, "x7: its checksum does not match"},
		{"a value of another length", func(t *testing.T, p *workload.Plan) {
			require.NoError(t, storetest.As[store.Setter](t, c).Set(t.Context(), p.Spaces[1], []byte("x8"), []byte("short")))
		}, "x8: has 5 bytes, and values of [32] were written"},
		{"another loader's value", func(t *testing.T, p *workload.Plan) {
			val := newGenerator(1, "profile").fill(nil, 3, 0, 32)
			require.NoError(t, storetest.As[store.Setter](t, c).Set(t.Context(), p.Spaces[1], []byte("x9"), val))
		}, "x9: it was written by loader 4 and not by 1"},
		{"an entry too many", func(t *testing.T, p *workload.Plan) {
			require.NoError(t, storetest.As[store.Setter](t, c).Set(t.Context(), p.Spaces[1], []byte("strange"), []byte("v")))
		}, ""},
		{"a lost map", func(t *testing.T, p *workload.Plan) {
			_, err := storetest.As[store.Keeper](t, c).Drop(t.Context(), p.Spaces[1], nil)
			require.NoError(t, err)
		}, "x1: acknowledged but missing"},
	} {
		t.Run(w.name, func(t *testing.T) {
			in := small()
			in.Namespace = t.Name()
			p := bound(t, c, in)
			setUp(t, p)
			profiletest.Work(t, p)
			w.spoil(t, p)
			v := p.Verify(t.Context())
			assert.Equal(t, workload.Failed, v.State)
			require.Len(t, v.Checks, 4)
			assert.True(t, v.Checks[0].OK && v.Checks[1].OK, "eligibility is untouched")
			if w.want == "" {
				assert.Equal(t, workload.Check{Name: "profile: number of entries", Want: "200", Got: "201"}, v.Checks[2])
				return
			}
			assert.False(t, v.Checks[3].OK)
			assert.Equal(t, w.want, v.Checks[3].Examples[0])
			assert.LessOrEqual(t, len(v.Checks[3].Examples), 10)
		})
	}
}

func TestEarlierRunsAreRemembered(t *testing.T) {
	c := open(t, "memory:")
	run := func(more ...[2]string) *workload.Plan {
		p := bound(t, c, small(more...))
		setUp(t, p)
		profiletest.Work(t, p)
		return p
	}
	wrote(t, run(), 200)
	again := run([2]string{"payloadSize", "64"})
	wrote(t, again, 200)
	fewer := run([2]string{"totalEntryCount", "100"})
	wrote(t, fewer, 100)
	v := fewer.Verify(t.Context())
	assert.Equal(t, "100 to 300 (up to 300 may have been there before)", v.Checks[0].Want, "other dates: other keys")
	assert.Equal(t, "250", v.Checks[0].Got, "two of four loaders began at the same dates")
	assert.Equal(t, "100 to 200 (up to 200 may have been there before)", v.Checks[2].Want, "the same profiles")
	assert.True(t, again.Facts(nil).(Facts).Maps[0].Existed)
	assert.Contains(t, v.Summary, "200 entries of this run are there, beside 250 of earlier runs, and ")

	require.NoError(t, fewer.Teardown(t.Context()))
	n, err := storetest.As[store.Counter](t, c).Count(t.Context(), fewer.Spaces[1])
	require.NoError(t, err)
	assert.Equal(t, int64(200), n, "an earlier run made it, so it stays")
}

func TestSpacesOfOthersAreRefused(t *testing.T) {
	c := open(t, "memory:")
	in := small()
	p := bound(t, c, in)
	require.NoError(t, storetest.As[store.Setter](t, c).Set(t.Context(), p.Spaces[1], []byte("k"), []byte("v")))
	err := p.Setup(t.Context(), nil)
	require.ErrorContains(t, err, "perfbench:profile already exists with 1 entry and was not made by perfbench")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	made, err := storetest.As[store.Keeper](t, c).Made(t.Context(), "perfbench")
	require.NoError(t, err)
	assert.Empty(t, made, "nothing is recorded when one of the maps is refused")

	in.AllowExisting = true
	p = bound(t, c, in)
	setUp(t, p)
	profiletest.Work(t, p)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Equal(t, "200 to 201 (up to 201 may have been there before)", v.Checks[2].Want)
}

func TestWrongTypesAreNamed(t *testing.T) {
	srv := labtest.Redis(t)
	c := open(t, srv.URL())
	p := bound(t, c, small())
	raw := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer func() { _ = raw.Close() }()
	require.NoError(t, raw.Set(t.Context(), "perfbench:profile", "text", 0).Err())
	err := p.Setup(t.Context(), nil)
	require.ErrorContains(t, err, "perfbench:profile already exists and is a string, not a hash")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

func TestAnotherLayoutIsRefused(t *testing.T) {
	c := open(t, "memory:")
	p := bound(t, c, small())
	setUp(t, p)
	profiletest.Work(t, p)
	err := bound(t, c, small([2]string{"layout", "group"})).Setup(t.Context(), nil)
	require.ErrorContains(t, err, "map eligibility exists in the other layout: an earlier run made it with layout=map")
	assert.Contains(t, fault.HintOf(err), "perfbench data delete")
	require.NoError(t, p.Teardown(t.Context()))
	setUp(t, bound(t, c, small([2]string{"layout", "group"})))
}

func TestNothingIsVerifiedOnNull(t *testing.T) {
	p := bound(t, open(t, "null:"), small())
	setUp(t, p)
	profiletest.Work(t, p)
	assert.Equal(t, workload.Skipped, p.Verify(t.Context()).State)
}

func TestFailedEntriesAreCounted(t *testing.T) {
	c := open(t, "memory:")
	p := bound(t, c, small())
	setUp(t, p)
	require.NoError(t, c.Close())
	profiletest.Work(t, p)
	f := p.Facts(nil).(Facts).Maps[0]
	assert.Equal(t, int64(200), f.Failed)
	assert.Zero(t, f.Acknowledged)
	assert.Equal(t, workload.Incomplete, p.Verify(t.Context()).State)
}
