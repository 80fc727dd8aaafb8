package coherence

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
)

// Value is a value of a cache: bytes, which the client writes as JSON text in
// base64.
type Value []byte

// UnmarshalJSON reads such text. What stands in caches has no escapes, so that it
// need not be unquoted first, as the client would.
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
