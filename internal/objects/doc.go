// Package objects makes data objects that users define: in place of the factory class
// that they would write for PadoGrid. A definition is a set of named values, as a YAML
// file has them,
//
//	objects:
//	  buyer:
//	    key: b-######
//	    fields:
//	      name: name
//	      spent: {type: decimal, range: 0..5000}
//
// read by Read, which finds all that is wrong with it. The object of a number depends
// on the seed and the number alone: whoever verifies makes it again. A Maker makes the
// objects of one goroutine and encodes them as JSON, as the arguments of a statement,
// or as a struct for gorm.
//
// The package knows no store and no profile. Northwind's tables are not defined this
// way, since their bytes are those of releases before; they throw the same Dice.
package objects

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

// Model is what a file defines: its objects, none of which changes after Read.
type Model struct {
	// Objects are in the order of the file.
	Objects []*Object
	// Taken are the names of all values that belong to the model.
	Taken []string
}

// Find returns the object of a name, nil when there is none.
func (m *Model) Find(name string) *Object {
	i := slices.IndexFunc(m.Objects, func(o *Object) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return m.Objects[i]
}

// Names lists the objects.
func (m *Model) Names() []string {
	out := make([]string, len(m.Objects))
	for i, o := range m.Objects {
		out[i] = o.Name
	}
	return out
}

// Object is one kind of data object.
type Object struct {
	// Name is that of the definition, Table where rows of it are kept.
	Name, Table string
	// Where is the file and line of its first value.
	Where string
	// Fields are in the order of columns and of JSON.
	Fields []*Field

	key   int   // index of the field that is the key
	order []int // indexes of the fields so that templates come after what they use
	typ   reflect.Type
}

// Key is the field that tells objects apart.
func (o *Object) Key() *Field { return o.Fields[o.key] }

// Columns lists the names of the fields.
func (o *Object) Columns() []string {
	out := make([]string, len(o.Fields))
	for i, f := range o.Fields {
		out[i] = f.Name
	}
	return out
}

// Field finds a field by its name, nil when there is none.
func (o *Object) Field(name string) *Field {
	if i := o.index(name); i >= 0 {
		return o.Fields[i]
	}
	return nil
}

func (o *Object) index(name string) int {
	return slices.IndexFunc(o.Fields, func(f *Field) bool { return f.Name == name })
}

// Link is the index of the first field that refers to a parent, -1 when none does.
func (o *Object) Link(parent *Object) int {
	return slices.IndexFunc(o.Fields, func(f *Field) bool { return parent != nil && f.Parent == parent })
}

// Search is the field by which rows are looked for, other than by their key: the first
// that has an index. Nil when none has.
func (o *Object) Search() *Field {
	for i, f := range o.Fields {
		if f.Index && i != o.key && !f.Payload {
			return f
		}
	}
	return nil
}

// Live says whether some text takes the size of the payload.
func (o *Object) Live() bool {
	return slices.ContainsFunc(o.Fields, func(f *Field) bool { return f.Payload })
}

// Bytes is about how long an object is as JSON, with a payload of that size.
func (o *Object) Bytes(payload int) int {
	n := 2
	for _, f := range o.Fields {
		n += len(f.Name) + 6 + f.bytes(payload)
	}
	return n
}

// KeyBytes is how long the key of a number is, and the most that a table has room for.
func (o *Object) KeyBytes(n int64) (is, room int) {
	return len(o.AppendKey(nil, 1, n)), o.Key().size()
}

// Field is one value of an object.
type Field struct {
	Name string
	Kind Kind
	// Generator is the word for what makes the value.
	Generator string
	// Index asks for an index on its column, ForeignKey for a constraint that its
	// parent's row is there.
	Index, ForeignKey bool
	// Payload says that a text is as long as the run's payload, whatever it is now.
	Payload bool
	// Parent is the object that it refers to, by its key.
	Parent *Object
	// Children are how many children a parent has when they are written after it.
	Children Count

	where  string
	gen    func(m *Maker, f *Field, n int64)
	hash   uint64
	lo, hi int64   // of numbers, of lengths, of times in ms
	flo    float64 // of floats
	fhi    float64
	digits int // decimals of a decimal
	scale  int64
	list   []string
	ints   []int64
	floats []float64
	upTo   []int64 // summed weights
	share  float64
	start  int64
	step   int64
	parts  []part // of a template or a pattern
	pad    int    // digits of a pattern's number
	spread string
	skew   float64
	first  int64 // number of the first parent
	each   int64 // children in a row that have the same parent, of sequential
	zipf   int   // index among the maker's
	self   int   // index in the object
}

// Count is how many children a parent has: from Least to Most, spread by a word of
// group's: fixed, uniform, geometric, zipf.
type Count struct {
	Least, Most int64
	Spread      string
	// Given says that the definition has one.
	Given bool
}

// part is a piece of a template: text, or the value of a field.
type part struct {
	text  string
	field int // -1: text
}

// bytes is about how long the value is as JSON.
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
	from, to int // of a text in the maker's buffer
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
