package northwind

import (
	"fmt"
	"hash/fnv"
)

// ids is how many ids of that form exist.
const ids = 100 * 87 * 100 * 2 * 10000

// randomID returns an id in that form which no other number below ids has with the same
// seed and kind; if ids were merely random, some rows would collide. It shuffles the
// 35-bit numbers until it hits one below ids.
func randomID(seed int64, kind string, n int64) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind)) // never fails
	key := (uint64(seed)+0x632BE59BD9B4E019)*0x9E3779B97F4A7C15 ^ h.Sum64()
	const mask = 1<<35 - 1
	x := (uint64(n)%ids + ids) % ids
	for {
		for round := range uint64(3) {
			x = (x + key>>(round*13)) & mask
			x = x * 0x2C1B3C6D & mask // odd, so that the mapping is one-to-one
			x ^= x >> 17
			x = x * 0x297A2D39 & mask
			x ^= x >> 16
		}
		if x < ids {
			break
		}
	}
	digit := func(of uint64) uint64 {
		v := x % of
		x /= of
		return v
	}
	tail, sign, days, month := digit(10000), digit(2), digit(100), digit(87)
	return fmt.Sprintf("%02d%02d%02d%c%04d", x, 13+month, days, "-+"[sign], tail)
}
