package replay

import (
	"context"
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

const (
	// maxKeys is of how many keys and fields it is followed whether they were touched.
	maxKeys = 1 << 21
	// batch is how many values are loaded at once.
	batch = 256
)

// What commands read, of those whose keys can be made up.
var (
	readsValue  = set("GET STRLEN GETRANGE SUBSTR GETEX GETDEL MGET")
	readsFields = set("HGET HMGET HEXISTS HSTRLEN")
	readsHash   = set("HGETALL HKEYS HVALS HLEN HRANDFIELD HSCAN")
	readsOthers = set("LRANGE LINDEX LLEN LPOP RPOP LPOS SMEMBERS SISMEMBER SMISMEMBER SCARD SPOP SRANDMEMBER SSCAN SINTER SUNION SDIFF ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE " +
		"ZRANGEBYLEX ZREVRANGEBYLEX ZSCORE ZMSCORE ZRANK ZREVRANK ZCARD ZCOUNT ZLEXCOUNT ZPOPMIN ZPOPMAX ZRANDMEMBER ZSCAN XRANGE XREVRANGE XLEN XREAD XREADGROUP GETBIT BITCOUNT BITPOS PFCOUNT GEOPOS GEODIST GEOSEARCH GEORADIUS EXISTS TYPE TTL PTTL")
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// start is what was loaded before the calls. Any goroutine may read it.
type start struct {
	copied, loaded, assumed, unfilled atomic.Int64
	// tables is how many were made, and left what of them was not copied.
	tables atomic.Int64
	left   atomic.Pointer[[]string]
}

// States of a key.
const (
	settled = 1 + iota // what it holds is what calls wrote, or was loaded
	partly             // of a hash, fields are loaded as they are read
)

// loader loads what is read before anything writes it. It belongs to one goroutine.
type loader struct {
	*onRedis
	ctx   context.Context
	seed  maphash.Seed
	seen  map[uint64]uint8
	calls []*link.Caller
	n     int
}

// beginning is what a replay begins with, as files of answers have it.
type beginning string

const (
	empty  beginning = "empty"
	loaded beginning = "loaded"
	copied beginning = "copied"
	given  beginning = "given"
)

func (s *Spec) begins() beginning {
	switch {
	case s.Snapshot.Scheme != "":
		return copied
	case s.Schema != "":
		return given
	case s.Load && !s.Keyless():
		return loaded
	}
	return empty
}

// call looks at a call.
func (l *loader) call(args []capture.Arg, p *part, found capture.Found) error {
	name := args[0].Text
	for n, k := range p.keys {
		key := args[k].Text
		id := maphash.String(l.seed, key) ^ uint64(p.db)
		state := l.seen[id]
		switch {
		case state == settled || state == partly && !readsFields[name]:
			continue
		case len(l.seen) >= maxKeys:
			return nil
		}
		l.seen[id] = settled
		var err error
		switch {
		case found.Known && !found.Hit:
		case readsValue[name]:
			if found.Known && n == 0 {
				err = l.value(key, p.db, found.Size)
			} else {
				l.start.assumed.Add(1)
				err = l.value(key, p.db, l.Recording.value)
			}
		case readsFields[name] && k == 1:
			l.seen[id] = partly
			err = l.fields(id, key, p.db, args[2:], found)
		case readsHash[name]:
			l.start.assumed.Add(1)
			f := capture.TextArg("field")
			err = l.field(key, p.db, &f, l.Recording.value)
		case readsOthers[name]:
			l.start.unfilled.Add(1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fields loads those fields of a hash that no call has asked for yet.
func (l *loader) fields(of uint64, key string, db int, fields []capture.Arg, found capture.Found) error {
	for i := range fields {
		f := &fields[i]
		id := of*31 + maphash.Bytes(l.seed, content(nil, f))
		if l.seen[id] != 0 {
			continue
		}
		l.seen[id] = settled
		size := l.Recording.value
		if found.Known && len(fields) == 1 {
			size = found.Size
		} else {
			l.start.assumed.Add(1)
		}
		if err := l.field(key, db, f, size); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) value(key string, db, size int) error {
	return l.load([]capture.Arg{capture.TextArg("SET"), capture.TextArg(key), {Kind: capture.Size, Size: size}}, db)
}

func (l *loader) field(key string, db int, field *capture.Arg, size int) error {
	return l.load([]capture.Arg{capture.TextArg("HSET"), capture.TextArg(key), *field, {Kind: capture.Size, Size: size}}, db)
}

// load makes a call, together with others.
func (l *loader) load(args []capture.Arg, db int) error {
	if l.n == len(l.calls) {
		l.calls = append(l.calls, &link.Caller{})
	}
	q := l.calls[l.n]
	l.n++
	q.Reset()
	l.command(&q.Request, args, []int{1}, db)
	if l.n < batch {
		return nil
	}
	return l.flush()
}

func (l *loader) flush() error {
	if l.n == 0 {
		return nil
	}
	n := l.n
	l.n = 0
	if err := l.lines.DoAll(l.ctx, l.calls[:n]); err != nil {
		return err
	}
	l.start.loaded.Add(int64(n))
	return nil
}
