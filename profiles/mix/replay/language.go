package replay

import (
	"context"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/traffic"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/statements"
	"github.com/perfbench/perfbench/internal/units"
)

// language is what a replay must know of the calls of one kind of store.
type language struct {
	// title is the store's name, as people say it.
	title string
	// drivers are those of the stores on which its calls can be made again.
	drivers []string
	// schemes are those of targets that can be copied from.
	schemes []string
	// mean says what a call means.
	mean func(*capture.Header) func(*capture.Call) capture.Meaning
	// sieve makes items of calls, which it gives to a function in their order.
	sieve func(r *Recording, h *capture.Header, give func(*item, []capture.Arg)) sieve
	// pipelines means that its clients may send calls before the answers to those before them have
	// come.
	pipelines bool
	// size words the size of an answer, as in "3 rows"; nil: it is a value of so many bytes.
	size func(n uint32) string
}

// Options say which calls of a capture are made again.
type Options struct {
	// DDL means that statements are, too, that make, change and remove tables.
	DDL bool
}

// languages are those that are known, by the store that headers of captures name.
var languages = map[string]*language{
	"redis": {
		title: "Redis", pipelines: true, drivers: []string{"redis", "embedded"}, schemes: redis.Driver.Schemes, mean: traffic.Mean,
		sieve: func(r *Recording, h *capture.Header, give func(*item, []capture.Arg)) sieve {
			return newRedisSieve(r, h, give)
		},
	},
	"postgres": sqlOf("PostgreSQL", &sqlstore.Postgres),
	"mysql":    sqlOf("MariaDB or MySQL", &sqlstore.MySQL),
}

// sqlOf is a language of statements.
func sqlOf(title string, d *store.Driver) *language {
	return &language{
		title: title, drivers: []string{d.Name}, schemes: d.Schemes, mean: statements.Mean, sieve: newSQLSieve,
		size: func(n uint32) string { return units.Plural(int64(n), "row") },
	}
}

// known lists the stores whose calls can be made again.
func known() string {
	var out []string
	for _, l := range languages {
		out = append(out, l.title)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

// Drivers returns those of the stores on which the calls of a recording can be made again, and
// Title what kind of store was recorded.
func (r *Recording) Drivers() []string { return slices.Clone(r.talk.drivers) }

// Title is the kind of store that was recorded, as people say it.
func (r *Recording) Title() string { return r.talk.title }

// CanCopy reports whether a target's scheme is that of a store whose data a replay can begin with.
func (r *Recording) CanCopy(scheme string) bool { return slices.Contains(r.talk.schemes, scheme) }

// sieve makes items of calls, in order. It belongs to one goroutine.
type sieve interface {
	// add takes the next call; leftOut says why it is not made again, or "". What it gives is the
	// sieve's, until the next one.
	add(c *capture.Call, leftOut string)
	// end counts what has not come to its end.
	end()
	// leftOut are the calls that are not made again, by why.
	leftOut() map[string]int64
}

// place is a store on which a replay makes its calls. Any goroutine may call it.
type place interface {
	// begin puts in place what the replay begins with, in a space that is empty. With answers, it
	// finds out what it must know to judge them.
	begin(ctx context.Context, answers bool, progress func(done, total int64)) error
	// caller returns what makes the calls of one thread.
	caller() caller
}

// caller makes the calls of one thread. It belongs to one goroutine, but for end.
type caller interface {
	// ready gets a call ready, before its time counts. An error has the iteration fail.
	ready(ctx context.Context, in *chunk, c *call) error
	// do makes it; keep: the answer will be asked for.
	do(ctx context.Context, keep bool) error
	// found reports whether it has found one value; is: it reads one.
	found() (hit, is bool)
	// answer returns what is kept of the answer; false: none came.
	answer(err error) (answer, bool)
	// describe says for people which call it was, and what it was answered, or "" if there is no
	// more to say than the answer.
	describe(err error) (call, now string)
	// after does what follows the call, once its time has been taken.
	after(ctx context.Context)
	// end lets go of what the caller has for itself. No call is under way.
	end()
}

// sender is a caller that can send calls without waiting for the answers to those before them.
type sender interface {
	// gather gets calls of one connection ready, before their time counts.
	gather(in *chunk, calls []call)
	// send makes them. told gets what came of each, by its place among them, when its answer has been
	// read: the first one's first. Until it returns, found is about that call.
	send(ctx context.Context, told func(i int, err error))
}
