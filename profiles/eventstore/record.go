package eventstore

// record is what becomes one row, or one entry of a stream, and comes back as one: a
// batch, a part of one that was over the limit, or a single event.
type record struct {
	// id names the batch, or the event if single. It depends on its events alone, so
	// that storing it twice is storing it once.
	id []byte
	// start is the earliest start of its events, end the latest end, last the latest
	// start: nanoseconds since 1970.
	start, end, last int64
	// parent is the id of the parent as text, empty for roots.
	parent []byte
	ok     bool
	count  int
	// single is an event stored alone; then name and kind are its.
	single     bool
	name, kind []byte
	codec      byte
	raw        int // length of the content before compression
	body       []byte
	links      []byte
	// linksRaw says of a record that was read that its links are as they were.
	linksRaw bool
}
