package replay

import (
	"maps"
	"slices"
	"sync"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/store/statements"
)

// mostForms is of how many statements that differ in more than values it is kept what they mean.
const mostForms = 10_000

// forms are what statements mean, by their recorded text. Any goroutine may call it.
type forms struct {
	dialect statements.Dialect
	all     sync.Map // text → *statements.Form
	mu      sync.Mutex
	n       int
}

// of returns what the statement of a call means.
func (f *forms) of(args []capture.Arg) *statements.Form {
	text := args[1].Text
	if v, ok := f.all.Load(text); ok {
		return v.(*statements.Form)
	}
	form := statements.FormOf(f.dialect, text)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n < mostForms {
		f.n++
		f.all.Store(text, form)
	}
	return form
}

// said is what the statements of a recording have in common. It is never changed once the recording
// has been read.
type said struct {
	*forms
	// transactions is how many there are; statements outside of them are none.
	transactions int64
	// words are those of all statements, tables the names that stand where tables do, with the
	// number of statements.
	words  map[string]bool
	tables map[string]int64
	// open are the last statements of connections that end within a transaction, by connection.
	open map[int64]int64
	// valueless is how many values were not recorded.
	valueless int64
}

// sqlSieve makes items of statements, each of which is one. It belongs to one goroutine.
type sqlSieve struct {
	said *said
	// first means that it is being found out what is said.
	first bool
	ddl   bool
	give  func(*item, []capture.Arg)
	left  map[string]int64
	conns map[int64]*session
	item  item
	n     int64
}

// session is how it stands with a connection.
type session struct {
	open   bool
	manual bool  // a statement begins a transaction
	last   int64 // item
}

func newSQLSieve(r *Recording, h *capture.Header, give func(*item, []capture.Arg)) sieve {
	s := &sqlSieve{said: r.said, ddl: r.options.DDL, give: give, left: map[string]int64{}, conns: map[int64]*session{}}
	if s.said == nil {
		s.first = true
		s.said = &said{forms: &forms{dialect: statements.DialectOf(h.Store)}, words: map[string]bool{}, tables: map[string]int64{}, open: map[int64]int64{}}
		r.said = s.said
	}
	return s
}

// add takes the next statement.
func (s *sqlSieve) add(c *capture.Call, leftOut string) {
	conn := s.conns[c.Conn]
	if conn == nil {
		conn = &session{}
		s.conns[c.Conn] = conn
	}
	var f *statements.Form
	if len(c.Args) > 1 {
		f = s.said.of(c.Args)
		if f.Autocommit {
			conn.manual = !f.CommitsItself(c.Args)
			conn.open = conn.open && conn.manual
		}
	}
	if s.ddl && f != nil && f.Makes && statements.MakesTables(leftOut) {
		leftOut = ""
	}
	if leftOut == "" {
		leftOut = f.Lacks(c.Args)
	}
	if leftOut != "" {
		s.left[leftOut]++
		return
	}
	begins := f.Begins || conn.manual && !conn.open && !f.Ends
	s.item = item{command: c.Command(), at: c.At, conn: c.Conn, calls: append(s.item.calls[:0:0], part{0, len(c.Args), c.Keys, c.DB})}
	s.item.begins = begins && !f.Begins
	if begins && s.first {
		s.said.transactions++
	}
	conn.open = begins || conn.open && !f.Ends
	conn.last = s.n
	s.item.open = conn.open
	if last, is := s.said.open[c.Conn]; is && !s.first && last == s.n {
		s.item.open, s.item.last = false, true
	}
	s.n++
	if s.first {
		s.learn(f, c)
	}
	s.give(&s.item, c.Args)
}

// learn adds a statement to what is said.
func (s *sqlSieve) learn(f *statements.Form, c *capture.Call) {
	for w := range f.Words {
		if len(s.said.words) < maxKeys {
			s.said.words[w] = true
		}
	}
	for _, t := range f.Tables {
		if _, known := s.said.tables[t]; known || len(s.said.tables) < mostForms {
			s.said.tables[t]++
		}
	}
	for i := range c.Args[2:] {
		if c.Args[2+i].Kind == capture.Name {
			s.said.valueless++
		}
	}
}

// end notes which connections end within a transaction.
func (s *sqlSieve) end() {
	for n, c := range s.conns {
		if c.open && s.first {
			s.said.open[n] = c.last
		}
	}
}

// leftOut are the statements that are not made again, by why.
func (s *sqlSieve) leftOut() map[string]int64 { return s.left }

// Tables are the tables that statements name, those that most do first.
func (r *Recording) Tables() []string {
	if r.said == nil {
		return nil
	}
	return slices.SortedFunc(maps.Keys(r.said.tables), func(a, b string) int {
		if x, y := r.said.tables[a], r.said.tables[b]; x != y {
			return int(min(max(y-x, -1), 1))
		}
		return slices.Compare([]byte(a), []byte(b))
	})
}

// Transactions is how many transactions there are of several calls.
func (r *Recording) Transactions() int64 {
	if r.said == nil {
		return 0
	}
	return r.said.transactions
}

// Valueless is how many values of statements were not recorded, without which they cannot be made
// again.
func (r *Recording) Valueless() int64 {
	if r.said == nil {
		return 0
	}
	return r.said.valueless
}

// Keyless means that calls name no keys, so that only one call after the other is sure to be
// answered in the same way again.
func (r *Recording) Keyless() bool { return r.said != nil }
