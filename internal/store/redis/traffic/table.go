// Package traffic reads what a Redis is asked: live, by MONITOR, or from its logs. It knows
// of each command which arguments are keys, which are data, and which calls a replay leaves
// out.
package traffic

import (
	"bytes"
	"strconv"
	"strings"
)

// role is what an argument is.
type role byte

const (
	key       role = 'k'
	value     role = 'v' // data; only its size is recorded unless the values are wanted
	member    role = 'm' // what names something within a key: a field, a member, a group
	structure role = 'n' // a number or a word of Redis
)

// Why a replay leaves calls out.
const (
	ofServer     = "about the whole server, or all keys"
	ofConnection = "about the connection"
	ofChannels   = "messages, which others would hear"
	ofScripts    = "scripts, which may build the names of keys"
	ofOthers     = "keys of another database or server"
	ofPatterns   = "keys that a pattern names"
	ofStrangers  = "commands whose keys are not known"
	ofWaiting    = "waits until another writes"
	ofNoText     = "its text was not recorded"
)

// spec is what is known of a command.
type spec struct {
	// parts has a letter for each argument: the roles, and
	//
	//	*  what follows repeats, up to | if there is one; what follows that stands at the end
	//	#  a number, and as many keys
	//	S  words up to STREAMS, then as many keys as identifiers
	//	Z  words, then numbers each with a member
	//	G  words, then positions each with a member
	//	X  words and an identifier, then fields with values
	//	F  words up to FIELDS, a number, and fields; V: fields with values
	//	T  words, of which STORE has a key behind it, MATCH, BY and GET a pattern
	parts string
	// apart is why a replay leaves the command out.
	apart string
}

// table has the commands by their parts. A bar joins a command and the one that it contains.
var table = build(map[string]string{
	"k":  "GET STRLEN INCR DECR GETDEL TTL PTTL EXPIRETIME PEXPIRETIME TYPE PERSIST DUMP HGETALL HKEYS HVALS HLEN LLEN SMEMBERS SCARD ZCARD XLEN",
	"kv": "APPEND SETNX GETSET", "kv*n": "SET LPOS", "knv": "SETEX PSETEX SETRANGE LSET LREM", "knn": "SETBIT GETBIT LTRIM LRANGE GETRANGE SUBSTR ZCOUNT ZREMRANGEBYRANK",
	"kn": "INCRBY DECRBY INCRBYFLOAT LINDEX", "k*n": "GETEX BITCOUNT BITPOS BITFIELD BITFIELD_RO EXPIRE PEXPIRE EXPIREAT PEXPIREAT LPOP RPOP SPOP SRANDMEMBER HRANDFIELD ZRANDMEMBER ZPOPMIN ZPOPMAX XTRIM XDEL XSETID",
	"*k": "DEL UNLINK EXISTS TOUCH MGET PFCOUNT PFMERGE SDIFF SINTER SUNION SDIFFSTORE SINTERSTORE SUNIONSTORE", "*kv": "MSET MSETNX",
	"kk": "RENAME RENAMENX RPOPLPUSH", "kk*n": "COPY LCS", "kknn": "LMOVE", "n*k": "BITOP",
	"#*n": "LMPOP ZMPOP SINTERCARD ZINTERCARD ZUNION ZINTER ZDIFF", "k#*n": "ZUNIONSTORE ZINTERSTORE ZDIFFSTORE",
	"km": "HGET HEXISTS HSTRLEN SISMEMBER ZSCORE", "km*n": "ZRANK ZREVRANK XACK XPENDING", "kmn": "HINCRBY HINCRBYFLOAT", "kmv": "HSETNX", "k*mv": "HSET HMSET",
	"k*m": "HDEL HMGET SADD SREM SMISMEMBER ZREM ZMSCORE PFADD GEOHASH GEOPOS", "kkm": "SMOVE", "knm": "ZINCRBY",
	"k*v": "LPUSH RPUSH LPUSHX RPUSHX", "knvv": "LINSERT", "knv*n": "RESTORE RESTORE-ASKING",
	"kZ": "ZADD", "knn*n": "ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE ZREMRANGEBYSCORE XRANGE XREVRANGE", "kmm*n": "ZRANGEBYLEX ZREVRANGEBYLEX ZLEXCOUNT ZREMRANGEBYLEX GEODIST", "kknn*n": "ZRANGESTORE",
	"kG": "GEOADD", "knnnnT": "GEORADIUS GEORADIUS_RO", "kmnnT": "GEORADIUSBYMEMBER GEORADIUSBYMEMBER_RO", "kT": "GEOSEARCH SORT SORT_RO", "kkT": "GEOSEARCHSTORE", "knT": "HSCAN SSCAN ZSCAN",
	"kX": "XADD", "kmmn*n": "XCLAIM", "kmmnn*n": "XAUTOCLAIM", "S": "XREAD XREADGROUP",
	"nk": "OBJECT|ENCODING OBJECT|FREQ OBJECT|IDLETIME OBJECT|REFCOUNT XINFO|STREAM XINFO|GROUPS", "nk*n": "MEMORY|USAGE", "nkm*n": "XGROUP|CREATE XGROUP|SETID XGROUP|DESTROY XINFO|CONSUMERS", "nkmm": "XGROUP|CREATECONSUMER XGROUP|DELCONSUMER",
	"kF": "HPERSIST HTTL HPTTL HEXPIRETIME HPEXPIRETIME HGETDEL HGETEX HEXPIRE HPEXPIRE HEXPIREAT HPEXPIREAT", "kV": "HSETEX",
	"": "MULTI EXEC DISCARD", "*v": "PING ECHO",
}, map[string]string{
	ofServer:     "FLUSHALL FLUSHDB KEYS SCAN RANDOMKEY DBSIZE SWAPDB CONFIG SHUTDOWN DEBUG SAVE BGSAVE BGREWRITEAOF LASTSAVE REPLICAOF SLAVEOF FAILOVER CLUSTER ACL SCRIPT FUNCTION MODULE LATENCY SLOWLOG MEMORY OBJECT INFO COMMAND MONITOR SYNC PSYNC REPLCONF ROLE TIME LOLWUT SENTINEL PUBSUB PFDEBUG PFSELFTEST XGROUP|HELP XINFO|HELP",
	ofConnection: "AUTH HELLO CLIENT SELECT UNWATCH QUIT RESET READONLY READWRITE ASKING WAIT WAITAOF",
	ofChannels:   "PUBLISH SPUBLISH SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE SSUBSCRIBE SUNSUBSCRIBE",
}, map[string]spec{
	"EVAL": {"v#*v", ofScripts}, "EVAL_RO": {"v#*v", ofScripts}, "EVALSHA": {"n#*v", ofScripts}, "EVALSHA_RO": {"n#*v", ofScripts},
	"FCALL": {"m#*v", ofScripts}, "FCALL_RO": {"m#*v", ofScripts},
	"BLPOP": {"*k|n", ofWaiting}, "BRPOP": {"*k|n", ofWaiting}, "BZPOPMIN": {"*k|n", ofWaiting}, "BZPOPMAX": {"*k|n", ofWaiting}, "BRPOPLPUSH": {"kkn", ofWaiting},
	"BLMOVE": {"kknnn", ofWaiting}, "BLMPOP": {"n#*n", ofWaiting}, "BZMPOP": {"n#*n", ofWaiting}, "WATCH": {"*k", ofConnection},
	"MOVE": {"kn", ofOthers}, "MIGRATE": {"*v", ofOthers},
})

func build(parts, apart map[string]string, rest map[string]spec) map[string]spec {
	for p, names := range parts {
		for name := range strings.FieldsSeq(names) {
			rest[name] = spec{parts: p}
		}
	}
	for why, names := range apart {
		for name := range strings.FieldsSeq(names) {
			rest[name] = spec{"*v", why}
		}
	}
	rest["SELECT"] = spec{"n", ofConnection}
	return rest
}

// Commands knows the commands: those of the table, and others that a server has described.
type Commands struct{ told map[string]spec }

// find returns what is known of a command, whose name is in capitals.
func (t *Commands) find(name string, args [][]byte) (spec, bool) {
	if len(args) > 1 {
		switch name {
		case "OBJECT", "MEMORY", "XGROUP", "XINFO":
			if s, ok := table[name+"|"+strings.ToUpper(string(args[1]))]; ok {
				return s, true
			}
		}
	}
	s, ok := table[name]
	if !ok && t != nil {
		s, ok = t.told[name]
	}
	return s, ok
}

// assign says what each argument is; the first is the command itself. What the parts do not
// speak of is data. It is false if the arguments cannot be what the command takes.
func (s spec) assign(args [][]byte, roles []role) ([]role, bool) {
	roles = roles[:0]
	for range args {
		roles = append(roles, value)
	}
	w := walk{args, roles, 1}
	for i := 0; i < len(s.parts); i++ {
		switch p := s.parts[i]; p {
		case '*':
			group, end, _ := strings.Cut(s.parts[i+1:], "|")
			w.repeat(group, len(args)-len(end))
			w.repeat(end, len(args))
			return roles, true
		case '#':
			if !w.numbered() {
				return roles, false
			}
		case 'S':
			return roles, w.streams()
		case 'Z':
			w.words(func(word string) bool { return !isNumber([]byte(word)) })
			w.repeat("nm", len(args))
		case 'G':
			w.words(func(word string) bool { return word == "NX" || word == "XX" || word == "CH" })
			w.repeat("nnm", len(args))
		case 'X':
			w.entry()
		case 'F', 'V':
			w.words(func(word string) bool { return word != "FIELDS" })
			w.take(structure)
			w.take(structure)
			w.repeat(map[byte]string{'F': "m", 'V': "mv"}[p], len(args))
		case 'T':
			w.options()
		default:
			w.take(role(p))
		}
	}
	return roles, true
}

// walk goes through the arguments of a call.
type walk struct {
	args  [][]byte
	roles []role
	i     int
}

func (w *walk) take(r role) {
	if w.i < len(w.args) {
		w.roles[w.i] = r
		w.i++
	}
}

// repeat gives the roles of a group again and again, up to an argument.
func (w *walk) repeat(group string, end int) {
	for n := 0; group != "" && w.i < end; n++ {
		w.take(role(group[n%len(group)]))
	}
}

// words takes arguments as words while they are ones.
func (w *walk) words(are func(word string) bool) {
	for w.i < len(w.args) && are(w.word()) {
		w.take(structure)
	}
}

// word is the next argument in capitals.
func (w *walk) word() string { return strings.ToUpper(string(w.args[w.i])) }

func (w *walk) numbered() bool {
	if w.i >= len(w.args) {
		return false
	}
	n, err := strconv.Atoi(string(w.args[w.i]))
	if err != nil || n < 0 || n > len(w.args)-w.i-1 {
		return false
	}
	w.take(structure)
	for range n {
		w.take(key)
	}
	return true
}

func (w *walk) streams() bool {
	for w.i < len(w.args) {
		switch w.word() {
		case "STREAMS":
			w.take(structure)
			n := (len(w.args) - w.i) / 2
			w.repeat("k", w.i+n)
			w.repeat("n", len(w.args))
			return true
		case "GROUP":
			w.take(structure)
			w.take(member)
			w.take(member)
		default:
			w.take(structure)
		}
	}
	return false
}

// entry takes what XADD has behind its key.
func (w *walk) entry() {
	for w.i < len(w.args) {
		switch w.word() {
		case "NOMKSTREAM":
			w.take(structure)
		case "MAXLEN", "MINID":
			w.take(structure)
			if w.i < len(w.args) && (w.word() == "~" || w.word() == "=") {
				w.take(structure)
			}
			w.take(structure)
		case "LIMIT":
			w.take(structure)
			w.take(structure)
		default:
			w.take(structure)
			w.repeat("mv", len(w.args))
			return
		}
	}
}

func (w *walk) options() {
	for w.i < len(w.args) {
		word := w.word()
		w.take(structure)
		switch word {
		case "STORE", "STOREDIST":
			w.take(key)
		case "MATCH", "BY", "GET":
			w.take(value)
		case "FROMMEMBER":
			w.take(member)
		}
	}
}

// isNumber reports whether an argument is a number, as Redis takes them: also infinite, with
// an open interval's bracket, or the number of an entry of a stream.
func isNumber(b []byte) bool {
	if len(b) == 0 || len(b) > 40 {
		return false
	}
	if b[0] == '(' || b[0] == '#' {
		b = b[1:]
	}
	if _, err := strconv.ParseFloat(string(b), 64); err == nil {
		return true
	}
	before, after, ok := bytes.Cut(b, []byte("-"))
	return ok && whole(before) && whole(after)
}

func whole(b []byte) bool {
	_, err := strconv.ParseUint(string(b), 10, 64)
	return err == nil
}

// words are those that commands take beside numbers.
var words = func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`EX PX EXAT PXAT NX XX GT LT CH INCR GET SET KEEPTTL PERSIST LIMIT WITHSCORES WITHSCORE WITHVALUES
		MATCH COUNT TYPE NOVALUES BYSCORE BYLEX REV AGGREGATE SUM MIN MAX WEIGHTS LEFT RIGHT BEFORE AFTER ASC DESC ALPHA BY STORE STOREDIST
		AND OR XOR NOT BYTE BIT OVERFLOW WRAP SAT FAIL INCRBY FROMMEMBER FROMLONLAT BYRADIUS BYBOX WITHCOORD WITHDIST WITHHASH ANY M KM FT MI
		MAXLEN MINID NOMKSTREAM ~ = * $ > + - IDLE TIME RETRYCOUNT FORCE JUSTID LASTID BLOCK GROUP STREAMS NOACK MKSTREAM ENTRIESREAD
		FULL ENTRIESADDED MAXDELETEDID FIELDS FNX FXX FREQ IDLETIME REPLACE ABSTTL DB LEN IDX MINMATCHLEN WITHMATCHLEN RANK SAMPLES
		ENCODING REFCOUNT USAGE CREATE SETID DESTROY CREATECONSUMER DELCONSUMER STREAM GROUPS CONSUMERS`) {
		out[w] = true
	}
	return out
}()

// isStructure reports whether an argument is a number or a word of Redis: all that is kept
// of an argument that should be one.
func isStructure(b []byte) bool {
	if isNumber(b) || len(b) <= 16 && words[strings.ToUpper(string(b))] {
		return true
	}
	if len(b) > 1 && len(b) <= 3 && (b[0] == 'u' || b[0] == 'i') { // a type of BITFIELD
		return whole(b[1:])
	}
	return false
}

// isSecret reports whether a call may have a secret in it, and is never recorded.
func isSecret(name string, args [][]byte) bool {
	switch name {
	case "AUTH", "MIGRATE", "ACL", "CONFIG", "SENTINEL":
		return true
	case "HELLO":
		return len(args) > 2
	case "REPLCONF", "SYNC", "PSYNC":
		return true
	}
	for _, a := range args[1:] {
		if string(a) == "(redacted)" {
			return true
		}
	}
	return false
}
