package store

import (
	"context"
	"strings"
)

// Space is a named place for data.
type Space struct {
	// Namespace is the prefix of everything created; may be empty.
	Namespace string `json:"namespace"`
	// Name is the structure's name: "eligibility".
	Name string `json:"name"`
	// Shape is how the data are kept.
	Shape Shape `json:"shape"`
	// Grouped means that the space is kept as one structure per group instead of a
	// single one, co-located by hash tag if the store supports that.
	Grouped bool `json:"grouped,omitempty"`
}

// Shape is how data are kept.
type Shape string

// Map is keys with values.
const Map Shape = "map"

// Keys is several structures under one name, laid out by a profile that keeps its own
// data: on a store of keys, those that begin with the name and a hash tag (the space is
// then Grouped); on Cassandra, tables, which the record names; on an SQL store, the one
// table of that name. The profile creates them, not the store.
const Keys Shape = "keys"

// Schema is a schema of PostgreSQL, or a database of MySQL, with everything in it. The profile
// creates it, not the store.
const Schema Shape = "schema"

// Entry is one key with its value. Both may be reused by the caller once the
// call has returned.
type Entry struct {
	Key, Val []byte
}

// Group is the entries of one group, for a grouped space.
type Group struct {
	// Name is the group's name, the text of the hash tag: "x17".
	Name    []byte
	Entries []Entry
}

// Putter stores one entry and makes the store return the value it replaces, as a map's
// put does. The caller does not get the old value: reading it is what counts.
type Putter interface {
	Put(ctx context.Context, s Space, key, val []byte) error
}

// Setter stores one entry without reading the old value.
type Setter interface {
	Set(ctx context.Context, s Space, key, val []byte) error
}

// BatchPutter stores entries in one call.
type BatchPutter interface {
	PutAll(ctx context.Context, s Space, es []Entry) error
}

// Getter reads one value into buf and returns it; false if the key is absent. The
// result may share buf's memory.
type Getter interface {
	Get(ctx context.Context, s Space, key, buf []byte) ([]byte, bool, error)
}

// BatchGetter reads the values of keys in one call; absent ones are nil.
type BatchGetter interface {
	GetAll(ctx context.Context, s Space, keys [][]byte) ([][]byte, error)
}

// Counter returns how many entries a space holds, over all groups if grouped.
type Counter interface {
	Count(ctx context.Context, s Space) (int64, error)
}

// GroupPutter stores entries in a grouped space: one structure per group, with the
// groups of a call sent together.
type GroupPutter interface {
	// PutGroup stores one entry in one group, reading the old value as Put does.
	PutGroup(ctx context.Context, s Space, group, key, val []byte) error
	// PutGroups stores the entries of several groups.
	PutGroups(ctx context.Context, s Space, gs []Group) error
	// GetGroup reads the values of keys in one group; absent ones are nil.
	GetGroup(ctx context.Context, s Space, group []byte, keys [][]byte) ([][]byte, error)
}

// Found is what was found when looking at a space.
type Found struct {
	// Exists means that there is something under the space's name.
	Exists bool
	// Kind is the store's word for it: "hash".
	Kind string
	// Size is the number of entries, -1 if unknown.
	Size int64
	// Parts are those of the requested parts that exist. Keys has a key of each, on a
	// store of keys.
	Parts []string
	Keys  map[string]string
	// Odd says which key that belongs to the space by its name is of another type than
	// its form: "perfbench:a:{0}b is a hash, not a string". Others made it, and writing
	// there would destroy it.
	Odd string
	// Strangers are some of the keys that begin with the space's name but do not belong
	// to it: others have put them there. They do not make Exists true.
	Strangers []string
}

// Peeker looks at a space without counting it, for stores in which counting takes time
// proportional to the data. That is enough for a space that is recorded as the run's
// own.
type Peeker interface {
	// Peek is like Inspect, but Size is 0 for an empty space and otherwise -1.
	Peek(ctx context.Context, s Space, parts ...string) (Found, error)
}

// Made is the record of a space that perfbench made, kept in the store next to the
// data.
type Made struct {
	Space
	// Profile and Run say who made it; Updated is when it was last written (RFC 3339).
	Profile string `json:"profile"`
	Run     string `json:"run"`
	Updated string `json:"updated"`
	// Params holds what a later run must know to recognize the data.
	Params map[string]string `json:"params,omitempty"`
	// Shared means that others had made the space when we first wrote into it: it is
	// not ours to remove.
	Shared bool `json:"shared,omitempty"`
	// Parts is what a space of shape Keys consists of; nothing else in it is ours. On a
	// store of tables, these are their exact names. On a store of keys, they are forms
	// (FormOf) of a type and of what follows the space's name and ":"; in older records,
	// text in which a * stands for any text, "{*}:g:*". The oldest have none.
	Parts []string `json:"parts,omitempty"`
	// Table is what the table of a space of shape Keys has, if the space is one table of
	// an SQL database: another one in its place is not ours. Older records have none.
	Table *Table `json:"table,omitempty"`
	// Tables is what each of Parts has, where these are tables: another one in the place
	// of one of them is not ours. Older records have none.
	Tables map[string]Table `json:"tables,omitempty"`
}

// Keeper manages spaces: what exists, what we made, and its removal. It never touches
// anything that was not recorded as ours. Only package place calls it; nobody else
// drops anything.
type Keeper interface {
	// Inspect looks at a space, and at which of its parts exist; see Made.Parts. It
	// changes nothing, and works whoever owns the space.
	Inspect(ctx context.Context, s Space, parts ...string) (Found, error)
	// Record records that we made a space, and then creates what a space of shape Map
	// needs. If called again, it replaces the record.
	Record(ctx context.Context, m Made) error
	// Made lists what is recorded under a namespace.
	Made(ctx context.Context, namespace string) ([]Made, error)
	// Drop removes a space's data, exactly as far as its record says, and the record.
	// It returns how many keys, rows or tables were removed. progress may be nil.
	Drop(ctx context.Context, s Space, progress func(done int64)) (int64, error)
}

// Table says what a table must have so that the rows of a run fit into it.
type Table struct {
	Columns []Column `json:"columns"`
	// Key are the columns of the primary key; empty: any will do.
	Key []string `json:"key,omitempty"`
}

// Column is a column of a table. Its type matters if the product compares types; it is
// not recorded. Tables of older versions may lack a column that is Later.
type Column struct {
	Name  string `json:"name"`
	Type  string `json:"-"`
	Later bool   `json:"later,omitempty"`
}

// Columns parses columns as written in a statement: "name type, name type".
func Columns(list string) []Column {
	var out []Column
	for c := range strings.SplitSeq(list, ", ") {
		name, kind, _ := strings.Cut(strings.TrimSpace(c), " ")
		out = append(out, Column{Name: name, Type: kind})
	}
	return out
}

// Misfit says why an existing table cannot be used: "it has no column v". Both reasons
// are empty if it can.
type Misfit struct {
	// Table is the name of the table.
	Table string
	// Read is why rows cannot be read from it, Write why they cannot be written.
	Read, Write string
}

// Tabular is implemented by keepers of tables. Misfit checks the existing table of a
// space, or of one of its parts; for a space of shape Map, the keeper knows what it
// must have.
type Tabular interface {
	Misfit(ctx context.Context, s Space, part string, want Table) (Misfit, error)
}

// Prober is implemented by stores that can tell before a run whether they would accept
// its writes. The error says what is missing, with a hint and fault.CodeStore. A probe
// writes only under names that it has drawn (Unlikely), and removes only what it wrote:
// a fixed name may be somebody else's. A space without a name stands for none in
// particular: the probe is about the namespace.
type Prober interface {
	Probe(ctx context.Context, s Space) error
}

// Answerer is implemented by stores that may be away or not ready yet. Answer makes a
// tiny request that changes nothing to every part that a run needs, and returns why it
// was not answered: a server that is starting or loading its data refuses it.
type Answerer interface {
	Answer(ctx context.Context) error
}

// Forgetful is implemented by stores that may not keep what is written, in which case
// there is nothing to verify.
type Forgetful interface {
	Forgets() bool
}

// Forgets reports whether a store may not keep what is written.
func Forgets(c Conn) bool {
	f, ok := Has[Forgetful](c)
	return ok && f.Forgets()
}

// Server is implemented by connections to a store of this process.
type Server interface {
	// Serve takes as long as a call does by the target and the faults of the run, and fails as
	// these have it. It is safe for use by several goroutines.
	Serve(ctx context.Context) error
}

// Serve returns what a profile that keeps data in this process by itself, beside the connection,
// calls for each of its calls.
func Serve(c Conn) func(ctx context.Context) error {
	if s, ok := Has[Server](c); ok {
		return s.Serve
	}
	return func(ctx context.Context) error { return ctx.Err() }
}

// Warmer is implemented by connections whose pool can be filled before a run, so that
// opening connections is not measured as part of its first calls.
type Warmer interface {
	// Warm opens connections until n calls can be in progress at once, or as many as
	// the pool may hold. It changes nothing in the store.
	Warm(ctx context.Context, n int) error
}

// Maps is everything that a store of maps can do with entries.
type Maps interface {
	Putter
	Setter
	BatchPutter
	Getter
	BatchGetter
	Counter
	GroupPutter
}
