package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
)

func TestDisguiseKeepsLengthsTagsAndSameness(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	d, again := capture.NewDisguise(key, ""), capture.NewDisguise(key, "")
	other := capture.NewDisguise([]byte("another"), "")
	for _, text := range []string{"7", "user:42", "\xff\x00{", strings.Repeat("a long key ", 30), "{tag}:x", "a{tag}b", "{}", "}{", "x{y"} {
		got := d.Key(text)
		assert.Len(t, got, len(text), text)
		assert.Equal(t, got, again.Key(text), "it follows from the text and the key")
		if len(text) > 3 {
			assert.NotEqual(t, text, got)
			assert.NotEqual(t, got, other.Key(text), "another key makes another text")
		}
	}
	tag := func(s string) string { return s[strings.Index(s, "{")+1 : strings.Index(s, "}")] }
	a, b, c := d.Key("cart:{user:42}"), d.Key("{user:42}:orders"), d.Key("{user:43}:orders")
	assert.Equal(t, tag(a), tag(b), "the same tag stays the same")
	assert.NotEqual(t, tag(b), tag(c))
	assert.NotContains(t, a+b, "user")
	assert.NotContains(t, d.Key("{}"), "{}", "there is no tag where none was")
}

func TestDisguiseKeepsWhatIsAskedFor(t *testing.T) {
	d := capture.NewDisguise(capture.NewKey(), ":")
	got := d.Key("user:42:name")
	assert.True(t, strings.HasPrefix(got, "user:"), got)
	assert.NotContains(t, got, "42", "only what stands before the first delimiter")
	tagged := d.Key("cart:{user:4711}:items")
	assert.True(t, strings.HasPrefix(tagged, "cart:{user:"), tagged)
	assert.NotContains(t, tagged, "4711")
	assert.Regexp(t, `\}:.{5}$`, tagged)
	assert.Equal(t, strings.Index("cart:{user:4711}:items", "}"), strings.Index(tagged, "}"))
	assert.Contains(t, d.Key("{user:4711}"), tagged[5:16], "a tag is the same whatever is around it")
}

// Short keys are many among few texts: none may fall together.
func TestShortTextsStayDifferent(t *testing.T) {
	d := capture.NewDisguise([]byte("k"), "")
	seen := map[string]string{}
	for i := range 20_000 {
		for _, text := range []string{fmt.Sprint(i), fmt.Sprintf("u%d", i)} {
			got := d.Text(text)
			assert.Len(t, got, len(text))
			if was, ok := seen[got]; ok {
				require.Equal(t, was, text, "both became %q", got)
			}
			seen[got] = text
		}
	}
	assert.Regexp(t, `^[0-9]{6}$`, d.Text("123456"), "a number stays one of as many digits")
}

func TestKeyFileIsMadeOnceForItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	made, err := capture.KeyFile(path)
	require.NoError(t, err)
	again, err := capture.KeyFile(path)
	require.NoError(t, err)
	assert.Equal(t, made, again)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, os.WriteFile(path, []byte("short\n"), 0o600))
	_, err = capture.KeyFile(path)
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	assert.NotContains(t, err.Error(), "short\n")
}

func FuzzDisguise(f *testing.F) {
	f.Add("user:42", ":")
	f.Add("{a}", "")
	f.Fuzz(func(t *testing.T, text, until string) {
		d := capture.NewDisguise([]byte("k"), until)
		assert.Len(t, d.Key(text), len(text))
		assert.Len(t, d.Text(text), len(text))
	})
}
