package traffic

import (
	"bytes"
	"errors"
	"strconv"
	"time"
)

// What is wrong with a line. None quotes it: it may have a secret in it.
var (
	errForeign = errors.New("this is no line of MONITOR")
	errCut     = errors.New("the line is cut short")
)

// parser reads lines of MONITOR: as a server sends them, redis-cli prints them, and with
// proxies in front of the time, as memtier_benchmark takes them. Its texts are good until
// the next line.
type parser struct {
	text []byte
	ends []int
	addr []byte
}

// parse reads a line without its end. Quoted texts are as Redis escapes them.
func (p *parser) parse(line []byte, c *raw) error {
	proxy := []byte(nil)
	if rest, ok := bytes.CutPrefix(line, []byte("[ ")); ok {
		if proxy, line, ok = bytes.Cut(rest, []byte(" ] ")); !ok {
			return errForeign
		}
	}
	moment, line, ok := bytes.Cut(line, []byte(" ["))
	if !ok {
		return errForeign
	}
	if c.at, ok = stamp(moment); !ok {
		return errForeign
	}
	client, line, ok := bytes.Cut(line, []byte(`] "`))
	if !ok {
		return errForeign
	}
	db, addr, ok := bytes.Cut(client, []byte(" "))
	if !ok || len(addr) == 0 {
		return errForeign
	}
	n, err := strconv.Atoi(string(db))
	if err != nil || n < 0 {
		return errForeign
	}
	c.db, c.addr = n, addr
	if proxy != nil && string(addr) != "lua" {
		p.addr = append(append(append(p.addr[:0], proxy...), ' '), addr...)
		c.addr = p.addr
	}
	return p.arguments(line, c)
}

// stamp reads seconds with microseconds.
func stamp(b []byte) (time.Time, bool) {
	s, us, ok := bytes.Cut(b, []byte("."))
	if !ok || len(us) != 6 || len(s) == 0 || len(s) > 11 || !whole(s) || !whole(us) {
		return time.Time{}, false
	}
	sec, _ := strconv.ParseInt(string(s), 10, 64) // they are digits
	usec, _ := strconv.ParseInt(string(us), 10, 64)
	return time.Unix(sec, usec*1000), true
}

// arguments reads what follows the first quote.
func (p *parser) arguments(line []byte, c *raw) error {
	p.text, p.ends = p.text[:0], p.ends[:0]
	for {
		n, err := p.quoted(line)
		if err != nil {
			return err
		}
		line = line[n:]
		if len(line) == 0 {
			break
		}
		if !bytes.HasPrefix(line, []byte(` "`)) {
			return errForeign
		}
		line = line[2:]
	}
	c.args = c.args[:0]
	from := 0
	for _, end := range p.ends {
		c.args = append(c.args, p.text[from:end:end])
		from = end
	}
	return nil
}

// quoted reads up to the closing quote, and returns how much that was.
func (p *parser) quoted(line []byte) (int, error) {
	for i := 0; i < len(line); i++ {
		switch b := line[i]; b {
		case '"':
			p.ends = append(p.ends, len(p.text))
			return i + 1, nil
		case '\\':
			if i++; i >= len(line) {
				return 0, errCut
			}
			switch line[i] {
			case 'n':
				b = '\n'
			case 'r':
				b = '\r'
			case 't':
				b = '\t'
			case 'a':
				b = '\a'
			case 'b':
				b = '\b'
			case '"', '\\':
				b = line[i]
			case 'x':
				if i+2 >= len(line) {
					return 0, errCut
				}
				n, err := strconv.ParseUint(string(line[i+1:i+3]), 16, 8)
				if err != nil {
					return 0, errForeign
				}
				b, i = byte(n), i+2
			default:
				return 0, errForeign
			}
			p.text = append(p.text, b)
		default:
			p.text = append(p.text, b)
		}
	}
	return 0, errCut
}
