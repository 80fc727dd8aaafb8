package measure

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const (
	// kindMessages is how many distinct messages of each kind are kept, digits aside.
	kindMessages = 5
	// Of each kind, the first lookedAll failures are looked at, and one of lookedEach after that.
	lookedAll, lookedEach = 1000, 64
	// kindsOf is how many kinds an operation has: one for each class, up to it.
	kindsOf = 64
)

// maxMessageLen is the length, in bytes, to which messages are cut.
const maxMessageLen = 500

// errorLog classifies errors and keeps the first distinct messages of each kind: of each class of
// an operation. Any worker may call note; it locks only for failures that are looked at.
type errorLog struct {
	classify func(error) uint8
	classes  []string
	ops      []Operation
	now      func() int64
	kinds    []errorKind // of each operation and class

	mu   sync.Mutex
	seen []Message
	// forms are the messages of each kind, without their digits. The holder of mu may use it.
	forms map[int][]string
}

// errorKind is how many failures of a kind there were, and whether as many messages as are kept.
type errorKind struct {
	n    atomic.Uint64
	full atomic.Bool
}

func newErrorLog(cfg *Config) errorLog {
	return errorLog{classify: cfg.Classify, classes: cfg.Classes, ops: cfg.Ops, now: cfg.Source.Now, kinds: make([]errorKind, len(cfg.Ops)*kindsOf)}
}

func (l *errorLog) note(op uint16, err error) uint8 {
	class := max(l.classify(err), 1)
	i := int(op)*kindsOf + int(class)%kindsOf
	kind := &l.kinds[i]
	if n := kind.n.Add(1); kind.full.Load() || n > lookedAll && n%lookedEach != 0 {
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
	if l.isNew(i, text) {
		l.seen = append(l.seen, Message{Operation: l.ops[op], Class: className(l.classes, class), Text: text, At: time.Duration(l.now())})
	}
	return class
}

// isNew reports whether a message of a kind is new and there is room for it, and notes it. The caller
// holds mu.
func (l *errorLog) isNew(kind int, text string) bool {
	form := withoutDigits(text)
	if slices.Contains(l.forms[kind], form) || len(l.forms[kind]) >= kindMessages {
		return false
	}
	if l.forms == nil {
		l.forms = map[int][]string{}
	}
	l.forms[kind] = append(l.forms[kind], form)
	l.kinds[kind].full.Store(len(l.forms[kind]) >= kindMessages)
	return true
}

// withoutDigits replaces each number by 0: ports and counters make no new message.
func withoutDigits(text string) string {
	out, number := make([]byte, 0, len(text)), false
	for i := range len(text) {
		c := text[i]
		digit := c >= '0' && c <= '9'
		if digit && number {
			continue
		}
		if number = digit; digit {
			c = '0'
		}
		out = append(out, c)
	}
	return string(out)
}

// add keeps a message noted by another process, if it is new and there is room.
func (l *errorLog) add(m Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	op, class := slices.Index(l.ops, m.Operation), max(slices.Index(l.classes, m.Class), 0)
	if op >= 0 && l.isNew(op*kindsOf+class%kindsOf, m.Text) {
		l.seen = append(l.seen, m)
	}
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
