package measure

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// maxMessages is how many distinct error messages are kept.
const maxMessages = 10

// maxMessageLen is the length, in bytes, to which messages are cut.
const maxMessageLen = 500

// errorLog classifies errors and keeps the first distinct messages, at least one of
// each class. Any worker may call note; it locks only while there is room for
// another message.
type errorLog struct {
	classify func(error) uint8
	classes  []string
	ops      []Operation
	now      func() int64
	full     atomic.Bool
	kept     atomic.Uint64 // one bit for each class that has a message

	mu   sync.Mutex
	seen []Message
}

func (l *errorLog) note(op uint16, err error) uint8 {
	class := max(l.classify(err), 1)
	bit := uint64(1) << (class & 63)
	if l.full.Load() && l.kept.Load()&bit != 0 {
		return class
	}
	text := err.Error()
	if len(text) > maxMessageLen {
		cut := maxMessageLen
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(l.seen, func(m Message) bool { return m.Text == text }) ||
		len(l.seen) >= maxMessages && l.kept.Load()&bit != 0 {
		return class
	}
	l.seen = append(l.seen, Message{Operation: l.ops[op], Class: className(l.classes, class), Text: text, At: time.Duration(l.now())})
	l.kept.Or(bit)
	l.full.Store(len(l.seen) >= maxMessages)
	return class
}

// add keeps a message noted by another process, if it is new and there is room.
func (l *errorLog) add(m Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	class := uint64(max(slices.Index(l.classes, m.Class), 0))
	bit := uint64(1) << (class & 63)
	if slices.ContainsFunc(l.seen, func(o Message) bool { return o.Text == m.Text }) || len(l.seen) >= maxMessages && l.kept.Load()&bit != 0 {
		return
	}
	l.seen = append(l.seen, m)
	l.kept.Or(bit)
	l.full.Store(len(l.seen) >= maxMessages)
}

func (l *errorLog) messages() []Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen)
}

// moveOn shifts the times of all messages.
func (l *errorLog) moveOn(by time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.seen {
		l.seen[i].At += by
	}
}

func className(names []string, class uint8) string {
	if int(class) < len(names) {
		return names[class]
	}
	return "other"
}
