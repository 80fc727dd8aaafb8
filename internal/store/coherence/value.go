package coherence

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
)

// Value is a value of a cache: bytes, which the client encodes as JSON text in base64.
type Value []byte

// UnmarshalJSON decodes such text. Text in caches contains no escapes, so it need not
// be unquoted first, as the client would do.
func (v *Value) UnmarshalJSON(text []byte) error {
	if n := len(text); n < 2 || text[0] != '"' || bytes.IndexByte(text, '\\') >= 0 {
		return json.Unmarshal(text, (*[]byte)(v))
	}
	text = text[1 : len(text)-1]
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	*v = out[:n]
	return err
}
