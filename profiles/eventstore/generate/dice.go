package generate

// Dice is a small generator of random numbers, splitmix64, seeded for every event, so
// that an event can be generated again from its number.
type Dice uint64

// Next returns 64 random bits.
func (d *Dice) Next() uint64 {
	*d += 0x9E3779B97F4A7C15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Below returns a number in [0, n).
func (d *Dice) Below(n int) int { return int((d.Next() >> 32) * uint64(n) >> 32) }

// OfEvent returns the generator for one event.
func OfEvent(key uint64, seq int64) Dice {
	d := Dice(key ^ uint64(seq)*0xD1342543DE82EF95)
	d.Next()
	return d
}

const alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// pairs has two letters or digits for each value of 12 bits.
var pairs = func() (t [1 << 12][2]byte) {
	for i := range t {
		n := i * len(alphanumerics) * len(alphanumerics) >> 12
		t[i] = [2]byte{alphanumerics[n/len(alphanumerics)], alphanumerics[n%len(alphanumerics)]}
	}
	return t
}()

// FillAlphanumeric fills dst with random letters and digits, ten for each random
// number.
func (d *Dice) FillAlphanumeric(dst []byte) {
	for len(dst) >= 10 {
		v := d.Next()
		to := (*[10]byte)(dst)
		*(*[2]byte)(to[0:2]) = pairs[v&0xFFF]
		*(*[2]byte)(to[2:4]) = pairs[v>>12&0xFFF]
		*(*[2]byte)(to[4:6]) = pairs[v>>24&0xFFF]
		*(*[2]byte)(to[6:8]) = pairs[v>>36&0xFFF]
		*(*[2]byte)(to[8:10]) = pairs[v>>48&0xFFF]
		dst = dst[10:]
	}
	for v := d.Next(); len(dst) > 0; v >>= 12 {
		dst = dst[copy(dst, pairs[v&0xFFF][:]):]
	}
}

// HexDigits are the hexadecimal digits.
const HexDigits = "0123456789abcdef"

// hexPairs has the two digits for every byte.
var hexPairs = func() (t [256][2]byte) {
	for i := range t {
		t[i] = [2]byte{HexDigits[i>>4], HexDigits[i&15]}
	}
	return t
}()

// AppendUUID appends a UUID of two words as text.
func AppendUUID(dst []byte, hi, lo uint64) []byte {
	var t [36]byte
	t[8], t[13], t[18], t[23] = '-', '-', '-', '-'
	for i, at := range [...]int{0, 2, 4, 6, 9, 11, 14, 16} {
		*(*[2]byte)(t[at:]) = hexPairs[byte(hi>>(56-8*i))]
	}
	for i, at := range [...]int{19, 21, 24, 26, 28, 30, 32, 34} {
		*(*[2]byte)(t[at:]) = hexPairs[byte(lo>>(56-8*i))]
	}
	return append(dst, t[:]...)
}

// AppendRandomUUID appends a version 4 UUID.
func (d *Dice) AppendRandomUUID(dst []byte) []byte {
	return AppendUUID(dst, d.Next()&^0xF000|0x4000, d.Next()&^(3<<62)|2<<62)
}
