package statements

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
)

// Why statements are not recorded, beside what takeApart says.
const leftSecret = "may have a secret"

// entry is a statement as a log has it.
type entry struct {
	at   time.Time
	conn string
	// db is the database, if the log says it.
	db  string
	sql string
	// bound are the values that were bound.
	bound []bound
	// outcome may become known later.
	outcome capture.Outcome
	number  int // of entries before it
}

// bound is a value that was bound.
type bound struct {
	value string
	null  bool
	// longer means that there was more of it than the log has.
	longer bool
}

// size is about how much memory an entry takes.
func (e *entry) size() int {
	n := 200 + len(e.sql)
	for i := range e.bound {
		n += 40 + len(e.bound[i].value)
	}
	return n
}

// source reads the statements of a log of one kind.
type source interface {
	// next reads the next one; the error is io.EOF at the end. The source may still change
	// its outcome until it is recorded.
	next() (*entry, error)
	// kind says what the log is. It may say more after next.
	kind() capture.Header
}

// Limits of what is put into the order in which it began: logs are written as statements end.
const (
	mostWaiting  = 10_000
	mostInMemory = 64 << 20
)

// ordered reads the entries of a source in the order of their beginning, as far as the limits
// reach. It is a heap.
type ordered struct {
	source  source
	waiting []*entry
	bytes   int
	number  int
	ended   error
	last    time.Time
	// late is how many entries came too late to be in order.
	late int64
	// floors are when the last entry of each connection began: the next one began later, whatever
	// the precision of its moment and its duration.
	floors map[string]time.Time
}

func (o *ordered) Len() int { return len(o.waiting) }
func (o *ordered) Less(i, j int) bool {
	a, b := o.waiting[i], o.waiting[j]
	return a.at.Before(b.at) || a.at.Equal(b.at) && a.number < b.number
}
func (o *ordered) Swap(i, j int) { o.waiting[i], o.waiting[j] = o.waiting[j], o.waiting[i] }
func (o *ordered) Push(x any)    { o.waiting = append(o.waiting, x.(*entry)) }
func (o *ordered) Pop() any {
	n := len(o.waiting) - 1
	e := o.waiting[n]
	o.waiting[n], o.waiting = nil, o.waiting[:n]
	return e
}

// next returns the next entry; at the end, and behind what went wrong, the error is the source's.
func (o *ordered) next() (*entry, error) {
	for o.ended == nil && len(o.waiting) < mostWaiting && o.bytes < mostInMemory {
		e, err := o.source.next()
		if err != nil {
			o.ended = err
			if !errors.Is(err, io.EOF) {
				return nil, err
			}
			break
		}
		if floor := o.floors[e.conn]; e.at.Before(floor) {
			e.at = floor
		}
		if o.floors == nil || len(o.floors) >= mostSessions {
			o.floors = map[string]time.Time{}
		}
		o.floors[e.conn] = e.at
		e.number = o.number
		o.number++
		o.bytes += e.size()
		heap.Push(o, e)
	}
	if len(o.waiting) == 0 {
		return nil, o.ended
	}
	e := heap.Pop(o).(*entry)
	o.bytes -= e.size()
	if e.at.Before(o.last) {
		e.at = o.last
		o.late++
	}
	o.last = e.at
	return e, nil
}

// recorder writes statements into a capture.
type recorder struct {
	capture.Options
	w       *capture.Writer
	dialect Dialect
	start   time.Time
	names   *capture.Disguise
	conns   *capture.Connections
	call    capture.Call
	// databases are numbered in the order of their first call.
	databases map[string]int
	named     []string
}

// mostDatabases is how many databases are told apart.
const mostDatabases = 1000

// database returns the number of a database.
func (r *recorder) database(name string) int {
	n, ok := r.databases[name]
	if !ok && len(r.databases) < mostDatabases {
		n = len(r.databases)
		r.databases[name] = n
		r.named = append(r.named, name)
	}
	return n
}

// add records a statement. The error is the writer's.
func (r *recorder) add(e *entry) error {
	s, err := takeApart(r.dialect, e.sql)
	if err != nil {
		r.w.Leave(err.Error(), 1)
		return nil
	}
	if len(s.text) > capture.MaxText {
		r.w.Leave(capture.LeftTooLarge, 1)
		return nil
	}
	conn := r.conns.Number([]byte(e.conn))
	if conn == 0 {
		return nil
	}
	if s.secret {
		r.w.Leave(leftSecret, 1)
		return nil
	}
	k := &r.call
	k.At, k.Conn, k.DB, k.Outcome = max(e.at.Sub(r.start), 0), conn, r.database(e.db), e.outcome
	k.Args = append(k.Args[:0], capture.TextArg(s.verb), capture.TextArg(s.text))
	for _, v := range s.values {
		k.Args = append(k.Args, r.value(v))
	}
	for i := range e.bound {
		switch b := &e.bound[i]; {
		case b.null:
			k.Args = append(k.Args, capture.Arg{Kind: capture.Null})
		case b.longer:
			k.Args = append(k.Args, capture.Arg{Kind: capture.Size, Size: len(b.value)})
		default:
			k.Args = append(k.Args, r.value(b.value))
		}
	}
	return r.w.Add(k)
}

// value is a value as it is recorded.
func (r *recorder) value(v string) capture.Arg {
	switch {
	case len(v) > capture.MaxText:
		return capture.Arg{Kind: capture.Size, Size: len(v)}
	case !r.Values:
		return capture.Arg{Kind: capture.Name, ID: r.names.ID([]byte(v)), Size: len(v)}
	case r.Disguise != nil:
		v = r.Disguise.Text(v)
	}
	return capture.TextArg(v)
}

// Recognises reports whether a file is a log of statements, of a kind that Convert reads. What
// cannot be read is none.
func Recognises(ctx context.Context, log string) bool {
	l, err := capture.OpenLog(ctx, log)
	if err != nil {
		return false
	}
	defer l.Close()
	return recognise(l) != nil
}

// recognise returns the source of a log; nil: it is of no kind that is known.
func recognise(l *capture.Log) source {
	ahead := l.Ahead()
	switch {
	case beginsJSON(ahead):
		return newPostgres(l, (*postgres).jsonRecord, "PostgreSQL's jsonlog")
	case beginsCSV(ahead):
		return newPostgres(l, (*postgres).csvRecord, "PostgreSQL's csvlog")
	case beginsFQL(ahead):
		return &fql{Log: l}
	case beginsGeneral(ahead):
		return &general{Log: l}
	case beginsSlow(ahead):
		return &slow{Log: l}
	}
	return nil
}

// Convert makes a capture of a log of statements, as PostgreSQL, MariaDB, MySQL and fqltool of
// Cassandra write it. zstd may have packed it. Errors about the log have the code of bad input, name
// the line, and leave no file behind.
func Convert(ctx context.Context, log, path string, o capture.Options) (capture.Tally, error) {
	l, err := capture.OpenLog(ctx, log)
	if err != nil {
		return capture.Tally{}, err
	}
	defer l.Close()
	src := recognise(l)
	if src == nil {
		return capture.Tally{}, l.Input("it is no log of statements", "perfbench capture --help lists the logs that can be read")
	}
	if _, ok := src.(*fql); ok && o.Sample > 1 {
		return capture.Tally{}, fault.Input(fmt.Errorf("%s does not say which connection a statement was sent on, so none can be sampled", log), "leave out --sample")
	}
	if o.Disguise != nil && o.Disguise.KeepsPrefix() {
		return capture.Tally{}, fault.Input(fmt.Errorf("%s has statements and no keys, so no part of one can be kept", log), "leave out --keep-prefix")
	}
	in := &ordered{source: src}
	e, err := in.next()
	if errors.Is(err, io.EOF) {
		return capture.Tally{}, l.Nothing("statements are logged with log_statement = all or log_min_duration_statement = 0 and lc_messages = C, or with long_query_time = 0 or general_log = 1")
	}
	if err != nil {
		return capture.Tally{}, err
	}
	h := src.kind()
	h.Source, h.Started = filepath.Base(log), e.at.UTC()
	w, err := capture.Create(path, o.Header(h), o.Max)
	if err != nil {
		return capture.Tally{}, err
	}
	r := &recorder{Options: o, w: w, dialect: DialectOf(h.Store), start: e.at, names: o.Names(), conns: capture.NewConnections(w, o.Sample), databases: map[string]int{}}
	for err == nil {
		w.Tally.At = max(w.Tally.At, e.at.Sub(r.start).Microseconds())
		if err = r.add(e); err == nil {
			e, err = in.next()
		}
	}
	r.note(in.late)
	err = l.End(w, err)
	return w.Tally, err
}

// note says what else there is to say.
func (r *recorder) note(late int64) {
	if late > 0 {
		r.w.Tally.Notes = append(r.w.Tally.Notes, fmt.Sprintf("%s took so long as to be recorded later than %s began", units.Plural(late, "statement"), units.Choose(late, "it", "they")))
	}
	if len(r.named) < 2 {
		return
	}
	list := ""
	for i, name := range r.named[:min(len(r.named), 20)] {
		if i > 0 {
			list += ", "
		}
		if name == "" {
			name = "none"
		}
		list += fmt.Sprintf("%d is %s", i, name)
	}
	r.w.Tally.Notes = append(r.w.Tally.Notes, "of the databases, "+list)
}
