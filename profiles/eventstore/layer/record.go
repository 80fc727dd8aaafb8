package layer

// Record is what becomes one row, or one entry of a stream, and comes back as one: a
// batch, a part of one that was over the limit, or a single event.
type Record struct {
	// ID names the batch, or the event if single. It depends on its events alone, so
	// that storing it twice is storing it once.
	ID []byte
	// Start is the earliest start of its events, end the latest end, last the latest
	// start: nanoseconds since 1970.
	Start, End, Last int64
	// Parent is the id of the parent as text, empty for roots.
	Parent []byte
	OK     bool
	Count  int
	// Single is an event stored alone; then name and kind are its.
	Single     bool
	Name, Kind []byte
	Codec      byte
	Raw        int // length of the content before compression
	Body       []byte
	Links      []byte
	// LinksRaw says of a record that was read that its links are as they were.
	LinksRaw bool
}
