package traffic

import (
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

func client(t *testing.T, srv *labtest.Server) *goredis.Client {
	t.Helper()
	o, err := goredis.ParseURL(srv.URL())
	require.NoError(t, err)
	o.DisableIdentity = true
	c := goredis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// The keys of the table are those that a server itself finds in a call.
func TestKeysAreThoseThatTheServerFinds(t *testing.T) {
	c := client(t, labtest.Redis(t))
	for _, call := range strings.Split(strings.TrimSpace(`
GET a
SET a v EX 60 NX
MSET a 1 b 2 c 3
MGET a b c
DEL a b
BLPOP a b 5
BZPOPMIN a b 0
HSET a f v g w
SADD a m n
SMOVE a b m
RENAME a b
COPY a b REPLACE
BITOP AND a b c
ZADD a NX CH 1 m 2 n
ZUNIONSTORE a 2 b c WEIGHTS 1 2
ZINTER 2 a b WITHSCORES
ZDIFF 1 a
LMPOP 2 a b LEFT COUNT 2
BLMPOP 5 2 a b LEFT
BZMPOP 5 1 a MIN
ZMPOP 1 a MIN
SINTERCARD 2 a b LIMIT 5
EVAL return 2 a b x y
EVALSHA 0123456789012345678901234567890123456789 1 a x
FCALL f 2 a b x
XADD a MAXLEN ~ 100 * f v
XREAD COUNT 5 STREAMS a b 0 0
XREADGROUP GROUP g c BLOCK 5 STREAMS a b > >
XACK a g 1-0
XCLAIM a g c 10 1-0
XAUTOCLAIM a g c 10 0
XGROUP CREATE a g $ MKSTREAM
XINFO STREAM a FULL
XPENDING a g - + 10
SORT a LIMIT 0 5 STORE b
SORT_RO a BY nosort
GEOADD a NX 1 2 m
GEORADIUS a 1 2 3 km STORE b
GEORADIUSBYMEMBER a m 3 km STOREDIST b
GEOSEARCHSTORE a b FROMMEMBER m BYRADIUS 1 km
OBJECT ENCODING a
MEMORY USAGE a SAMPLES 5
LMOVE a b LEFT RIGHT
BLMOVE a b LEFT RIGHT 5
BRPOPLPUSH a b 5
LINSERT a BEFORE p v
LPOS a v RANK 1
PFMERGE a b c
RESTORE a 0 xyz
ZRANGESTORE a b 0 -1
HSCAN a 0 MATCH x* COUNT 10
SETEX a 60 v
GETEX a PX 100
WATCH a b
TOUCH a b
LCS a b LEN
EXPIRE a 60 NX
MOVE a 1
`), "\n") {
		words := strings.Fields(call)
		args := make([][]byte, len(words))
		ask := []any{"COMMAND", "GETKEYS"}
		for i, w := range words {
			args[i] = []byte(w)
			ask = append(ask, w)
		}
		want, err := c.Do(t.Context(), ask...).StringSlice()
		require.NoError(t, err, call)
		s, ok := (*Commands)(nil).find(words[0], args)
		require.True(t, ok, call)
		roles, ok := s.assign(args, nil)
		require.True(t, ok, call)
		var got []string
		for i, r := range roles {
			if r == key {
				got = append(got, words[i])
			}
		}
		assert.ElementsMatch(t, want, got, call)
	}
}

// No command of a server is one of which nothing is known.
func TestEveryCommandOfTheServerIsKnown(t *testing.T) {
	all, err := client(t, labtest.Redis(t)).Command(t.Context()).Result()
	require.NoError(t, err)
	assert.Greater(t, len(all), 200)
	for name, info := range all {
		s, ok := table[strings.ToUpper(name)]
		for known := range table {
			ok = ok || strings.HasPrefix(known, strings.ToUpper(name)+"|")
		}
		assert.True(t, ok, name)
		// A call without keys is either harmless or left out.
		if info.FirstKeyPos == 0 && s.apart == "" && ok && !strings.ContainsAny(s.parts, "#Sk") {
			assert.Contains(t, []string{"PING", "ECHO", "MULTI", "EXEC", "DISCARD", "UNWATCH", "XGROUP", "XINFO"}, strings.ToUpper(name))
		}
	}
}

func TestArgumentsThatAreNotTheCommandsAreRefused(t *testing.T) {
	for _, call := range []string{"EVAL s x", "EVAL s 5 a", "EVAL s", "XREAD COUNT 1", "ZUNION -1"} {
		args := [][]byte{}
		for _, w := range strings.Fields(call) {
			args = append(args, []byte(w))
		}
		s, ok := table[string(args[0])]
		require.True(t, ok)
		_, ok = s.assign(args, nil)
		assert.False(t, ok, call)
	}
}

func TestOnlyNumbersAndWordsOfRedisAreKeptAsSuch(t *testing.T) {
	for _, text := range []string{"1", "-1.5", "(3", "+inf", "-inf", "EX", "nx", "1526919030474-55", "$", ">", "*", "~", "u8", "i16", "#2", "km"} {
		assert.True(t, isStructure([]byte(text)), text)
	}
	for _, text := range []string{"", "bob", "hunter2", "bob@example.com", "[bob", "1-bob", "u8x", strings.Repeat("1", 60)} {
		assert.False(t, isStructure([]byte(text)), text)
	}
}
