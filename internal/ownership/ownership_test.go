package ownership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
)

const ns = "ns"

func open(t *testing.T, name string) *memory.Conn {
	t.Helper()
	c, err := memory.Driver.Open(t.Context(), store.Target{Scheme: "memory", Path: name}, store.OpenOptions{})
	require.NoError(t, err)
	return c.(*memory.Conn)
}

func space(name string) store.Space {
	return store.Space{Namespace: ns, Name: name, Shape: store.Map}
}

func want(run string, names ...string) Want {
	w := Want{Namespace: ns, Profile: "test", Run: run}
	for _, n := range names {
		w.Spaces = append(w.Spaces, Space{Space: space(n), Params: map[string]string{"run": run}})
	}
	return w
}

func take(t *testing.T, c store.Conn, w Want) *Claim {
	t.Helper()
	claim, err := Take(t.Context(), c, w)
	require.NoError(t, err)
	t.Cleanup(func() { _ = claim.Release(context.WithoutCancel(t.Context())) })
	return claim
}

func refused(t *testing.T, c store.Conn, w Want) error {
	t.Helper()
	_, err := Take(t.Context(), c, w)
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err), "%v", err)
	assert.NotEmpty(t, fault.HintOf(err))
	return err
}

func made(t *testing.T, c store.Keeper) []store.Made {
	t.Helper()
	all, err := c.Made(t.Context(), ns)
	require.NoError(t, err)
	for i := range all {
		all[i].Updated = ""
	}
	return all
}

func put(t *testing.T, c *memory.Conn, s store.Space) {
	t.Helper()
	require.NoError(t, c.Set(t.Context(), s, []byte("k"), []byte("v")))
}

func TestFreshOursAndShared(t *testing.T) {
	c := open(t, "")
	first := take(t, c, want("r1", "a"))
	assert.Equal(t, Fresh, first.Spot(space("a")).State)
	record := store.Made{Space: space("a"), Profile: "test", Run: "r1", Params: map[string]string{"run": "r1"}}
	assert.Equal(t, []store.Made{record}, made(t, c), "before the first write")
	put(t, c, space("a"))
	require.NoError(t, first.Release(t.Context()))

	put(t, c, space("theirs"))
	err := refused(t, c, want("r2", "a", "theirs"))
	require.EqualError(t, err, "ns:theirs already exists with 1 entry and was not made by perfbench")
	assert.Equal(t, []store.Made{record}, made(t, c), "what is refused records nothing")
	_, held, err := c.Holder(t.Context(), ns)
	require.NoError(t, err)
	assert.False(t, held)

	w := want("r2", "a", "theirs")
	w.Allow = true
	second := take(t, c, w)
	a := second.Spot(space("a"))
	assert.Equal(t, Ours, a.State)
	assert.Equal(t, "r1", a.Earlier.Params["run"])
	assert.Equal(t, Shared, second.Spot(space("theirs")).State)
	put(t, c, space("theirs"))
	require.NoError(t, second.Cleanup(t.Context()))
	require.NoError(t, second.Release(t.Context()))
	all := made(t, c)
	require.Len(t, all, 2)
	assert.Equal(t, "r2", all[0].Params["run"])
	assert.True(t, all[1].Shared)
	n, err := c.Count(t.Context(), space("a"))
	require.NoError(t, err)
	assert.EqualValues(t, 1, n, "an earlier run made it")

	// What is shared stays so, needs no permission again, and is never dropped.
	third := take(t, c, want("r3", "theirs"))
	assert.Equal(t, Shared, third.Spot(space("theirs")).State)
	require.NoError(t, third.Cleanup(t.Context()))
	require.NoError(t, third.Release(t.Context()))
	remove, err := Hold(t.Context(), c, ns, "a test")
	require.NoError(t, err)
	_, err = remove.Delete(t.Context(), space("theirs"), nil)
	require.ErrorIs(t, err, ErrShared)
	gone, err := remove.Delete(t.Context(), space("a"), nil)
	require.NoError(t, err)
	assert.EqualValues(t, 1, gone)
	_, err = remove.Delete(t.Context(), space("never"), nil)
	require.ErrorContains(t, err, "was not made by perfbench")
	require.NoError(t, remove.Release(t.Context()))
	n, err = c.Count(t.Context(), space("theirs"))
	require.NoError(t, err)
	assert.EqualValues(t, 1, n)
}

func TestWhatARunMadeIsDropped(t *testing.T) {
	c := open(t, "")
	claim := take(t, c, want("r", "a", "b"))
	put(t, c, space("a"))
	require.NoError(t, claim.Cleanup(t.Context()))
	assert.Empty(t, made(t, c))
	n, err := c.Count(t.Context(), space("a"))
	require.NoError(t, err)
	assert.Zero(t, n)
}

func TestReadersLeaveNoTrace(t *testing.T) {
	c := open(t, "")
	put(t, c, space("theirs"))
	w := want("r", "theirs", "b")
	w.Spaces[0].Reads = true
	w.Admit = func(_ context.Context, c *Claim) error {
		c.Leave(space("b"))
		return nil
	}
	claim := take(t, c, w)
	assert.Empty(t, made(t, c))
	_, held, err := c.Holder(t.Context(), ns)
	require.NoError(t, err)
	assert.False(t, held)
	require.NoError(t, claim.Cleanup(t.Context()))
	require.NoError(t, claim.Restore(t.Context()))
	assert.Empty(t, made(t, c))
	n, err := c.Count(t.Context(), space("theirs"))
	require.NoError(t, err)
	assert.EqualValues(t, 1, n)
}

func TestAdmitDecides(t *testing.T) {
	c := open(t, "")
	w := want("r", "a")
	w.Admit = func(context.Context, *Claim) error { return fault.Input(errors.New("no"), "hint") }
	require.EqualError(t, refused(t, c, w), "no")
	assert.Empty(t, made(t, c))
	w.Admit = func(ctx context.Context, c *Claim) error {
		return c.Update(ctx, space("a"), map[string]string{"state": "loading"})
	}
	claim := take(t, c, w)
	assert.Equal(t, "loading", made(t, c)[0].Params["state"])
	require.NoError(t, claim.Update(t.Context(), space("a"), nil))
	assert.Empty(t, made(t, c)[0].Params)
	require.Error(t, claim.Update(t.Context(), space("b"), nil), "what was not claimed")
}

func TestARunThatCannotBegin(t *testing.T) {
	c := open(t, "")
	claim := take(t, c, want("r", "a"))
	put(t, c, space("a"))
	require.NoError(t, claim.Abandon(t.Context(), fault.Input(errors.New("bad"), "")))
	assert.Empty(t, made(t, c), "bad input leaves nothing behind")
	claim = take(t, c, want("r", "a"))
	require.NoError(t, claim.Abandon(t.Context(), fault.Store(errors.New("away"), "")))
	assert.Len(t, made(t, c), 1, "what else was made is listed")
	take(t, c, want("r2", "a"))
}

func TestPartsThatNoRecordNames(t *testing.T) {
	old := store.Made{Parts: []string{"t1"}}
	for _, tt := range []struct {
		name string
		spot Spot
		want State
	}{
		{"nothing", Spot{}, Fresh},
		{"ours", Spot{Recorded: true, Earlier: old, Found: store.Found{Exists: true, Size: -1, Parts: []string{"t1"}}}, Ours},
		{"a table more", Spot{Recorded: true, Earlier: old, Found: store.Found{Exists: true, Size: -1, Parts: []string{"t1", "t2"}}}, Shared},
		{"an older version's", Spot{Recorded: true, Found: store.Found{Exists: true, Size: -1}}, Ours},
		{"not recorded, and empty", Spot{Found: store.Found{Exists: true}}, Shared},
		{"an empty table of ours", Spot{Space: Space{Space: space("a")}, Recorded: true, Found: store.Found{Exists: true}}, Fresh},
		{"an empty one that is shared", Spot{Space: Space{Space: space("a")}, Recorded: true, Earlier: store.Made{Shared: true}, Found: store.Found{Exists: true}}, Shared},
		{"shared once, and gone", Spot{Recorded: true, Earlier: store.Made{Shared: true}}, Fresh},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, tt.spot.whose()) })
	}
}

// What cannot go before something else goes after it; what can never go is told.
func TestInTurn(t *testing.T) {
	needs := map[string]string{"a": "b", "b": "c"} // a goes after b
	gone := map[string]bool{}
	remove := func(x string) error {
		if n := needs[x]; n != "" && !gone[n] {
			return fmt.Errorf("%s is in the way of %s", n, x)
		}
		gone[x] = true
		return nil
	}
	require.NoError(t, InTurn([]string{"a", "b", "c"}, remove))
	assert.Len(t, gone, 3)
	needs, gone = map[string]string{"a": "b", "d": "never"}, map[string]bool{}
	err := InTurn([]string{"a", "b", "d"}, remove)
	require.EqualError(t, err, "never is in the way of d")
	assert.Len(t, gone, 2)
}

// counting is a store that tells how often it was asked to count, and to look only.
type counting struct {
	*memory.Conn
	counted, peeked int
}

func (c *counting) Inspect(ctx context.Context, s store.Space, parts ...string) (store.Found, error) {
	c.counted++
	return c.Conn.Inspect(ctx, s, parts...)
}

func (c *counting) Peek(ctx context.Context, s store.Space, parts ...string) (store.Found, error) {
	c.peeked++
	found, err := c.Conn.Inspect(ctx, s, parts...)
	found.Size = min(0, -found.Size)
	return found, err
}

// What is recorded as ours is not counted at each start, unless the run must know.
func TestOursIsNotCounted(t *testing.T) {
	c := &counting{Conn: open(t, "peeked")}
	claim := take(t, c, want("first", "a"))
	assert.Equal(t, [2]int{1, 0}, [2]int{c.counted, c.peeked}, "nobody knows whose it is")
	require.NoError(t, claim.Release(t.Context()))
	claim = take(t, c, want("second", "a"))
	assert.Equal(t, [2]int{1, 1}, [2]int{c.counted, c.peeked})
	require.NoError(t, claim.Release(t.Context()))
	w := want("third", "a")
	w.Spaces[0].Counted = true
	take(t, c, w)
	assert.Equal(t, [2]int{2, 1}, [2]int{c.counted, c.peeked})
}

// Who goes on with a run finds what was there when it began, and removes what it made.
func TestAClaimIsGoneOnWith(t *testing.T) {
	c := open(t, "")
	w := want("r1", "a", "b")
	first := take(t, c, want("r0", "b"))
	put(t, c, space("b"))
	require.NoError(t, first.Release(t.Context()))
	one := take(t, c, w)
	put(t, c, space("a"))
	data, err := json.Marshal(one.Held())
	require.NoError(t, err)
	var h Held
	require.NoError(t, json.Unmarshal(data, &h))
	_, err = Resume(t.Context(), c, w, h)
	require.ErrorContains(t, err, "is in use by r1", "its process lives")
	require.NoError(t, one.Release(t.Context()))

	var seen []State
	w.Admit = func(_ context.Context, c *Claim) error {
		seen = append(seen, c.Spot(space("a")).State, c.Spot(space("b")).State)
		return nil
	}
	two, err := Resume(t.Context(), c, w, h)
	require.NoError(t, err)
	assert.Equal(t, []State{Fresh, Ours}, seen)
	require.NoError(t, two.Cleanup(t.Context()))
	require.NoError(t, two.Release(t.Context()))
	all := made(t, c)
	require.Len(t, all, 1)
	assert.Equal(t, "b", all[0].Name)
	_, err = Resume(t.Context(), c, want("r1", "c"), h)
	require.ErrorContains(t, err, "ns:c was not claimed when the run began")
}

// What an earlier run has left is deleted where a run begins anew with it, and then the run's own;
// what is shared with others stays.
func TestASpaceBeginsAnew(t *testing.T) {
	c := open(t, "")
	put := func(name string) {
		maps, _ := store.As[store.Maps](c)
		require.NoError(t, maps.Put(t.Context(), space(name), []byte("k"), []byte("v")))
	}
	first := take(t, c, want("r1", "a"))
	put("a")
	put("theirs")
	require.NoError(t, first.Release(t.Context()))
	w := want("r2", "a", "theirs")
	w.Allow = true
	second := take(t, c, w)
	require.Equal(t, Ours, second.Spot(space("a")).State)
	require.NoError(t, second.Renew(t.Context(), space("a")))
	found, err := second.Inspect(t.Context(), space("a"))
	require.NoError(t, err)
	assert.False(t, found.Exists && found.Size > 0, "%+v", found)
	require.Error(t, second.Renew(t.Context(), space("theirs")))
	put("a")
	require.NoError(t, second.Cleanup(t.Context()))
	found, err = second.Inspect(t.Context(), space("a"))
	require.NoError(t, err)
	assert.Zero(t, found.Size, "it was the run's own")
	found, err = second.Inspect(t.Context(), space("theirs"))
	require.NoError(t, err)
	assert.EqualValues(t, 1, found.Size)
}

// What an earlier run has left with other sizes is known by its record, and either refused or deleted,
// which is said. What is shared with others is refused.
func TestSizesOfWhatIsThere(t *testing.T) {
	c := open(t, "")
	put := func(name string) {
		maps, _ := store.As[store.Maps](c)
		require.NoError(t, maps.Put(t.Context(), space(name), []byte("k"), []byte("v")))
	}
	asks := func(run string, sizes Sizes, names ...string) Want {
		w := want(run, names...)
		for i := range w.Spaces {
			sizes.In(w.Spaces[i].Params)
		}
		return w
	}
	first := take(t, c, asks("r1", Sizes{"512"}, "a"))
	_, is := first.Resized(space("a"), Sizes{"100"})
	assert.False(t, is, "nothing was there")
	put("a")
	put("theirs")
	require.NoError(t, first.Release(t.Context()))

	w := asks("r2", Sizes{"16384"}, "a", "theirs")
	w.Allow = true
	var said []string
	w.Say = func(s string) { said = append(said, s) }
	second := take(t, c, w)
	for _, same := range []Sizes{{"512"}, {"512", "1024"}} {
		_, is = second.Resized(space("a"), same)
		assert.False(t, is, "%v", same)
	}
	for _, other := range []Sizes{{"16384"}, {"1024", "512"}} {
		was, is := second.Resized(space("a"), other)
		assert.True(t, is, "%v", other)
		assert.Equal(t, Sizes{"512"}, was)
	}
	err := second.RefuseSize(space("a"), Sizes{"16384"}, "load=skip loads nothing")
	require.EqualError(t, err, "ns:a holds records of 512 B, which run r1 left, and this run asks for 16 KiB: load=skip loads nothing")
	assert.Equal(t, "delete them with  perfbench data delete --target URL --namespace ns,  or use another --namespace", fault.HintOf(err))
	require.NoError(t, second.Resize(t.Context(), []Resizing{{space("a"), Sizes{"512"}}}))
	assert.Empty(t, said, "they are as large as that")
	require.NoError(t, second.Resize(t.Context(), []Resizing{{space("a"), Sizes{"16384"}}}))
	assert.Equal(t, []string{"deleted and loaded again with 16 KiB: ns:a, which run r1 had left with records of 512 B"}, said)
	assert.Equal(t, said, second.Notes())
	found, err := second.Inspect(t.Context(), space("a"))
	require.NoError(t, err)
	assert.Zero(t, found.Size)
	require.NoError(t, second.Release(t.Context()))

	third := take(t, c, func() Want { w := asks("r3", Sizes{"1"}, "theirs"); w.Allow = true; return w }())
	require.Error(t, third.Resize(t.Context(), []Resizing{{space("theirs"), Sizes{"1"}}}))
	found, err = third.Inspect(t.Context(), space("theirs"))
	require.NoError(t, err)
	assert.EqualValues(t, 1, found.Size)
	assert.Nil(t, MayResize(nil))
	assert.Equal(t, []string{"earlier a, b, c and 2 others, if of another size"}, MayResize([]string{"a", "b", "c", "d", "e"}))
	for sizes, words := range map[string]string{"": "a size that nobody has written down", "1": "1 B", "1|2048|10..20": "1 B, 2 KiB and 10..20 B"} {
		assert.Equal(t, words, SizesOf(map[string]string{"sizes": sizes}).Words())
	}
}
