package link

import "bytes"

// slots is how many slots the keys of a cluster are distributed over.
const slots = 16384

// table is the table for CRC-16 with the polynomial 0x1021, from which Redis computes
// slots.
var table = func() (t [256]uint16) {
	for i := range t {
		crc := uint16(i) << 8
		for range 8 {
			if carry := crc&0x8000 != 0; carry {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		t[i] = crc
	}
	return t
}()

// slotOf returns the slot of a key: that of the part between its first braces, unless
// that is empty.
func slotOf(key []byte) int {
	if from := bytes.IndexByte(key, '{'); from >= 0 {
		if n := bytes.IndexByte(key[from+1:], '}'); n > 0 {
			key = key[from+1 : from+1+n]
		}
	}
	crc := uint16(0)
	for _, b := range key {
		crc = crc<<8 ^ table[byte(crc>>8)^b]
	}
	return int(crc) % slots
}
