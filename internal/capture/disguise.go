package capture

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math/big"
	mathrand "math/rand/v2"
	"os"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
)

// keyBytes is how long a key is.
const keyBytes = 32

// Disguise replaces texts by others of the same length, which follow from the text and a
// secret key. It belongs to one goroutine.
type Disguise struct {
	mac hash.Hash
	// until ends the part of a key that is kept; empty: nothing is kept.
	until string
	sum   []byte
}

// NewDisguise returns the disguise by a secret key. What stands in a store's keys before the
// first until is kept; with an empty one nothing is.
func NewDisguise(key []byte, until string) *Disguise {
	return &Disguise{mac: hmac.New(sha256.New, key), until: until}
}

// KeepsPrefix reports whether a part of keys is kept.
func (d *Disguise) KeepsPrefix() bool { return d.until != "" }

// NewKey returns a key that nobody else has.
func NewKey() []byte {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // it never fails
	return key
}

// KeyFile reads a key, or makes the file, for its owner alone, if there is none.
func KeyFile(path string) ([]byte, error) {
	text, err := infile.Read(infile.Secret, path)
	if errors.Is(err, fs.ErrNotExist) {
		key := NewKey()
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, err
		}
		_, err = fmt.Fprintf(f, "%x\n", key)
		return key, errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, fault.Code(err, fault.CodeInput)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fault.Input(fmt.Errorf("%s is not a file with a key: %d hexadecimal digits", path, 2*keyBytes), "name a file that is not there, and it is made")
	}
	return key, nil
}

// ID returns a number that is the same wherever the text is the same.
func (d *Disguise) ID(text []byte) uint64 {
	d.seal('i', text)
	return binary.BigEndian.Uint64(d.sum)
}

// Key replaces a key. Of one with a hash tag, the tag and what stands before and behind it
// are replaced each by itself, so that keys with the same tag still have one.
func (d *Disguise) Key(key string) string {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if n := strings.IndexByte(key[open+1:], '}'); n > 0 {
			end := open + 1 + n
			return d.part(key[:open]) + "{" + d.part(key[open+1:end]) + "}" + d.part(key[end+1:])
		}
	}
	return d.part(key)
}

// part replaces a part of a key, but for its beginning up to the first delimiter.
func (d *Disguise) part(text string) string {
	if d.until != "" {
		if i := strings.Index(text, d.until); i >= 0 {
			i += len(d.until)
			return text[:i] + d.Text(text[i:])
		}
	}
	return d.Text(text)
}

// short is up to which length different texts surely become different ones: of longer ones,
// two becoming the same is as likely as in any hash.
const short = 16

// Text replaces a text. Digits alone become as many digits; anything else becomes letters,
// digits and signs, without braces.
func (d *Disguise) Text(text string) string {
	switch {
	case text == "":
		return ""
	case len(text) < short && within(text, digits):
		return d.permute(text, digits)
	case len(text) < short && within(text, signs):
		for {
			if text = d.permute(text, signs); !within(text, digits) {
				return text
			}
		}
	}
	d.seal('t', []byte(text))
	out := make([]byte, len(text))
	stream := mathrand.NewChaCha8([32]byte(d.sum))
	for i := 0; i < len(out); i += 8 {
		for j, n := i, stream.Uint64(); j < min(i+8, len(out)); j, n = j+1, n>>8 {
			out[j] = letters[n&63]
		}
	}
	return string(out)
}

const (
	digits  = "0123456789"
	letters = digits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	signs   = letters + " !\"#$%&'()*+,./:;<=>?@[\\]^`|~"
)

func within(text, alphabet string) bool {
	for i := range len(text) {
		if strings.IndexByte(alphabet, text[i]) < 0 {
			return false
		}
	}
	return true
}

// permute exchanges texts of one length in an alphabet with each other: a Feistel network
// whose halves are added to what the other half and the key make.
func (d *Disguise) permute(text, alphabet string) string {
	b := make([]int, len(text))
	for i := range len(text) {
		b[i] = strings.IndexByte(alphabet, text[i])
	}
	half := len(b) / 2
	n := big.NewInt(int64(len(alphabet)))
	for round := range 8 {
		from, to := b[:half], b[half:]
		if round%2 == 1 {
			from, to = to, from
		}
		seed := []byte{byte(round), byte(len(b)), byte(len(alphabet))}
		for _, x := range from {
			seed = append(seed, byte(x))
		}
		d.seal('p', seed)
		sum, rest := new(big.Int).SetBytes(d.sum), new(big.Int)
		for i := range to {
			sum.DivMod(sum, n, rest)
			to[i] = (to[i] + int(rest.Int64())) % len(alphabet)
		}
	}
	out := make([]byte, len(b))
	for i, x := range b {
		out[i] = alphabet[x]
	}
	return string(out)
}

// seal computes the code of a text, for a purpose.
func (d *Disguise) seal(purpose byte, text []byte) {
	d.mac.Reset()
	d.mac.Write([]byte{purpose})
	d.mac.Write(text)
	d.sum = d.mac.Sum(d.sum[:0])
}
