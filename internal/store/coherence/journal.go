package coherence

import (
	"bytes"
	"io"
	"log"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/grpclog"
)

// journal takes what the client logs through the standard logger, since there is no
// other way to silence it, and passes on what others log. It also notices when a
// session has logged its last message: only then has the client finished with it.
type journal struct {
	mu      sync.Mutex
	next    io.Writer
	greeted map[string]string        // by session: what it logged when it connected
	waiting map[string]chan struct{} // by session
}

var heard = &journal{greeted: map[string]string{}, waiting: map[string]chan struct{}{}}

var silence sync.Once

// Quiet keeps the client and gRPC from writing to the terminal.
func Quiet() {
	silence.Do(func() {
		grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
		heard.next = log.Writer()
		log.SetOutput(heard)
	})
}

// levels are the prefixes of what the client logs.
var levels = [][]byte{[]byte("INFO "), []byte("WARNING "), []byte("ERROR "), []byte("DEBUG ")}

// Write takes one line of the standard logger.
func (j *journal) Write(line []byte) (int, error) {
	text := line
	if fields := bytes.SplitN(line, []byte(" "), 3); len(fields) == 3 && len(fields[0]) == len("2006/01/02") {
		text = fields[2]
	}
	for _, level := range levels {
		if rest, ok := bytes.CutPrefix(text, level); ok {
			j.note(string(rest))
			return len(line), nil
		}
	}
	return j.next.Write(line)
}

// note notes what a session logs about itself.
func (j *journal) note(text string) {
	_, rest, ok := strings.Cut(text, "Session [")
	if !ok {
		return
	}
	id, word, ok := strings.Cut(rest, "]")
	if !ok {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch word = strings.TrimSpace(word); {
	case strings.HasPrefix(word, "connected to ["):
		j.greeted[id] = word
	case strings.HasPrefix(word, "closed"):
		delete(j.greeted, id)
		if ch := j.waiting[id]; ch != nil {
			close(ch)
			delete(j.waiting, id)
		}
	}
}

// Heard returns what a session logged when it connected, "" if nothing.
func Heard(session string) string {
	heard.mu.Lock()
	defer heard.mu.Unlock()
	return heard.greeted[session]
}

// Farewell waits for a session's last log message.
type Farewell struct {
	session string
	said    chan struct{}
}

// Listen begins to wait for the last log message of a session.
func Listen(session string) Farewell {
	f := Farewell{session, make(chan struct{})}
	heard.mu.Lock()
	defer heard.mu.Unlock()
	heard.waiting[session] = f.said
	return f
}

// Wait returns when it has been logged, or after a second, since a client silenced by
// its environment does not log it.
func (f Farewell) Wait() {
	select {
	case <-f.said:
	case <-time.After(time.Second):
	}
}

// Forget drops what a session has logged.
func (f Farewell) Forget() {
	heard.mu.Lock()
	defer heard.mu.Unlock()
	delete(heard.waiting, f.session)
	delete(heard.greeted, f.session)
}
