package model

// Record is what is stored as one row, or one entry of a stream, and is read back: a
// batch, a part of one that exceeded the limit, or a single event.
type Record struct {
	// ID names the batch, or the event if single. It depends only on its events, so
	// storing it twice has the same effect as once.
	ID []byte
	// Start is the earliest start of its events, End the latest end, Last the latest
	// start: nanoseconds since 1970.
	Start, End, Last int64
	// Parent is the id of the parent as text, empty for roots.
	Parent []byte
	OK     bool
	Count  int
	// Single means an event stored alone; Name and Kind are then those of the event.
	Single     bool
	Name, Kind []byte
	Codec      byte
	Raw        int // length of the content before compression
	Body       []byte
	Links      []byte
	// LinksRaw means, for a record that was read, that its links are uncompressed.
	LinksRaw bool
}
