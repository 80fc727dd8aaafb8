package values_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, text, key, value string
		line                   int
	}{
		{"an equals sign separates", "a=b", "a", "b", 1},
		{"a colon separates", "a : b", "a", "b", 1},
		{"a blank run separates", "a \t b c", "a", "b c", 1},
		{"only one separator is dropped", "a==b", "a", "=b", 1},
		{"a key may have no value", "a", "a", "", 1},
		{"trailing blanks are kept", "a=b  \t", "a", "b  \t", 1},
		{"leading blanks are dropped", " \t\fa = b", "a", "b", 1},
		{"a hash later in the line is text", "a=b # c", "a", "b # c", 1},
		{"comments and empty lines are skipped", "# x\n! y\n\n  \n a=b", "a", "b", 5},
		{"a comment is not continued", "# x \\\na=b", "a", "b", 2},
		{"a line is continued without the next one's leading blanks", "a=b\\\n   c\nd=e", "a", "bc", 1},
		{"a comment sign in a continuation is text", "a=b\\\n#c", "a", "b#c", 1},
		{"two backslashes do not continue", "a=b\\\\\nc=d", "a", `b\`, 1},
		{"an empty line ends a continuation", "a=b\\\n\nc=d", "a", "b", 1},
		{"a backslash at the very end is dropped", `a=b\`, "a", "b", 1},
		{"escapes are read", `a=\t\n\r\f\\\q\u00e9`, "a", "\t\n\r\f\\q\u00e9", 1},
		{"two unicode escapes may be one character", `a=\ud83d\ude00`, "a", "😀", 1},
		{"an escaped separator belongs to the key", `a\=b\:c\ d=e`, "a=b:c d", "e", 1},
		{"line ends of all systems", "x=1\r\ny=2\ra=b\n", "a", "b", 3},
		{"UTF-8 is read", "a=é", "a", "é", 1},
		{"other bytes are Latin-1", "a=\xe9", "a", "é", 1},
		{"a byte order mark is skipped", "\ufeffa=b", "a", "b", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := values.ReadProperties("f", []byte(c.text))
			require.NoError(t, err)
			e, ok := f.Lookup(c.key)
			require.True(t, ok, "keys are %v", f.Entries)
			assert.Equal(t, values.JavaEntry{Key: c.key, Value: c.value, Line: c.line}, e)
		})
	}
}

func TestReadKeepsOrderAndRepeats(t *testing.T) {
	f, err := values.ReadProperties("x.properties", []byte("b=1\na=2\n\nb=3\nb=4"))
	require.NoError(t, err)
	assert.Equal(t, []values.JavaEntry{{"b", "4", 5}, {"a", "2", 2}}, f.Entries)
	assert.Equal(t, []values.JavaEntry{{"b", "1", 1}, {"b", "3", 4}}, f.Repeated)
	_, ok := f.Lookup("c")
	assert.False(t, ok)
}

func TestReadNamesTheLineOfABrokenEscape(t *testing.T) {
	_, err := values.ReadProperties("x.properties", []byte("a=1\nb=\\u12\nc=\\u12zz"))
	require.ErrorContains(t, err, `x.properties:2: \u12 is cut short`)
	require.ErrorContains(t, err, `x.properties:3: \u12zz does not have four hexadecimal digits`)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

func TestReadRefusesWhatIsNoText(t *testing.T) {
	_, err := values.ReadProperties("a.bin", []byte("a=1\nb=\x00\x01\n"))
	require.ErrorContains(t, err, "a.bin:2: this is not text: it contains the byte 0x00")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	f, err := values.ReadProperties("a.properties", []byte("a=\\u0001\f\r\nb=caf\xe9\r"))
	require.NoError(t, err)
	assert.Len(t, f.Entries, 2)
}

func TestDecodeInt(t *testing.T) {
	for _, c := range []struct {
		text            string
		want            int
		ok, compat, oct bool
	}{
		{"010", 8, true, true, true},
		{"-010", -8, true, true, true},
		{"0x10", 16, true, true, false},
		{"0X10", 16, true, true, false},
		{"#10", 16, true, true, false},
		{"-#1f", -31, true, true, false},
		{"+5", 5, true, true, false},
		{"0", 0, true, true, false},
		{"07", 7, true, true, false},
		{"2147483647", 1<<31 - 1, true, true, false},
		{"-2147483648", -1 << 31, true, true, false},
		{"1000   ", 1000, true, false, false},
		{" 5", 5, true, false, false},
		{" 010\t", 8, true, false, true},
		{"", 0, false, false, false},
		{"-", 0, false, false, false},
		{"0x", 0, false, false, false},
		{"+-5", 0, false, false, false},
		{"0x-5", 0, false, false, false},
		{"1e3", 0, false, false, false},
		{"1_000", 0, false, false, false},
		{"08", 0, false, false, false},
		{"2147483648", 0, false, false, false},
		{"99999999999", 0, false, false, false},
	} {
		t.Run(c.text, func(t *testing.T) {
			n, err := values.DecodeInt(c.text, false)
			assert.Equal(t, c.ok, err == nil, "default mode: %v", err)
			assert.Equal(t, c.want, n)
			n, err = values.DecodeInt(c.text, true)
			assert.Equal(t, c.compat, err == nil, "compat mode: %v", err)
			if c.compat {
				assert.Equal(t, c.want, n)
			} else {
				require.ErrorIs(t, err, values.ErrNotInteger)
			}
			assert.Equal(t, c.oct, values.IsOctal(c.text))
		})
	}
}

// What is read can be written and read again: nothing is lost on the way.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"a=b", "a\\=b : c\\\n d\n#x\na=2", "a=\\u0041\\", "\xff=\xfe", "=\n:\n \\ =1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := values.ReadProperties("f", data)
		if err != nil {
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			return
		}
		var b strings.Builder
		for _, e := range first.Entries {
			b.WriteString(escape(e.Key) + "=" + escape(e.Value) + "\n")
		}
		again, err := values.ReadProperties("f", []byte(b.String()))
		require.NoError(t, err)
		require.Len(t, again.Entries, len(first.Entries))
		for i, e := range again.Entries {
			assert.Equal(t, first.Entries[i].Key, e.Key)
			assert.Equal(t, first.Entries[i].Value, e.Value)
		}
	})
}

// escape writes text so that a reader gets it back, in UTF-8.
func escape(s string) string {
	r := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`, "=", `\=`, ":", `\:`, " ", `\ `, "#", `\#`, "!", `\!`)
	return r.Replace(strings.TrimPrefix(s, "\ufeff"))
}

func TestFilesOfFarTooManyKeysAreRefused(t *testing.T) {
	var b strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&b, "key%d=x\n", i)
	}
	_, err := values.ReadProperties("p.properties", []byte(b.String()))
	require.ErrorContains(t, err, "p.properties:10001: more than 10000 keys")
}
