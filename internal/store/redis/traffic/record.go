package traffic

import (
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
)

// Why calls are not recorded.
const (
	leftScripts = "inner calls of scripts"
	leftSecret  = "may have a secret"
	leftOurs    = "perfbench's own"
	leftBehind  = "perfbench was too slow"
	leftStrange = "no command"
)

// raw is a call as it was read. Its texts are the reader's, until the next one.
type raw struct {
	at   time.Time
	addr []byte
	db   int
	args [][]byte
	// found is what the call found, as far as the source says.
	found capture.Found
}

// recorder writes calls into a capture.
type recorder struct {
	capture.Options
	w        *capture.Writer
	commands *Commands
	start    time.Time
	// ours are the addresses of our own connections.
	ours map[string]bool
	// names tells which texts are the same where they are not kept.
	names *capture.Disguise
	conns *capture.Connections
	call  capture.Call
	roles []role
}

func newRecorder(w *capture.Writer, o capture.Options, c *Commands, start time.Time) *recorder {
	return &recorder{Options: o, w: w, commands: c, start: start, names: o.Names(), conns: capture.NewConnections(w, o.Sample)}
}

// add records a call. The error is the writer's.
func (r *recorder) add(c *raw) error {
	if r.ours[string(c.addr)] {
		r.w.Leave(leftOurs, 1)
		return nil
	}
	if string(c.addr) == "lua" {
		r.w.Leave(leftScripts, 1)
		return nil
	}
	name, ok := commandName(c.args[0])
	if !ok {
		r.w.Leave(leftStrange, 1)
		return nil
	}
	conn := r.conns.Number(c.addr)
	if conn == 0 {
		return nil
	}
	if isSecret(name, c.args) {
		r.w.Leave(leftSecret, 1)
		return nil
	}
	s, known := r.commands.find(name, c.args)
	if known {
		r.roles, known = s.assign(c.args, r.roles)
	}
	if !known {
		r.roles, _ = spec{}.assign(c.args, r.roles)
	}
	k := &r.call
	k.At, k.Conn, k.DB, k.Found = max(c.at.Sub(r.start), 0), conn, c.db, c.found
	k.Args, k.Keys = append(k.Args[:0], capture.TextArg(name)), k.Keys[:0]
	for i, arg := range c.args[1:] {
		if r.roles[i+1] == key && len(arg) <= capture.MaxText {
			k.Keys = append(k.Keys, i+1)
		}
		k.Args = append(k.Args, r.arg(arg, r.roles[i+1]))
	}
	return r.w.Add(k)
}

// arg is an argument as it is recorded.
func (r *recorder) arg(text []byte, as role) capture.Arg {
	if as == structure && isStructure(text) {
		return capture.TextArg(string(text))
	}
	whole := as == key || r.Values
	switch {
	case len(text) > capture.MaxText, as == value && !whole:
		return capture.Arg{Kind: capture.Size, Size: len(text)}
	case !whole:
		return capture.Arg{Kind: capture.Name, ID: r.names.ID(text), Size: len(text)}
	case r.Disguise == nil:
		return capture.TextArg(string(text))
	case as == key:
		return capture.TextArg(r.Disguise.Key(string(text)))
	}
	return capture.TextArg(r.Disguise.Text(string(text)))
}

// commandName returns a name in capitals; false if it is none.
func commandName(b []byte) (string, bool) {
	if len(b) == 0 || len(b) > 40 {
		return "", false
	}
	for _, c := range b {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return "", false
		}
	}
	return strings.ToUpper(string(b)), true
}

// Mean says what a recorded call means to Redis.
func Mean(h *capture.Header) func(*capture.Call) capture.Meaning {
	var roles []role
	var args [][]byte
	return func(c *capture.Call) (m capture.Meaning) {
		args = args[:0]
		for i := range c.Args {
			args = append(args, []byte(c.Args[i].Text))
		}
		name := c.Command()
		s, ok := (*Commands)(nil).find(name, args)
		switch {
		case !ok && len(c.Keys) == 0:
			m.LeftOut = ofStrangers
		case ok && s.apart != "":
			m.LeftOut = s.apart
		case otherKeys(name, c):
			m.LeftOut = ofPatterns
		case otherDatabase(name, c):
			m.LeftOut = ofOthers
		case waits(name, c):
			m.LeftOut = ofWaiting
		case strings.HasPrefix(name, "RESTORE") && len(c.Args) > 3 && c.Args[3].Kind != capture.Text:
			m.LeftOut = ofNoText // nothing else would be restored
		case ok:
			if roles, ok = s.assign(args, roles); ok {
				m.LeftOut = incomplete(c, roles)
			} else {
				m.LeftOut = ofStrangers
			}
		}
		m.TTL = ttl(name, c, h.Started.Add(c.At))
		return m
	}
}

// incomplete says that what should be a key, or a number or word of Redis, was not recorded:
// without it a call cannot be made again.
func incomplete(c *capture.Call, roles []role) string {
	for i := range c.Args {
		if i > 0 && (roles[i] == key || roles[i] == structure) && c.Args[i].Kind != capture.Text {
			return ofNoText
		}
	}
	return ""
}

// otherKeys reports whether a call names keys by a pattern.
func otherKeys(name string, c *capture.Call) bool {
	if name != "SORT" && name != "SORT_RO" {
		return false
	}
	for _, a := range c.Args[2:] {
		if a.Kind == capture.Text && (strings.EqualFold(a.Text, "BY") || strings.EqualFold(a.Text, "GET")) {
			return true
		}
	}
	return false
}

// waits reports whether a call waits for what is to come into a stream.
func waits(name string, c *capture.Call) bool {
	if name != "XREAD" && name != "XREADGROUP" {
		return false
	}
	for _, a := range c.Args[1:] {
		switch {
		case a.Kind == capture.Text && strings.EqualFold(a.Text, "STREAMS"):
			return false
		case a.Kind == capture.Text && strings.EqualFold(a.Text, "BLOCK"):
			return true
		}
	}
	return false
}

// otherDatabase reports whether a call reaches into another database.
func otherDatabase(name string, c *capture.Call) bool {
	if name != "COPY" {
		return false
	}
	for _, a := range c.Args[min(3, len(c.Args)):] {
		if a.Kind == capture.Text && strings.EqualFold(a.Text, "DB") {
			return true
		}
	}
	return false
}
