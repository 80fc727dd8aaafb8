package memcached

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
)

// maxKey is the greatest length of a key in the protocol.
const maxKey = 250

// escapes says of each letter whether a key may not have it, or it parts keys.
var escapes = func() (t [256]bool) {
	for c := range t {
		t[c] = c <= ' ' || c >= 0x7f || c == '%' || c == ':' || c == '{' || c == '}'
	}
	return t
}()

// escaped appends a text in letters that a key may have, and without those that part it.
func escaped[T ~string | ~[]byte](b []byte, text T) []byte {
	const digits = "0123456789abcdef"
	plain := 0
	for plain < len(text) && !escapes[text[plain]] {
		plain++
	}
	b = append(b, text[:plain]...)
	for i := plain; i < len(text); i++ {
		if c := text[i]; escapes[c] {
			b = append(b, '%', digits[c>>4], digits[c&15])
		} else {
			b = append(b, c)
		}
	}
	return b
}

// prefix appends how the keys of a space begin: "perfbench:eligibility:".
func prefix(b []byte, s store.Space) []byte {
	if s.Namespace != "" {
		b = append(escaped(b, s.Namespace), ':')
	}
	return append(escaped(b, s.Name), ':')
}

// keyOf returns the key of an entry; that of a group has the group's name before it, in
// braces. A key that would be too long is replaced by its hash.
func keyOf(s store.Space, group, key []byte) string {
	var room [2 * maxKey]byte
	b := prefix(room[:0], s)
	from := len(b)
	if s.Grouped {
		b = append(escaped(append(b, '{'), group), '}', ':')
	}
	b = escaped(b, key)
	if len(b) > maxKey {
		sum := sha256.Sum256(b[from:])
		b = b[:from]
		if s.Grouped {
			b = append(b, '{', '}', ':')
		}
		b = append(b, hex.EncodeToString(sum[:])...)
	}
	return string(b)
}

// belongs reports whether a key that begins with the prefix of a space is one of its own: a
// space may be named like the beginning of another.
func belongs(s store.Space, rest string) bool {
	if !s.Grouped {
		return !strings.Contains(rest, ":")
	}
	_, key, ok := strings.Cut(rest, "}:")
	return strings.HasPrefix(rest, "{") && ok && !strings.Contains(key, ":")
}

// own returns the key of something of ours in a namespace: "made", "lease".
func own(namespace, what string) string {
	if namespace == "" {
		return "_perfbench_" + what
	}
	return string(escaped(nil, namespace)) + ":_" + what
}
