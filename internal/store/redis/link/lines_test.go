package link

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// A target that allows one connection gets one.
func TestSharedConnectionsKeepToTheTarget(t *testing.T) {
	c := client(t, labtest.Redis(t))
	for size, want := range map[int]int{1: 1, 2: Conns, 100: Conns} {
		l := NewLines(c, true, size, BusyPoll)
		require.NoError(t, l.Warm(t.Context(), 50))
		assert.Equal(t, want, l.Size())
		assert.Equal(t, want, l.Stats().Open)
		l.Close()
		assert.Zero(t, l.Stats().Open)
	}
}

// Without sharing there are as many connections as calls under way, and no more than
// the target allows: others wait, and that is counted.
func TestConnectionACaller(t *testing.T) {
	c := client(t, labtest.Redis(t))
	l := NewLines(c, false, 3, BusyPoll)
	defer l.Close()
	var wg sync.WaitGroup
	pop := func() {
		at := Caller{}
		at.Command("BLPOP")
		at.Add("none")
		at.Num(0)
		_, err := l.Do(t.Context(), &at)
		assert.NoError(t, err)
	}
	for range 3 {
		wg.Go(pop)
	}
	require.Eventually(t, func() bool { return len(names(t, c, "blpop")) == 3 }, time.Minute, time.Millisecond)
	brief, cancel := context.WithCancel(t.Context())
	late := make(chan error)
	go func() {
		at := Caller{}
		at.Command("PING")
		_, err := l.Do(brief, &at)
		late <- err
	}()
	cancel()
	require.ErrorIs(t, <-late, context.Canceled)
	assert.EqualValues(t, 1, l.Stats().Waits)
	assert.Equal(t, 3, l.Stats().Open)
	require.NoError(t, c.RPush(t.Context(), "none", 1, 2, 3).Err())
	wg.Wait()
	for range 10 { // one that a context ended with is made anew
		at, ctx := Caller{}, context.Background()
		at.Command("PING")
		_, err := l.Do(ctx, &at)
		require.NoError(t, err)
	}
	assert.Equal(t, 3, l.Stats().Open)
	l.Close()
	at := Caller{}
	at.Command("PING")
	_, err := l.Do(t.Context(), &at)
	require.Error(t, err)
}

// Replies of all kinds are read, whoever reads them: shared connections, own ones, and
// the library.
func TestReplies(t *testing.T) {
	c := client(t, labtest.Redis(t))
	shared, own := NewLines(c, true, 2, BusyPoll), NewLines(c, false, 2, BusyPoll)
	defer shared.Close()
	defer own.Close()
	for lua, want := range map[string]string{
		"return 7":                              "7: 7",
		"return -7":                             "-7: -7",
		"return 'text'":                         "4: text",
		"return ''":                             "0: ",
		"return false":                          "-1: nil",
		"return {1, 'two', false, {3, 'four'}}": "4: 1 two nil 3 four",
		"return {}":                             "0:",
		"return redis.status_reply('FINE')":     "0: FINE",
		"return string.rep('x', 100000)":        "100000: " + strings.Repeat("x", 100000),
	} {
		for name, do := range map[string]func(c *Caller) error{
			"shared":  func(c *Caller) error { _, err := shared.Do(t.Context(), c); return err },
			"own":     func(c *Caller) error { _, err := own.Do(t.Context(), c); return err },
			"library": func(c *Caller) error { return own.through(t.Context(), c, c.args()) },
		} {
			at := Caller{}
			at.Reply.Into(make([]byte, 3, 10))
			for range 2 {
				at.Reset()
				at.Add("EVAL")
				at.Add(lua)
				at.Num(0)
				require.NoError(t, do(&at), lua)
			}
			got := fmt.Sprintf("%d:", at.Reply.N)
			for i := range at.Reply.Len() {
				text, there := at.Reply.At(i)
				if !there {
					text = []byte("nil")
				}
				got += " " + string(text)
			}
			if name == "library" && strings.HasPrefix(want, "0: FINE") {
				want = "4: FINE" // it tells no status from a text
			}
			assert.Equal(t, want, got, "%s by %s", lua, name)
			if name == "library" && want == "4: FINE" {
				want = "0: FINE"
			}
		}
	}
}

// Several commands that are sent as one have each its reply, and an error in between
// is that of the call; the next call has its own reply.
func TestSeveralCommandsAtOnce(t *testing.T) {
	c := client(t, labtest.Redis(t))
	for _, shared := range []bool{true, false} {
		l := NewLines(c, shared, 2, BusyPoll)
		defer l.Close()
		at := Caller{}
		at.Reply.Keep = true
		at.Command("SET")
		at.Add("k")
		at.Add("v")
		at.Next("GET")
		at.Add("k")
		_, err := l.Do(t.Context(), &at)
		require.NoError(t, err)
		assert.Equal(t, "OKv", string(at.Reply.Text))
		at.Command("LPOP")
		at.Add("k")
		at.Next("EVAL")
		at.Add("return {1, redis.error_reply('ERR within'), 2}")
		at.Add("0")
		at.Next("GET")
		at.Add("k")
		_, err = l.Do(t.Context(), &at)
		require.ErrorContains(t, err, "WRONGTYPE")
		assert.Equal(t, "v", string(at.Reply.Text[len(at.Reply.Text)-1:]))
		at.Command("GET")
		at.Add("none")
		n, err := l.Do(t.Context(), &at)
		require.NoError(t, err)
		assert.EqualValues(t, -1, n)
	}
}

// A transaction goes where its keys are, also from the wrong server of a cluster, which
// has done nothing of it, and its replies are the last ones.
func TestTransactions(t *testing.T) {
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: labtest.Cluster(t).Addrs("")})
	defer c.Close()
	for _, shared := range []bool{true, false} {
		l, at := NewLines(c, shared, 2, BusyPoll), Caller{}
		defer l.Close()
		key := fmt.Sprintf("transaction %v", shared)
		right, slot, err := l.to(t.Context(), []byte(key))
		require.NoError(t, err)
		var wrong *way
		for i := 0; wrong == nil || wrong == right; i++ {
			wrong, _, err = l.to(t.Context(), fmt.Append(nil, i))
			require.NoError(t, err)
		}
		for i, w := range []*way{right, wrong} {
			l.of[slot].Store(w)
			at.Multi()
			at.Next("INCR")
			at.Add(key)
			at.Next("GET")
			at.Add("{", key, "}none")
			at.Next("SMISMEMBER")
			at.Add("{", key, "}none")
			at.Add("")
			at.Add("a long member")
			at.Exec()
			at.Reply.Keep = true
			n, err := l.Do(t.Context(), &at)
			require.NoError(t, err)
			assert.EqualValues(t, 3, n)
			var got []string
			for i := at.Reply.Len() - 4; i < at.Reply.Len(); i++ {
				text, there := at.Reply.At(i)
				got = append(got, fmt.Sprint(string(text), there))
			}
			assert.Equal(t, []string{fmt.Sprintf("%dtrue", i+1), "false", "0true", "0true"}, got)
		}
		for _, w := range []*way{right, wrong} {
			l.of[slot].Store(w)
			at.Multi()
			at.Next("LPOP")
			at.Add(key)
			at.Exec()
			_, err = l.Do(t.Context(), &at)
			require.ErrorContains(t, err, "WRONGTYPE")
		}
		at.Command("GET")
		at.Add(key)
		n, err := l.Do(t.Context(), &at)
		require.NoError(t, err, "the request has forgotten the transaction")
		assert.EqualValues(t, 1, n, "the length")
	}
}

// Slots are those of the servers.
func TestSlots(t *testing.T) {
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: labtest.Cluster(t).Addrs("")})
	defer c.Close()
	for _, key := range []string{"", "k", "perfbench:map1", "a{b}c", "{}x", "{", "x}{y}", "{a}{b}", "123456789"} {
		want, err := c.ClusterKeySlot(t.Context(), key).Result()
		require.NoError(t, err)
		assert.Equal(t, int(want), slotOf([]byte(key)), key)
	}
}

// A call that came to the wrong server of a cluster is done by the right one, and
// the next goes there at once; calls that are sent together go each to its own.
func TestLinesFollowTheCluster(t *testing.T) {
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: labtest.Cluster(t).Addrs("")})
	defer c.Close()
	for _, shared := range []bool{true, false} {
		l := NewLines(c, shared, 2, BusyPoll)
		defer l.Close()
		key := func(i int) string { return fmt.Sprintf("{%d}%v", i, shared) }
		ways := map[*way]bool{}
		var other *way
		for i := range 8 {
			w, _, err := l.to(t.Context(), []byte(key(i)))
			require.NoError(t, err)
			ways[w] = true
		}
		require.Greater(t, len(ways), 1, "keys are on several masters")
		right, slot, err := l.to(t.Context(), []byte(key(0)))
		require.NoError(t, err)
		for w := range ways {
			if w != right {
				other = w
			}
		}
		beside := 0
		for i := range l.of {
			if l.of[i].Load() == other {
				beside = i
			}
		}
		l.of[slot].Store(other)
		at, run, of := Caller{}, Scripts{l, BySHA}, NewScript("add", "return redis.call('INCR', KEYS[1])")
		for want := range int64(2) {
			run.Begin(&at.Request, of, 1)
			at.Add(key(0))
			n, err := run.Finish(t.Context(), &at, of)
			require.NoError(t, err)
			assert.Equal(t, want+1, n, "each was done once, where it belongs")
			assert.Nil(t, l.of[beside].Load(), "what was thought to be on that server is looked up again, too")
			again, _, err := l.to(t.Context(), []byte(key(0)))
			require.NoError(t, err)
			assert.Same(t, right, again)
		}
		l.of[slot].Store(other)
		all := make([]*Caller, 8)
		for i := range all {
			all[i] = &Caller{}
			all[i].Command("INCR")
			all[i].Add(key(i))
		}
		require.NoError(t, l.DoAll(t.Context(), all))
		assert.EqualValues(t, 3, all[0].Reply.N)
		assert.EqualValues(t, 1, all[7].Reply.N)
	}
}

// Several calls at once allocate nothing, and each is told by itself, in their order.
func TestCallsAtOnceAllocateNothing(t *testing.T) {
	c := client(t, labtest.Redis(t))
	l := NewLines(c, false, 3, BusyPoll)
	defer l.Close()
	require.NoError(t, c.Set(t.Context(), "text", "x", 0).Err())
	var cs []*Caller
	for range 10 {
		cs = append(cs, &Caller{})
	}
	next := 0
	told := func(i int, err error) {
		if i == next && (err != nil) == (i == 5) {
			next++
		}
	}
	do := func() {
		for i, at := range cs {
			at.Command("INCR")
			at.Add(map[bool]string{false: "n", true: "text"}[i == 5])
		}
		next = 0
		l.DoEach(t.Context(), cs, told)
	}
	do()
	assert.Equal(t, len(cs), next)
	assert.EqualValues(t, 9, cs[9].Reply.N)
	ctx := t.Context()
	assert.LessOrEqual(t, testing.AllocsPerRun(200, func() {
		for _, at := range cs[:5] {
			at.Command("INCR")
			at.Add("n")
		}
		l.DoEach(ctx, cs[:5], told)
	}), 0.5)
}
