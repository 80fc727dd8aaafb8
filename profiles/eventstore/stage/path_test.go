//go:build unix && !race

package stage

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// No batch costs an allocation once buffers have grown, from being made to being
// compressed; nor does decoding and checking it.
func TestThePathDoesNotAllocate(t *testing.T) {
	p := newPath(t, 300)
	at := p.born
	for name, made := range map[string]func(*path, int64, int) []piece{
		"as made":   (*path).whole,
		"validated": func(p *path, at int64, n int) []piece { return p.validated(t, at, n) },
	} {
		t.Run(name, func(t *testing.T) {
			least, bytes := 1e9, 0 // the collector may empty the pools in between
			for range 5 {
				least = min(least, testing.AllocsPerRun(20, func() {
					at += 1000
					_, small, err := p.pass(made(p, at, 300))
					if err == nil {
						bytes += small
					}
				}))
			}
			assert.Zero(t, least)
			assert.Greater(t, bytes, 5*20*300*200, "and every batch was compressed")
		})
	}
}
