package datagen

// A value of VersionedFrom bytes or more can begin with its version: who wrote it, and which of the
// writer's values it is.
const (
	// VersionBytes is how many bytes a version takes.
	VersionBytes = 8
	// VersionedFrom is how many bytes a value has at least that begins with one: what follows
	// is long enough to be told from that of another.
	VersionedFrom = 16

	versionDigits = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
	ordinalBits   = 24
)

// MostOrdinal is the largest number of a writer, and of a writer's values, that a version has.
const MostOrdinal = 1<<ordinalBits - 1

// Version is who wrote a value, in the upper half of 48 bits, and which of the writer's values it is.
// 0 is what was loaded.
type Version uint64

// VersionOf returns the version of a writer's value of that number. Both wrap around above MostOrdinal.
func VersionOf(origin, ordinal uint32) Version {
	return Version(origin&MostOrdinal)<<ordinalBits | Version(ordinal&MostOrdinal)
}

// Origin returns who wrote it.
func (v Version) Origin() uint32 { return uint32(v >> ordinalBits) }

// Ordinal returns which of the writer's values it is.
func (v Version) Ordinal() uint32 { return uint32(v & MostOrdinal) }

// versionDigit is the inverse of versionDigits; 255 for what is none.
var versionDigit = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i := range len(versionDigits) {
		t[versionDigits[i]] = byte(i)
	}
	return t
}()

// Append appends the VersionBytes of the version.
func (v Version) Append(dst []byte) []byte {
	for i := range VersionBytes {
		dst = append(dst, versionDigits[v>>(6*(VersionBytes-1-i))&63])
	}
	return dst
}

// ReadVersion returns the version that a value begins with; false if that is none.
func ReadVersion[T ~string | ~[]byte](val T) (v Version, ok bool) {
	if len(val) < VersionedFrom {
		return 0, false
	}
	for i := range VersionBytes {
		d := versionDigit[val[i]]
		if d == 255 {
			return 0, false
		}
		v = v<<6 | Version(d)
	}
	return v, true
}

// At returns the owner of what follows a version in a value of n bytes.
func (o Owner) At(v Version, n int) Owner {
	return o ^ Owner(v)*0x9e3779b97f4a7c15 ^ Owner(n)*0xd1b54a32d192ed03
}
