// Package onredis keeps the data of a workload in Redis: each record under a key of its own.
package onredis

import (
	"errors"
	"regexp"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// data is what all clients share. It is never changed.
type data struct {
	lines *link.Lines
	sets  []set
	// statements are the words of each statement.
	statements [][]string
}

// set is a data set: what its keys begin with, and the names of its fields.
type set struct {
	*model.Data
	prefix string
}

// kinds are Redis's words for the types of data.
var kinds = map[model.Type]string{
	model.Value: "string", model.Counter: "string", model.Hash: "hash", model.List: "list", model.Set: "set", model.Sorted: "zset", model.Stream: "stream",
}

// New returns the data of a workload under a namespace. It changes nothing in the store.
func New(c redis.Typed, w *model.Workload, namespace string) *model.Adapter {
	d := &data{lines: c.Lines(true)}
	a := &model.Adapter{Open: func() (model.Client, error) { return &client{data: d}, nil }}
	a.Key = func(dst []byte, set int, key []byte) []byte {
		return append(append(dst, d.sets[set].prefix...), key...)
	}
	cluster := link.IsCluster(c.Client())
	a.Lacks = func(op *model.Operation, st *model.Step, d *model.Data) error { return lacks(op, st, d, cluster) }
	for i := range w.Data {
		one := &w.Data[i]
		space := store.Space{Namespace: namespace, Name: one.Name, Shape: store.Keys, Grouped: true}
		a.Spaces = append(a.Spaces, ownership.Space{Space: space, Parts: []string{store.FormOf(kinds[one.Type], regexp.QuoteMeta(one.Key.Prefix)+`\d+`)}})
		d.sets = append(d.sets, set{one, redis.KeyOf(space) + ":"})
	}
	for _, st := range w.Statements() {
		words, err := split(st.Text)
		if err != nil {
			words = nil // lacks has said so
		}
		d.statements = append(d.statements, words)
	}
	return a
}

// can are the verbs for each type.
var can = map[model.Type][]model.Verb{
	model.Value:   {model.Get, model.Put, model.Insert, model.Modify, model.Delete},
	model.Hash:    {model.Get, model.Put, model.Insert, model.Update, model.Modify, model.Delete},
	model.Counter: {model.Get, model.Put, model.Insert, model.Add, model.Delete},
	model.List:    {model.Push, model.Pop, model.Range, model.Delete},
	model.Set:     {model.Include, model.Exclude, model.Has, model.Members, model.Delete},
	model.Sorted:  {model.Include, model.Exclude, model.Has, model.Members, model.Range, model.Delete},
	model.Stream:  {model.Append, model.Range, model.Delete},
}

func lacks(op *model.Operation, st *model.Step, d *model.Data, cluster bool) error {
	switch {
	case op.Atomic && cluster:
		return fault.Hint(errors.New("a cluster has no transactions on several keys"), "leave atomic out, or use a single Redis or a database")
	case op.Atomic && st.Do == model.Statement:
		return fault.Hint(errors.New("a transaction of Redis has no statements here"), "leave atomic out")
	case st.Do == model.Statement:
		_, err := split(st.Text)
		return err
	case d == nil:
		return nil
	case st.Do == model.Scan:
		return fault.Hint(errors.New("keys of Redis have no order, so they cannot be scanned"), "use range on a sorted set or a list; or a database, cassandra:// or coherence://")
	case !slices.Contains(can[d.Type], st.Do):
		return model.Unable("Redis", st, d, can[d.Type])
	}
	return nil
}

// split parts a statement into words.
func split(text string) (words []string, err error) {
	words, err = workload.SplitWords(text)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("a statement is empty")
	}
	return words, nil
}
