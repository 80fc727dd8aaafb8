package infile

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// harmful reports whether a character could control the terminal or the page that shows
// it: a control character other than those that separate words and lines, or one that
// turns the direction of what follows. A carriage return would write over what is there.
func harmful(r rune) bool {
	switch {
	case r == '\t', r == '\n':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// Clean replaces harmful characters by spaces.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if harmful(r) {
			return ' '
		}
		return r
	}, s)
}

// CleanTexts is Clean for every text in the value that p points to.
func CleanTexts(p any) { cleanTexts(reflect.ValueOf(p).Elem()) }

func cleanTexts(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(Clean(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			cleanTexts(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() < reflect.Array { // numbers
			return
		}
		for i := range v.Len() {
			cleanTexts(v.Index(i))
		}
	case reflect.Map:
		for at := range v.Seq() {
			key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.Set(at)
			val.Set(v.MapIndex(at))
			cleanTexts(key)
			cleanTexts(val)
			v.SetMapIndex(at, reflect.Value{})
			v.SetMapIndex(key, val)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				cleanTexts(v.Field(i))
			}
		}
	}
}

// Harmless replaces harmful characters in the strings of a JSON text by spaces, written
// out or escaped: a folder may come from anybody, and what it says reaches terminals,
// pages and documents. A text without any is returned as it is.
func Harmless(data []byte) []byte {
	if !bytes.ContainsFunc(data, harmful) && !bytes.ContainsRune(data, '\\') {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		if data[i] == '\\' && i+1 < len(data) {
			n, bad := 2, strings.IndexByte("bfr", data[i+1]) >= 0
			if data[i+1] == 'u' && i+6 <= len(data) {
				n = 6
				v, err := strconv.ParseUint(string(data[i+2:i+6]), 16, 16)
				bad = err == nil && harmful(rune(v))
			}
			if bad {
				out = append(out, ' ')
			} else {
				out = append(out, data[i:i+n]...)
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if harmful(r) {
			out = append(out, ' ')
		} else {
			out = append(out, data[i:i+n]...)
		}
		i += n
	}
	return out
}
