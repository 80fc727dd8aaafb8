package pbm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// settle decides on the layout and finds out whose keys exist. If the maps exist, it is
// theirs, provided that the store can carry out the plan on it; otherwise it is by
// groups for transactions, and whole maps for look-ups.
func (b *run) settle(made []store.Made) error {
	s := b.s
	if s.layout == layoutAuto {
		s.layout = layoutMap
		if s.tx() {
			s.layout = layoutGroup
		}
		for _, m := range made {
			if slices.Contains(b.needs(), m.Name) && (m.Grouped || b.inOneStep()) {
				s.layout = layoutOf(m.Space)
			}
		}
	}
	if s.tx() && !s.grouped() && !b.inOneStep() {
		return fault.Field("layout", fault.Input(errors.New("layout: map keeps a whole map on one node of a cluster, and tx needs a group's entries together"),
			"use layout=group or layout=auto"))
	}
	for _, m := range made {
		if m.Name == padogrid.Eligibility && !m.Grouped {
			s.left = sharesOf(m.Params, s.prefix)
		}
	}
	return nil
}

// inOneStep reports whether maps that are one structure each can take part in a
// transaction: on everything but a cluster, where they are on different nodes.
func (b *run) inOneStep() bool {
	t, ok := b.c.(redis.Typed)
	if !ok {
		return true
	}
	return !link.IsCluster(t.Client())
}

// elsewhere returns the advice for maps that exist in a layout which transactions on a
// cluster cannot use.
func (b *run) elsewhere() string {
	name := "groups"
	if b.s.namespace != "" {
		name = b.s.namespace + "-groups"
	}
	if b.s.load == loadNever {
		return "load them by groups with  " + b.reloadIn(name) + ",  and run this with  --namespace " + name
	}
	return fmt.Sprintf("run the same with  --namespace %s:  there tx loads the maps by groups itself", name)
}

// sharesOf reads from the record of a map which keys with this prefix it has.
func sharesOf(params map[string]string, prefix string) []padogrid.Share {
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(params[name], 10, 64) // 0 if it is not a number
		return n
	}
	if params["keysets"] == "" { // an earlier tx loaded it
		var out []padogrid.Share
		for t := range number("threads") {
			out = append(out, padogrid.EligibilityShare(int(t), number("perThread"), max(number("memberSetSize"), 1), 0, number("baseDateMs")))
		}
		return out
	}
	return keySetsOf(params["keysets"], prefix)
}

// keySetsOf parses the sets of keys that ingestion has recorded. A set gives the size
// of the first share and the start of the last one, but not whether the shares in
// between are equal or consecutive. If both are possible, both are included: a key that
// does not exist adds nothing.
func keySetsOf(keysets, prefix string) []padogrid.Share {
	var out []padogrid.Share
	text := strings.NewReplacer("=", `\x3d`, ";", `\x3b`).Replace(strconv.QuoteToASCII(prefix))
	for set := range strings.SplitSeq(keysets, ";") {
		name, size, _ := strings.Cut(set, "=")
		rest, ours := strings.CutPrefix(name, "elig/"+text+"/")
		words := strings.Split(rest, "/")
		if !ours || len(words) != 5 {
			continue
		}
		var n [6]int64 // base, members, threads, start of the last share, entries of the first share, all entries
		for i, w := range append(words, size) {
			n[i], _ = strconv.ParseInt(w, 10, 64) // 0 if it is not a number
		}
		base, members, threads, last, first, all := n[0], n[1], n[2], n[3], n[4], n[5]
		if members < 1 || threads < 1 {
			continue
		}
		share := func(at, entries int64) {
			out = append(out, padogrid.Share{First: at, FirstGroup: at / members, Entries: entries, Size: members, Base: base})
		}
		if threads == 1 || last%(threads-1) == 0 {
			for t := range threads {
				share(t*(last/max(threads-1, 1)), first)
			}
		}
		if groups := (all + members - 1) / members; threads > 1 && all < threads*first {
			at := int64(0)
			for t := range threads {
				k := groups / threads
				if t < groups%threads {
					k++
				}
				share(at, min(k*members, all-at))
				at += k * members
			}
		}
	}
	return out
}

// keySets returns the shares in which the members of a group may be.
func (s *Spec) keySets() []padogrid.Share {
	if !s.grouped() && len(s.left) > 0 {
		return s.left
	}
	out := make([]padogrid.Share, s.eligThreads)
	for t := range out {
		out[t] = s.share(t)
	}
	return out
}

// memberKeys computes the keys of a group's members, for stores that cannot be queried
// for them.
func (s *Spec) memberKeys(group []byte) [][]byte {
	n := int64(0)
	for _, c := range group[len(s.prefix):] {
		n = n*10 + int64(c-'0')
	}
	var out [][]byte
	for _, sh := range s.keySets() {
		k := n - sh.FirstGroup - 1
		if k < 0 || k*sh.Size >= sh.Entries {
			continue
		}
		for i := k * sh.Size; i < min((k+1)*sh.Size, sh.Entries); i++ {
			e := sh.EligibilityKey(i)
			key := e.AppendMember(nil)
			if !s.grouped() {
				key = e.AppendText(nil, s.prefix)
			}
			if !slices.ContainsFunc(out, func(other []byte) bool { return string(other) == string(key) }) {
				out = append(out, key)
			}
		}
	}
	return out
}

// members adds up the members of a group through the plain shapes.
func (h *shapes) members(ctx context.Context, group []byte) (sum summary, err error) {
	var got [][]byte
	keys, at := h.s.memberKeys(group), h.s.space(padogrid.Eligibility)
	if h.s.grouped() {
		got, err = h.grouped.GetGroup(ctx, at, group, keys)
	} else {
		got, err = h.getAll.GetAll(ctx, at, keys)
	}
	for _, v := range got {
		if v != nil {
			sum.Members++
			sum.Bytes += int64(len(v))
		}
	}
	return sum, err
}
