package workload

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxProcesses is how many processes may share a run.
const MaxProcesses = 1000

// What anybody may say that another process has told: counts, sizes and times in ns up to
// mostDelta, times of day in ns up to mostMoment, and texts up to so many bytes.
const (
	mostDelta  = 1 << 57
	mostMoment = 1 << 62
	mostWords  = 4 << 10
)

// bounded checks what another process has told, which may mean harm: it refuses numbers that
// nobody can have counted, and makes texts plain. What that leaves open (which numbers there are,
// and what they add up to) is for the Mergeable that takes them in. v is of that name and has that tag.
//
// A number is a count, unless its field has a tag: told:"signed" may be negative,
// told:"time" is a time of day in ns, told:"payload" the size of one. A text with told:"key"
// stays as it is, up to its length. The tag of a list or map is that of its elements.
// Unsigned numbers are bits, or numbers of things.
func bounded(v reflect.Value, name, tag string) error {
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		lo, hi := int64(0), int64(mostDelta)
		switch tag {
		case "signed":
			lo = -mostDelta
		case "time":
			hi = mostMoment
		case "payload":
			hi = MaxPayload
		}
		if n := v.Int(); n < lo || n > hi {
			return fmt.Errorf("%s is %d, which nobody can have counted", name, n)
		}
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); !(math.Abs(f) <= mostDelta) || f < 0 && tag != "signed" { // not a number is neither
			return fmt.Errorf("%s is %v, which nobody can have measured", name, f)
		}
	case reflect.String:
		if tag != "key" {
			v.SetString(PlainText(v.String(), mostWords))
		} else if len(v.String()) > mostWords {
			return fmt.Errorf("%s is a text of %d bytes", name, len(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return bounded(v.Elem(), name, tag)
		}
	case reflect.Slice, reflect.Array:
		return boundedList(v, name, tag)
	case reflect.Map:
		return boundedMap(v, name, tag)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() { // it was not told, or checks itself
				continue
			}
			if err := bounded(v.Field(i), f.Name, f.Tag.Get("told")); err != nil {
				return err
			}
		}
	}
	return nil
}

func boundedList(v reflect.Value, name, tag string) error {
	if v.Kind() == reflect.Slice {
		switch v.Type().Elem().Kind() {
		case reflect.Uint8, reflect.Uint64:
			return nil
		}
	}
	for i := range v.Len() {
		if err := bounded(v.Index(i), name, tag); err != nil {
			return err
		}
	}
	return nil
}

// boundedMap puts checked keys and values in the place of those that came.
func boundedMap(v reflect.Value, name, tag string) error {
	if v.IsNil() {
		return nil
	}
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	for at := v.MapRange(); at.Next(); {
		key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.Set(at.Key())
		val.Set(at.Value())
		if err := errors.Join(bounded(key, name, tag), bounded(val, name, tag)); err != nil {
			return err
		}
		out.SetMapIndex(key, val)
	}
	v.Set(out)
	return nil
}

// Elapsed is how long ago a moment was, by the clock that says more: one of them stands still
// while a machine is suspended. 0: the moment is not known.
func Elapsed(since time.Time) time.Duration {
	if since.IsZero() {
		return 0
	}
	now := time.Now()
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// PlainText is a text as it may be shown: one line of what can be printed, and no more than
// so many bytes.
func PlainText(text string, most int) string {
	text = text[:min(len(text), 4*most)]
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	for cut := most; len(text) > most; cut-- {
		if utf8.RuneStart(text[cut]) {
			text = text[:cut] + "…"
			break
		}
	}
	return text
}
