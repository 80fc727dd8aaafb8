package group

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The objects of old seeds stay, byte for byte: whoever loaded them with one release
// reads them with the next.
func TestNorthwindStays(t *testing.T) {
	sum := sha256.New()
	_, classes := entityOfClass("") // all that there are
	for _, class := range classes {
		e, _ := entityOfClass(class)
		for _, random := range []bool{false, true} {
			f := &factory{entity: e, seed: 7, random: random, prefix: "k", length: 11, zeros: true, customerPrefix: "c", customerMax: 50}
			for n := range int64(500) {
				f.coherence = n%3 == 0
				id, r := f.object(n, map[bool]string{true: "p-1"}[n%2 == 0], time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
				fmt.Fprintf(sum, "%s %s\n", id, value(r))
			}
		}
	}
	for _, spread := range []string{childrenFixed, childrenUniform, childrenGeometric, childrenZipf} {
		for n := range int64(500) {
			fmt.Fprintln(sum, (&relation{least: 1, most: 7, spread: spread}).count(7, "o", n))
		}
	}
	assert.Equal(t, "27988a5571fb960abc5e659f6276bafc173434630270369d7bcc9f05043b275b", hex.EncodeToString(sum.Sum(nil)))
}
