package run

import (
	"slices"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// kin is the operation that says to which family the entries of an operation belong: itself,
// or one with a parent in the same space.
func kin(s *model.Spec, o *model.Op) *model.Op {
	if o.Parent == nil {
		for _, other := range s.Order {
			if other.Parent != nil && other.Space == o.Space {
				return other
			}
		}
	}
	return o
}

// tagOf is the hash tag under which an entry of related maps lies: the key of its
// family's first parent.
func tagOf(s *model.Spec, o *model.Op, n int64, key []byte) []byte {
	of := kin(s, o)
	if of.Parent == nil {
		return key
	}
	for of.Parent != nil {
		nth := (n - 1) / of.Parent.Children.Most
		of, n = of.Parent, nth
	}
	n += of.Start - 1
	if of.Factory == nil {
		return of.Key(nil, n)
	}
	return []byte(of.Factory.ID(n))
}

// forms are those of the keys of a space that has one for each entry, or for each family of
// entries, whichever operation writes them; none for other spaces.
func forms(s *model.Spec, st *stock) (out []string) {
	if !st.space.Grouped {
		return nil
	}
	for _, o := range s.Order {
		if o.Space != st.space {
			continue
		}
		if !o.Kind.Many() { // the pieces of a map are those of families
			for o = kin(s, o); o.Parent != nil; {
				o = o.Parent
			}
		}
		form := store.FormOf(st.op.Kind.RedisType(), `\{`+o.KeyPattern()+`\}`)
		if !slices.Contains(out, form) {
			out = append(out, form)
		}
	}
	return out
}
