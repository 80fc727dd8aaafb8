package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
)

// findVague goes through the capture for the keys whose answers depend on more than the order of
// their calls.
func (r *onRedis) findVague(ended <-chan struct{}) error {
	r.vague = map[uint64]bool{}
	long := 10*r.Length + 2*time.Minute // a replay at a tenth of the speed takes less
	return r.items(ended, func(i *item, args []capture.Arg) error {
		several, first := false, uint64(0)
		for _, p := range i.calls {
			for _, k := range p.keys {
				key := keyOf(args[p.from+k].Text, p.db)
				several, first = several || first != 0 && key != first, key
			}
		}
		for _, p := range i.calls {
			words := args[p.from:p.to]
			if !several && !drawn[words[0].Text] && !expires(words, long.Milliseconds()) {
				continue
			}
			for _, k := range p.keys {
				r.vague[keyOf(words[k].Text, p.db)] = true
			}
		}
		if len(r.vague) > maxKeys {
			return fault.Input(fmt.Errorf("answers: more than %d keys are named together with others, or expire", maxKeys), "capture for a shorter time")
		}
		return nil
	})
}

func keyOf(key string, db int) uint64 { return hash(key) ^ uint64(db)*0x9e3779b97f4a7c15 }

var (
	// drawn are commands after which a key holds what chance or the clock decides.
	drawn = set("SPOP XADD XREADGROUP XCLAIM XAUTOCLAIM XGROUP|CREATE")
	// passing are commands whose answers chance, the clock or the inside of a server decides.
	passing = set("TTL PTTL EXPIRETIME PEXPIRETIME HTTL HPTTL HEXPIRETIME HPEXPIRETIME OBJECT MEMORY SRANDMEMBER SPOP HRANDFIELD ZRANDMEMBER XADD XINFO XPENDING " +
		"XREADGROUP XCLAIM XAUTOCLAIM HSCAN SSCAN ZSCAN DUMP GEOSEARCH GEORADIUS GEORADIUS_RO GEORADIUSBYMEMBER GEORADIUSBYMEMBER_RO")
	// unordered are commands that answer with members in any order, paired those with pairs.
	unordered = set("SMEMBERS HKEYS HVALS SINTER SUNION SDIFF")
	paired    = set("HGETALL")
)

// encoding is what OBJECT is asked whose answer does not pass.
const encoding = "ENCODING"

// expires reports whether a call makes a key expire within so many ms.
func expires(words []capture.Arg, within int64) bool {
	span := func(a *capture.Arg, unit int64) bool {
		n := int64(0)
		_, err := fmt.Sscan(a.Text, &n)
		return err != nil || n < within/unit
	}
	switch name := words[0].Text; name {
	case "EXPIRE", "SETEX", "HEXPIRE":
		return len(words) > 2 && span(&words[2], 1000)
	case "PEXPIRE", "PSETEX", "HPEXPIRE":
		return len(words) > 2 && span(&words[2], 1)
	case "SET", "GETEX", "HGETEX", "HSETEX":
		for i := 2; i+1 < len(words); i++ {
			switch {
			case i == 2 && name == "SET":
			case strings.EqualFold(words[i].Text, "EX"):
				return span(&words[i+1], 1000)
			case strings.EqualFold(words[i].Text, "PX"):
				return span(&words[i+1], 1)
			}
		}
	}
	return false
}

// answer returns what is kept of an answer; false: none came. That of a transaction is that of its
// calls together: the first stands for them.
func (k *redisCaller) answer(err error) (answer, bool) {
	if _, is := errors.AsType[interface {
		error
		RedisError()
	}](err); err != nil && !is {
		return answer{}, false
	}
	p, r := &k.in.parts[k.call.from], &k.q.Reply
	words := k.in.args[p.from:p.to]
	name := words[0].Text
	vague := passing[name] && !(name == "OBJECT" && len(words) > 1 && strings.EqualFold(words[1].Text, encoding))
	for _, key := range p.keys {
		vague = vague || k.on.vague[keyOf(words[key].Text, p.db)]
	}
	if err != nil {
		h, text := fnv.New64a(), strings.ReplaceAll(err.Error(), k.on.prefix, "")
		_, _ = io.WriteString(h, text) // never fails
		return answer{vague, anError, uint32(min(int64(len(text)), math.MaxUint32)), h.Sum64()}, true
	}
	n := r.Len()
	out := answer{vague: vague, kind: aValue, size: uint32(n)}
	var one []byte
	step := 1
	if paired[name] {
		step = 2
	}
	for i := 0; i < n; i += step {
		h := fnv.New64a()
		for j := i; j < min(i+step, n); j++ {
			text, there := r.At(j)
			if j == 0 {
				one = text
			}
			if n == 1 && !there {
				return answer{vague: vague, kind: nothing}, true
			}
			_, _ = h.Write(binary.AppendVarint(nil, int64(len(text))<<1|int64(map[bool]int{true: 1}[there]))) // never fails
			_, _ = h.Write(text)
		}
		if paired[name] || unordered[name] {
			out.hash += h.Sum64() // in any order
		} else {
			out.hash = out.hash*0x100000001b3 ^ h.Sum64()
		}
	}
	if n == 1 {
		out.size = uint32(min(int64(len(one)), math.MaxUint32))
	}
	return out, true
}

// describe says which call it was, and what it was answered.
func (k *redisCaller) describe(err error) (call, now string) {
	p, r := &k.in.parts[k.call.from], &k.q.Reply
	words := k.in.args[p.from:p.to]
	var names []string
	for i, w := range words[:min(len(words), 3)] {
		if w.Kind == capture.Text && (i < 2 || slices.Contains(p.keys, i)) {
			names = append(names, short([]byte(w.Text)))
		}
	}
	switch text, there := []byte(nil), false; {
	case err != nil:
		now = "the error " + short([]byte(err.Error()))
	case r.Len() == 1:
		if text, there = r.At(0); there {
			now = short(text)
		}
	}
	return strings.Join(names, " "), now
}
