package datagen

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// AppendJSON appends the object as JSON, with its fields in order.
func (m *Maker) AppendJSON(dst []byte) []byte {
	for i, f := range m.o.Fields {
		dst = append(dst, ",{"[btoi(i == 0)], '"')
		dst = append(append(dst, f.Name...), '"', ':')
		switch f.Kind {
		case Text:
			dst = appendQuoted(dst, m.text(i))
		case Date, Time:
			dst = append(m.appendPlain(append(dst, '"'), i), '"')
		default:
			dst = m.appendPlain(dst, i)
		}
	}
	return append(dst, '}')
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// appendQuoted appends a text quoted for JSON.
func appendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// Args appends the values of the columns, in order.
func (m *Maker) Args(dst []any) []any {
	for i := range m.o.Fields {
		dst = append(dst, m.Arg(i))
	}
	return dst
}

// Arg returns the value of one column.
func (m *Maker) Arg(i int) any {
	f, c := m.o.Fields[i], &m.cells[i]
	switch f.Kind {
	case Integer:
		return c.i
	case Float:
		return c.f
	case Decimal:
		return float64(c.i) / float64(f.scale)
	case Boolean:
		return c.i != 0
	case Date, Time:
		return stamp(c.i)
	}
	return string(m.text(i))
}

// Type returns the struct type for gorm, with one field per column.
func (o *Object) Type() reflect.Type { return o.typ }

// Struct returns a pointer to a new struct of Type containing the object.
func (m *Maker) Struct() any {
	p := reflect.New(m.o.typ)
	v := p.Elem()
	for i, f := range m.o.Fields {
		c, to := &m.cells[i], v.Field(i)
		switch f.Kind {
		case Integer:
			to.SetInt(c.i)
		case Float:
			to.SetFloat(c.f)
		case Decimal:
			to.SetFloat(float64(c.i) / float64(f.scale))
		case Boolean:
			to.SetBool(c.i != 0)
		case Date, Time:
			*to.Addr().Interface().(*time.Time) = stamp(c.i)
		default:
			to.SetString(string(m.text(i)))
		}
	}
	return p.Interface()
}

// Differs names the first column in which a struct of Type, read from a database,
// differs from the object; "" if there is none.
func (m *Maker) Differs(row any) string {
	v := reflect.ValueOf(row).Elem()
	for i, f := range m.o.Fields {
		c, got := &m.cells[i], v.Field(i)
		same := false
		switch f.Kind {
		case Integer:
			same = got.Int() == c.i
		case Float:
			same = got.Float() == c.f
		case Decimal:
			same = int64(math.Round(got.Float()*float64(f.scale))) == c.i
		case Boolean:
			same = got.Bool() == (c.i != 0)
		case Date:
			same = got.Interface().(time.Time).Format(dateForm) == stamp(c.i).Format(dateForm)
		case Time:
			same = got.Interface().(time.Time).UnixMilli() == c.i
		default:
			same = got.String() == string(m.text(i))
		}
		if !same {
			return f.Name
		}
	}
	return ""
}

// Size limits for texts in columns.
const (
	maxVarchar = 2000
	hugeText   = 1 << 24
)

// size returns the greatest length of a text in characters.
func (f *Field) size() int {
	switch {
	case f.Payload:
		return hugeText
	case f.Generator == genSequence:
		return f.patternBytes() + max(f.pad, 19)
	case f.Generator == genParent:
		return f.Parent.Key().size()
	case f.Generator == genText:
		return int(max(f.hi, 1))
	case f.Generator == genWords:
		return int(max(f.hi, 1)) * 12
	case f.Generator == genPick:
		n := 1
		for _, s := range f.list {
			n = max(n, utf8.RuneCountInString(s))
		}
		return n
	case f.Generator == genTemplate:
		return max(int(f.hi), 1) // computed by Read
	}
	return max(generatorOf(f.Generator).room, 1)
}

// plainSize returns the greatest length in characters of a value as people write it.
func (f *Field) plainSize() int {
	switch f.Kind {
	case Text:
		return f.size()
	case Date:
		return len(dateForm)
	}
	return 25
}

func (f *Field) patternBytes() int {
	n := 0
	for _, p := range f.parts {
		n += utf8.RuneCountInString(p.text)
	}
	return n
}

var goTypes = map[Kind]reflect.Type{
	Text: reflect.TypeFor[string](), Integer: reflect.TypeFor[int64](), Float: reflect.TypeFor[float64](), Decimal: reflect.TypeFor[float64](),
	Boolean: reflect.TypeFor[bool](), Date: reflect.TypeFor[time.Time](), Time: reflect.TypeFor[time.Time](),
}

// structOf makes the type that gorm maps.
func structOf(o *Object) reflect.Type {
	fields := make([]reflect.StructField, len(o.Fields))
	for i, f := range o.Fields {
		tag := "column:" + f.Name
		switch f.Kind {
		case Text:
			if n := f.size(); n <= maxVarchar {
				tag += ";size:" + strconv.Itoa(n)
			} else {
				tag += ";size:" + strconv.Itoa(hugeText)
			}
		case Decimal:
			tag += fmt.Sprintf(";precision:%d;scale:%d", 18, f.digits)
		case Date:
			tag += ";type:date"
		case Time:
			tag += ";precision:3"
		}
		if i == o.key {
			tag += ";primaryKey"
		} else if f.Index {
			tag += ";index"
		}
		fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: goTypes[f.Kind], Tag: reflect.StructTag(`gorm:"` + tag + `"`)}
	}
	return reflect.StructOf(fields)
}
