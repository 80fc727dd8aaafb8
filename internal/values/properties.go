package values

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
)

// JavaEntry is one key with its value as written: trailing blanks are kept.
type JavaEntry struct {
	Key, Value string
	// Line is the line number of the key, from 1.
	Line int
}

// JavaFile is a parsed properties file. It is not modified after it was read.
type JavaFile struct {
	// Name is the name of the file in messages.
	Name string
	// Entries holds each key once, in the order of its first occurrence, with the value
	// and the line of its last.
	Entries []JavaEntry
	// Repeated holds the lines that were overridden by a later one with the same key,
	// in the order of the file.
	Repeated []JavaEntry

	index map[string]int
}

// ReadProperties parses a properties file; name is its name in messages. Bytes that are not UTF-8
// are taken as Latin-1. Errors are a malformed \u escape, which names the line, or a
// file that is not text; they have the code of bad input.
func ReadProperties(name string, data []byte) (*JavaFile, error) {
	f := &JavaFile{Name: name, index: map[string]int{}}
	if at := bytes.IndexFunc(data, notText); at >= 0 {
		return f, fault.Input(fmt.Errorf("%s:%d: this is not text: it contains the byte %#02x", name, 1+bytes.Count(data[:at], []byte("\n")), data[at]),
			"name a properties file; a character of this kind is written as an escape, \\u0001")
	}
	var errs []error
	for _, l := range logicalLines(decode(data)) {
		rawKey, rawValue := split(l.text)
		key, err1 := unescape(rawKey)
		value, err2 := unescape(rawValue)
		if err := errors.Join(err1, err2); err != nil {
			errs = append(errs, fault.Input(fmt.Errorf("%s:%d: %w", name, l.number, err),
				`write \\ for a backslash, or \u with four hexadecimal digits`))
			continue
		}
		if f.add(JavaEntry{key, value, l.number}); len(f.Entries)+len(f.Repeated) > infile.MaxKeys {
			return f, fault.Input(fmt.Errorf("%s:%d: more than %d keys", name, l.number, infile.MaxKeys), "a file of settings has a few hundred at most")
		}
	}
	return f, fault.Code(errors.Join(errs...), fault.CodeInput)
}

// Lookup returns the entry for a key.
func (f *JavaFile) Lookup(key string) (JavaEntry, bool) {
	i, ok := f.index[key]
	if !ok {
		return JavaEntry{}, false
	}
	return f.Entries[i], true
}

// InOrder returns the entries and the repeated lines in the order of the file.
func (f *JavaFile) InOrder() []JavaEntry {
	return slices.SortedFunc(slices.Values(slices.Concat(f.Entries, f.Repeated)), func(a, b JavaEntry) int { return a.Line - b.Line })
}

func (f *JavaFile) add(e JavaEntry) {
	i, ok := f.index[e.Key]
	if !ok {
		f.index[e.Key] = len(f.Entries)
		f.Entries = append(f.Entries, e)
		return
	}
	f.Repeated = append(f.Repeated, f.Entries[i])
	f.Entries[i] = e
}

// decode returns data as text, without the byte order mark that some editors add.
func decode(data []byte) string {
	if utf8.Valid(data) {
		return strings.TrimPrefix(string(data), "\ufeff")
	}
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return string(runes)
}

// notText reports whether a character does not occur in text files: a control character
// other than those that separate words and lines.
func notText(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\f\r", r) || r == 0x7f }

type javaLine struct {
	text   string
	number int
}

const blanks = " \t\f"

// logicalLines drops comments and empty lines and joins continued ones. A comment
// cannot be continued, and a comment sign in a continuation line is text.
func logicalLines(text string) []javaLine {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var out []javaLine
	joining := false
	for i, s := range strings.Split(text, "\n") {
		s = strings.TrimLeft(s, blanks)
		if !joining && (s == "" || s[0] == '#' || s[0] == '!') {
			continue
		}
		tail := len(s) - len(strings.TrimRight(s, `\`))
		continued := tail%2 == 1
		if continued {
			s = s[:len(s)-1]
		}
		if joining {
			out[len(out)-1].text += s
		} else {
			out = append(out, javaLine{s, i + 1})
		}
		joining = continued
	}
	return out
}

// split splits a logical line at its first unescaped separator: =, : or a run of
// blanks, dropping surrounding blanks.
func split(s string) (key, value string) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.IndexByte("=:"+blanks, s[i]) >= 0:
			rest := strings.TrimLeft(s[i:], blanks)
			if rest != "" && (rest[0] == '=' || rest[0] == ':') {
				rest = strings.TrimLeft(rest[1:], blanks)
			}
			return s[:i], rest
		}
	}
	return s, ""
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	var units []uint16 // of \u escapes in a row: two may make one character
	flush := func() {
		b.WriteString(string(utf16.Decode(units)))
		units = units[:0]
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			flush()
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			break
		}
		if s[i] == 'u' {
			unit, err := hex4(s[i+1:])
			if err != nil {
				return "", err
			}
			units = append(units, unit)
			i += 4
			continue
		}
		flush()
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		default:
			b.WriteByte(s[i])
		}
	}
	flush()
	return b.String(), nil
}

func hex4(s string) (uint16, error) {
	if len(s) < 4 {
		return 0, fmt.Errorf(`\u%s is cut short`, s)
	}
	v, err := strconv.ParseUint(s[:4], 16, 16)
	if err != nil {
		return 0, fmt.Errorf(`\u%s does not have four hexadecimal digits`, s[:4])
	}
	return uint16(v), nil
}
