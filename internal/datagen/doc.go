package datagen

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// Kind is the type of a field.
type Kind string

// Kinds of fields.
const (
	Text    Kind = "text"
	Integer Kind = "integer"
	Float   Kind = "float"
	Decimal Kind = "decimal"
	Boolean Kind = "boolean"
	Date    Kind = "date"
	Time    Kind = "time"
)

// Model is the content of a definition: its objects, none of which changes after Read.
type Model struct {
	// Objects are in the order of the file.
	Objects []*Object
	// Taken are the names of all values that belong to the model.
	Taken []string
}

// Find returns the object with a name, nil if there is none.
func (m *Model) Find(name string) *Object {
	i := slices.IndexFunc(m.Objects, func(o *Object) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return m.Objects[i]
}

// Names returns the names of the objects.
func (m *Model) Names() []string {
	out := make([]string, len(m.Objects))
	for i, o := range m.Objects {
		out[i] = o.Name
	}
	return out
}

// Object is one kind of data object.
type Object struct {
	// Name is the name in the definition, Table the table that holds its rows.
	Name, Table string
	// Where is the file and line of its first value.
	Where string
	// Fields are in the order of columns and of JSON.
	Fields []*Field

	key   int   // index of the key field
	order []int // indexes of the fields, with templates after what they use
	typ   reflect.Type
}

// Key returns the field that identifies objects.
func (o *Object) Key() *Field { return o.Fields[o.key] }

// Columns returns the names of the fields.
func (o *Object) Columns() []string {
	out := make([]string, len(o.Fields))
	for i, f := range o.Fields {
		out[i] = f.Name
	}
	return out
}

// Field returns the field with a name, nil if there is none.
func (o *Object) Field(name string) *Field {
	if i := o.index(name); i >= 0 {
		return o.Fields[i]
	}
	return nil
}

func (o *Object) index(name string) int {
	return slices.IndexFunc(o.Fields, func(f *Field) bool { return f.Name == name })
}

// Link returns the index of the first field that refers to a parent, -1 if there is
// none.
func (o *Object) Link(parent *Object) int {
	return slices.IndexFunc(o.Fields, func(f *Field) bool { return parent != nil && f.Parent == parent })
}

// Search returns the field by which rows can be searched, other than the key: the first
// one with an index. It returns nil if there is none.
func (o *Object) Search() *Field {
	for i, f := range o.Fields {
		if f.Index && i != o.key && !f.Payload {
			return f
		}
	}
	return nil
}

// Live reports whether the length of any text follows the payload.
func (o *Object) Live() bool {
	return slices.ContainsFunc(o.Fields, func(f *Field) bool { return f.Payload })
}

// Bytes returns the approximate length of an object as JSON, with a payload of that
// size.
func (o *Object) Bytes(payload int) int {
	n := 2
	for _, f := range o.Fields {
		n += len(f.Name) + 6 + f.bytes(payload)
	}
	return n
}

// Field is one value of an object.
type Field struct {
	Name string
	Kind Kind
	// Generator is the keyword for how the value is generated.
	Generator string
	// Index requests an index on its column, ForeignKey a foreign key constraint on its
	// parent.
	Index, ForeignKey bool
	// Payload means that a text is as long as the run's current payload.
	Payload bool
	// Parent is the object that the field refers to, by its key.
	Parent *Object
	// Children is how many children a parent has if they are written after it.
	Children Count

	where  string
	gen    func(m *Maker, f *Field, n int64)
	hash   uint64
	lo, hi int64   // for numbers, lengths, and times in ms
	flo    float64 // for floats
	fhi    float64
	digits int // decimals of a decimal number
	scale  int64
	list   []string
	ints   []int64
	floats []float64
	upTo   []int64 // cumulative weights
	share  float64
	start  int64
	step   int64
	parts  []part // for a template or a pattern
	pad    int    // digits of a pattern's number
	spread string
	skew   float64
	first  int64 // number of the first parent
	each   int64 // for sequential: how many consecutive children have the same parent
	zipf   int   // index among the maker's generators
	self   int   // index in the object
}

// Count is how many children a parent has: from Least to Most, with one of group's
// distributions: fixed, uniform, geometric, zipf.
type Count struct {
	Least, Most int64
	Spread      string
	// Given means that the definition has one.
	Given bool
}

// part is a piece of a template: text, or the value of a field.
type part struct {
	text  string
	field int // -1: text
}

// bytes returns the approximate length of the value as JSON.
func (f *Field) bytes(payload int) int {
	switch {
	case f.Payload:
		return payload
	case f.Kind == Text:
		return min(f.size(), 40)
	}
	return 12
}

// cell is the value of one field of the object being made.
type cell struct {
	i        int64
	f        float64
	from, to int // for a text, in the maker's buffer
}

func fail(where, object, field, format string, args ...any) error {
	name := "object " + object
	if field != "" {
		name += ": field " + field
	}
	return fmt.Errorf("%s: %s: %s", where, name, fmt.Sprintf(format, args...))
}

func stamp(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
