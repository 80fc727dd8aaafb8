package replay

import (
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
)

// Why calls are not made again, beside what traffic says.
const (
	ofHalf      = "transactions of which a part is missing"
	ofDiscarded = "transactions that were given up"
)

// Limits of the transactions that are under way in a recording.
const (
	maxPending = 4096
	maxInOne   = 4096
)

// item is what is made again at once: a call, or the calls of a transaction.
type item struct {
	command string
	number  int64 // from 0
	at      time.Duration
	moment  float64
	conn    int64
	found   capture.Found
	// calls are its calls.
	calls []part
	// transaction means that they are one.
	transaction bool
	// Of a transaction of several items: open means that it goes on behind this one, begins that it
	// begins with this one without a call that says so, and last that it is given up behind this one,
	// since its connection ends.
	open, begins, last bool
}

// part is a call of an item: where its arguments are, and which are keys, counted from the
// first of them.
type part struct {
	from, to int
	keys     []int
	db       int
}

// redisSieve makes items of calls, in order. It belongs to one goroutine.
type redisSieve struct {
	r    *Recording
	h    *capture.Header
	give func(*item, []capture.Arg)
	left map[string]int64

	item    item
	pending map[int64]*pending
}

// pending is a transaction that has begun.
type pending struct {
	calls []part
	args  []capture.Arg
	over  bool // it has too many calls
}

func newRedisSieve(r *Recording, h *capture.Header, give func(*item, []capture.Arg)) *redisSieve {
	return &redisSieve{r: r, h: h, give: give, left: map[string]int64{}, pending: map[int64]*pending{}}
}

// add takes the next call; leftOut says why it is not made again, or "". What it gives is the
// sieve's, until the next one.
func (s *redisSieve) add(c *capture.Call, leftOut string) {
	if leftOut != "" {
		s.left[leftOut]++
		return
	}
	open := s.pending[c.Conn]
	switch c.Command() {
	case "MULTI":
		switch {
		case open != nil: // the server refused it
			s.left[ofHalf]++
		case len(s.pending) >= maxPending:
			s.left[ofHalf]++
		default:
			s.pending[c.Conn] = &pending{}
		}
		return
	case "EXEC", "DISCARD":
		if open == nil {
			s.left[ofHalf]++
			return
		}
		delete(s.pending, c.Conn)
		switch {
		case c.Command() == "DISCARD":
			s.left[ofDiscarded] += int64(len(open.calls)) + 2
		case open.over:
			s.left[ofHalf] += int64(len(open.calls)) + 2
		case len(open.calls) > 0:
			s.item = item{command: "EXEC", at: c.At, conn: c.Conn, calls: open.calls, transaction: true}
			s.give(&s.item, open.args)
		}
		return
	}
	now := s.h.Started.Add(c.At)
	if open != nil {
		if len(open.calls) >= maxInOne {
			open.over = true
			s.left[ofHalf]++
			return
		}
		from := len(open.args)
		open.args = append(open.args, c.Args...)
		s.relative(open.args[from:], now)
		open.calls = append(open.calls, part{from, len(open.args), append([]int(nil), c.Keys...), c.DB})
		return
	}
	s.relative(c.Args, now)
	s.item = item{command: c.Command(), at: c.At, conn: c.Conn, found: c.Found, calls: append(s.item.calls[:0:0], part{0, len(c.Args), c.Keys, c.DB})}
	s.give(&s.item, c.Args)
}

// end counts what has not come to its end.
func (s *redisSieve) end() {
	for _, p := range s.pending {
		s.left[ofHalf] += int64(len(p.calls)) + 1
	}
}

// leftOut are the calls that are not made again, by why.
func (s *redisSieve) leftOut() map[string]int64 { return s.left }

// unknownTTL is how long a key lives whose time to live is not known, since it is not known when it
// was set.
const unknownTTL = time.Hour

// relative makes times to live of moments at which keys expire, which would have passed.
func (s *redisSieve) relative(args []capture.Arg, now time.Time) {
	name := args[0].Text
	if short, is := strings.CutSuffix(name, "AT"); is && len(args) > 2 && strings.HasSuffix(short, "EXPIRE") {
		args[0].Text = short
		s.span(&args[2], strings.Contains(short, "PEXPIRE"), now)
		return
	}
	if name != "SET" && !strings.HasSuffix(name, "GETEX") && name != "HSETEX" {
		return
	}
	for i := 2; i+1 < len(args); i++ {
		if args[i].Kind != capture.Text || i == 2 && name == "SET" { // that is the value
			continue
		}
		switch word := strings.ToUpper(args[i].Text); word {
		case "EXAT", "PXAT":
			args[i].Text = word[:2]
			s.span(&args[i+1], word == "PXAT", now)
			return
		}
	}
}

// span makes a time to live of a moment.
func (s *redisSieve) span(a *capture.Arg, milli bool, now time.Time) {
	n, err := strconv.ParseInt(a.Text, 10, 64)
	unit := time.Second
	if milli {
		unit = time.Millisecond
	}
	if a.Kind != capture.Text || err != nil || n <= 0 || n > int64(1<<62)/int64(unit) {
		return
	}
	left := time.Duration(n)*unit - time.Duration(now.UnixNano())
	if left <= 0 && s.h.Timing == capture.Unknown {
		left = unknownTTL
	}
	a.Text = strconv.FormatInt(max(int64((left+unit-1)/unit), 1), 10)
}
