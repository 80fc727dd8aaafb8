package run

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// step is a step of an operation as one client carries it out. It belongs to the client.
type step struct {
	*model.Step
	task *task
	// set is its data set; nil: none.
	set *set
	// number is what makes the random numbers of the step differ from those of others.
	number uint64
	// part is the operation as which it is timed by itself, fill that of a put after a miss;
	// -1: it is not.
	part, fill workload.Op

	keys *datagen.Chooser
	// tickets number the calls of keys in sequence; nil: they are in none. The client has a
	// block of left tickets, from ticket on.
	tickets *tickets
	ticket  uint64
	left    uint64
	named   []int // the fields of Names

	batch, count, by, pause, ttl number
	sizes                        []number // one for each field of the data set

	main part
	// again puts back what was not found, or writes what was modified.
	again part
	argOf []argument
	key   []byte // of a record, for a statement
}

// part is a call of a step, and what is known of its rows.
type part struct {
	call model.Call
	rows []row
	// picked are the fields that it is about.
	picked []int
}

// row is what is known of a row of a call.
type row struct {
	record int64
	// number is that of an insert; -1: it is none.
	number int64
	// absent means that the record never was, and due that it was there before the call began.
	absent, due bool
	// slots, of the fields of the call, are followed; floors are what a read must find at
	// least, and begun says which writes are counted.
	slots  []int64
	floors []uint32
	begun  []bool
}

// argument is an argument of a statement.
type argument struct {
	*model.Arg
	set    *set
	keys   *datagen.Chooser
	number number
}

// The numbers of steps are so far apart, and those of their rows: what is random in each
// derives from its number.
const (
	rowsApart = 64
	callApart = 64 * rowsApart
)

// never is added to the number of a record to get one that never was.
const never = 1 << 40

func newStep(k *task, st *model.Step, number int, part, fill workload.Op) *step {
	s := &step{Step: st, task: k, number: uint64(number), part: part, fill: fill}
	s.batch, s.count, s.by, s.pause = numberOf(st.Batch), numberOf(st.Count), numberOf(st.By), numberOf(st.Pause)
	r := k.run
	if i := r.work.Index(st.Data); i >= 0 {
		s.set = r.sets[i]
		s.main.call.Set, s.again.call.Set = i, i
		s.ttl = numberOf(s.set.TTL)
		if st.TTL.Given() {
			s.ttl = numberOf(st.TTL)
		}
		s.measure()
		s.choose(st.Keys.Choice())
	}
	s.main.call.Do, s.again.call.Do = st.Do, model.Put
	switch {
	case st.Do == model.Modify:
		s.main.call.Do = model.Get
		if s.set.Type == model.Hash && s.some() {
			s.again.call.Do = model.Update
		}
	case st.Do == model.Statement:
		s.main.call.Statement = k.statements
		k.statements++
		for i := range st.Args {
			s.argOf = append(s.argOf, newArgument(k, s, &st.Args[i]))
		}
	}
	return s
}

func newArgument(k *task, s *step, a *model.Arg) argument {
	arg := argument{Arg: a, set: s.set, number: numberOf(a.Number)}
	if i := k.run.work.Index(a.Data); i >= 0 {
		arg.set = k.run.sets[i]
	}
	if arg.set != nil && (a.Kind == model.ArgKey || a.Kind == model.ArgRecord) && a.Keys.Kind != model.Same {
		arg.keys = datagen.NewChooser(a.Keys.Choice(), arg.set.seed, arg.set.base)
	}
	return arg
}

// measure reads how large the fields are.
func (s *step) measure() {
	for i := range s.set.columns {
		n := s.set.Field(i)
		if s.Size.Given() {
			n = s.Size
		}
		s.sizes = append(s.sizes, numberOf(n))
	}
	for _, name := range s.Names {
		if i := slices.IndexFunc(s.set.Fields, func(f model.Field) bool { return f.Name == name }); i >= 0 {
			s.named = append(s.named, i)
		}
	}
}

// choose sets how records are chosen.
func (s *step) choose(k datagen.Keys) {
	if k.Drift > 0 {
		k.Drift *= callApart
	}
	s.keys = datagen.NewChooser(k, s.set.seed, s.set.base)
	if k.Kind == datagen.SequentialKeys {
		s.tickets = &s.task.run.tickets[s.number]
	}
}

// some reports whether the step is about some fields only.
func (s *step) some() bool {
	n := max(len(s.Names), s.Fields)
	return n > 0 && n < s.set.columns
}

// pick chooses the fields that a call is about: some of them, or all.
func (s *step) pick(p *part, x uint64, some bool) {
	p.picked, p.call.Fields = p.picked[:0], nil
	n := s.set.columns
	switch {
	case some && len(s.Names) > 0:
		p.picked = append(p.picked, s.named...)
	case some:
		first := int(below(mix(x^0xf1e1d), int64(n)))
		for i := range s.Fields {
			p.picked = append(p.picked, (first+i)%n)
		}
	default:
		for i := range n {
			p.picked = append(p.picked, i)
		}
		return
	}
	p.call.Fields = p.picked
}

// record chooses a record.
func (s *step) record(x uint64) int64 {
	n := s.set.records(&s.task.run.stake)
	if s.Keys.To > 0 {
		n = min(n, s.Keys.To)
	}
	if s.tickets != nil {
		x = s.next()
	}
	return s.Keys.From + s.keys.Choose(x, n-s.Keys.From)
}

// next takes the next number of a sequence, of which the client has a block.
func (s *step) next() uint64 {
	if s.left == 0 {
		s.ticket, s.left = s.tickets.take()
	}
	s.left--
	s.ticket++
	k := &s.task.run.stake
	return (s.ticket-1)*uint64(max(k.Of, 1)) + uint64(k.Process)
}

// prepare makes the call, which is not part of its time. x is the number of the step among
// all that are carried out.
func (s *step) prepare(it *workload.Iteration, x uint64) {
	switch s.Do {
	case model.Think:
		return
	case model.Statement:
		s.arguments(x)
		return
	}
	p, n := &s.main, 1
	switch {
	case s.Pipeline > 1:
		n = s.Pipeline
	case s.Batch.Given():
		n = int(max(s.batch.draw(mix(x^0xba7c4)), 1))
	}
	s.grow(p, n)
	for i := range n {
		s.aim(&p.rows[i], &p.call.Rows[i], x+uint64(i%rowsApart)+uint64(i/rowsApart)<<56)
	}
	switch s.Do {
	case model.Put, model.Insert:
		s.pick(p, x, false)
		s.write(it, p, x, true)
	case model.Update:
		s.pick(p, x, s.some())
		s.write(it, p, x, true)
	case model.Push, model.Append:
		s.pick(p, x, false)
		s.write(it, p, x, false)
	case model.Get:
		s.pick(p, x, s.some())
		s.expect(p)
	case model.Modify:
		s.pick(p, x, false)
		s.expect(p)
	case model.Include, model.Exclude, model.Has:
		s.members(p, x)
	case model.Add:
		p.call.By = s.by.draw(mix(x ^ 0xadd))
	case model.Delete:
		for i := range n {
			s.forget(&p.rows[i])
		}
	case model.Scan, model.Range:
		p.call.Count = int(max(s.count.draw(mix(x^0x5ca4)), 1))
	}
}

// grow makes room for the rows of a call.
func (s *step) grow(p *part, n int) {
	for len(p.rows) < n {
		columns := s.set.columns
		p.rows = append(p.rows, row{slots: make([]int64, columns), floors: make([]uint32, columns), begun: make([]bool, columns)})
	}
	p.call.Rows = room(p.call.Rows, n)
}

// room makes a list n long; what those have that are there already stays.
func room[T any](list []T, n int) []T {
	if n > cap(list) {
		grown := make([]T, n)
		copy(grown, list[:cap(list)])
		return grown
	}
	return list[:n]
}

// aim chooses the record of a row.
func (s *step) aim(at *row, to *model.Row, x uint64) {
	k := s.task
	at.number, at.absent = -1, false
	switch {
	case s.Do == model.Insert:
		at.record, at.number = s.set.next(&k.run.stake)
	case s.Keys.Kind == model.Same && k.last[s.set.at] >= 0:
		at.record = k.last[s.set.at]
	default:
		at.record = s.record(x)
	}
	if k.hit < 1 && s.Do == model.Get && s.Hit != nil && unit(mix(x^0x417)) >= k.hit {
		at.record, at.absent = at.record|never, true
	} else {
		k.last[s.set.at] = at.record
	}
	to.Key, to.Found = s.set.Key.Append(to.Key[:0], at.record), false
}

// expect notes which records a read must find, and which versions: those that were
// acknowledged before it begins.
func (s *step) expect(p *part) {
	for i := range p.call.Rows {
		at := &p.rows[i]
		at.due = !at.absent && s.set.there(&s.task.run.stake, at.record)
		for j, f := range p.picked {
			at.floors[j] = s.set.slots.floor(s.slot(at, f))
		}
	}
}

func (s *step) slot(at *row, field int) int64 {
	if at.absent {
		return -1
	}
	return s.set.slot(at.record, field)
}

// write makes the values of a call; kept says that each has a place of its own, where it
// replaces another, and can be followed.
func (s *step) write(it *workload.Iteration, p *part, x uint64, kept bool) {
	c := &p.call
	c.TTL = 0
	if s.ttl.min > 0 || s.ttl.table != nil {
		c.TTL = s.ttl.draw(mix(x ^ 0x771))
	}
	for i := range c.Rows {
		at, to := &p.rows[i], &c.Rows[i]
		to.Vals = room(to.Vals, len(p.picked))
		if s.set.Type == model.Counter {
			to.Vals[0] = strconv.AppendInt(to.Vals[0][:0], s.set.Start, 10)
			continue
		}
		for j, f := range p.picked {
			y := mix(x ^ uint64(i)<<40 ^ uint64(f)<<32)
			n := it.Settings.Payload
			if n == 0 {
				n = int(s.sizes[f].draw(y))
			}
			ordinal := uint32(0)
			if kept {
				at.slots[j] = s.slot(at, f)
				ordinal = s.set.slots.begin(at.slots[j])
				at.begun[j] = ordinal > 0
			}
			if ordinal == 0 {
				s.task.ordinal++
				ordinal = s.task.ordinal
			}
			to.Vals[j] = s.set.append(to.Vals[j][:0], owner(to.Key, f), datagen.VersionOf(s.task.run.origin, ordinal), n)
		}
	}
}

// members makes the members that a call on a set is about: of each record there are as many
// as it has elements when it is loaded.
func (s *step) members(p *part, x uint64) {
	p.call.By = below(mix(x^0x5c0e), mostScore)
	for i := range p.call.Rows {
		to := &p.call.Rows[i]
		to.Vals = room(to.Vals, 1)
		to.Vals[0] = appendMember(to.Vals[0][:0], below(mix(x^0x3e3b^uint64(i)<<40), max(s.set.Length.Most(), 1)))
	}
}

// mostScore is above the score of every member of a sorted set.
const mostScore = 1 << 32

func appendMember(dst []byte, n int64) []byte { return strconv.AppendInt(append(dst, 'm'), n, 10) }

// forget notes that a record may be gone.
func (s *step) forget(at *row) {
	s.set.gone.set(at.record)
	for f := range s.set.columns {
		s.set.slots.doubt(s.slot(at, f))
	}
}

// arguments makes the arguments of a statement.
func (s *step) arguments(x uint64) {
	c := &s.main.call
	c.Args = room(c.Args, len(s.argOf))
	record := int64(0)
	if s.set != nil {
		record = s.record(x)
		if s.Keys.Kind == model.Same && s.task.last[s.set.at] >= 0 {
			record = s.task.last[s.set.at]
		}
		s.task.last[s.set.at] = record
	}
	for i := range s.argOf {
		a := &s.argOf[i]
		at, y, dst := record, mix(x^uint64(i)<<32), c.Args[i][:0]
		if a.keys != nil {
			n := a.set.records(&s.task.run.stake)
			if a.Keys.To > 0 {
				n = min(n, a.Keys.To)
			}
			at = a.Keys.From + a.keys.Choose(x+uint64(i+1), n-a.Keys.From)
		}
		switch a.Kind {
		case model.ArgKey:
			if key := s.task.run.layer.Key; key != nil {
				s.key = a.set.Key.Append(s.key[:0], at)
				dst = key(dst, a.set.at, s.key)
			} else {
				dst = a.set.Key.Append(dst, at)
			}
		case model.ArgRecord:
			dst = strconv.AppendInt(dst, at, 10)
		case model.ArgValue:
			s.task.ordinal++
			dst = content{}.append(dst, datagen.Owner(at), datagen.VersionOf(s.task.run.origin, s.task.ordinal), int(a.number.draw(y)))
		case model.ArgNumber:
			dst = strconv.AppendInt(dst, a.number.draw(y), 10)
		default:
			dst = append(dst, a.Text...)
		}
		c.Args[i] = dst
	}
}

// finish looks at the answer to a call. It returns the error of the operation: err, or what
// is wrong with what was read.
func (s *step) finish(p *part, err error) error {
	if err != nil && s.set != nil && s.task.run.conn.Classify(err).Unanswered(err) {
		s.doubt(p)
	}
	switch p.call.Do {
	case model.Put, model.Insert, model.Update, model.Push, model.Append:
		s.wrote(p, err)
		return err
	case model.Add:
		s.added(&p.call, err)
		return err
	}
	if err != nil {
		return err
	}
	switch p.call.Do {
	case model.Get:
		return s.found(p)
	case model.Scan:
		s.task.tally.bytesRead.Add(bytesOf(p.call.Got))
		return s.scanned(&p.call)
	case model.Range:
		s.task.tally.bytesRead.Add(bytesOf(p.call.Got))
		return s.elements(&p.call)
	case model.Statement:
		return s.expected(&p.call)
	}
	return nil
}

// doubt notes the writes of a call that had no answer.
func (s *step) doubt(p *part) {
	n := int64(len(p.call.Rows))
	switch p.call.Do {
	case model.Insert:
		for i := range p.call.Rows {
			if number := p.rows[i].number; number >= 0 {
				s.set.unsure.set(number)
			}
		}
	case model.Add:
		s.set.unsureAdds.Add(n)
	case model.Put, model.Update, model.Delete, model.Push, model.Append, model.Include, model.Exclude:
	default:
		return
	}
	s.set.unanswered.Add(n)
}

// expected compares the answer of a statement with what it must be.
func (s *step) expected(c *model.Call) error {
	if s.Expect == "" || s.Expect == string(c.Buf) || s.Expect == strconv.FormatInt(c.N, 10) {
		return nil
	}
	got := strconv.FormatInt(c.N, 10)
	if len(c.Buf) > 0 {
		got = workload.PlainText(string(c.Buf), mostShown)
	}
	return s.task.run.unexpected(s.Text, s.Expect, got)
}

// mostShown is how much of an answer an example shows.
const mostShown = 100

// wrote notes what became of the writes of a call.
func (s *step) wrote(p *part, err error) {
	if err == nil {
		s.task.tally.bytesWritten.Add(bytesOf(p.call.Rows))
	}
	for i := range p.call.Rows {
		at := &p.rows[i]
		for j := range p.picked {
			if at.begun[j] {
				s.set.slots.end(at.slots[j], err == nil)
				at.begun[j] = false
			}
		}
		if at.number >= 0 && err == nil {
			s.set.inserted.set(at.number)
			s.set.acked.Add(1)
			at.number = -1
		}
	}
}

// bytesOf is how large the values of rows are.
func bytesOf(rows []model.Row) (n int64) {
	for i := range rows {
		for _, v := range rows[i].Vals {
			n += int64(len(v))
		}
	}
	return n
}

func (s *step) added(c *model.Call, err error) {
	by := c.By * int64(len(c.Rows))
	switch {
	case err == nil:
		s.set.sum.Add(by)
	case by > 0:
		s.set.high.Add(by)
	default:
		s.set.low.Add(by)
	}
}

// found checks the records that were read.
func (s *step) found(p *part) (err error) {
	t, r := s.task.tally, s.task.run
	for i := range p.call.Rows {
		at, got := &p.rows[i], &p.call.Rows[i]
		switch {
		case got.Found:
			t.hits.Add(1)
			t.bytesRead.Add(bytesOf(p.call.Rows[i : i+1]))
			if e := s.judge(p, at, got); e != nil {
				err = e
			}
		case at.due && !r.forgets && !s.set.left(at.record):
			t.misses.Add(1)
			err = r.lost(s.set, got.Key)
			r.account(s.set, at.record)
		case at.record >= s.set.base && !at.absent:
			t.early.Add(1) // its insert is under way, here or elsewhere
		default:
			t.misses.Add(1)
		}
	}
	return err
}

// judge returns what is wrong with a record that was read.
func (s *step) judge(p *part, at *row, got *model.Row) (err error) {
	if s.set.Type != model.Value && s.set.Type != model.Hash {
		return nil
	}
	r := s.task.run
	for j, f := range p.picked {
		if j >= len(got.Vals) || got.Vals[j] == nil {
			continue // another has written some fields of a record that was not there
		}
		v, has, e := s.set.check(got.Vals[j], owner(got.Key, f))
		switch floor := at.floors[j]; {
		case e != nil:
			err = r.wrong(s.set, got.Key, e)
		case has && floor > 0 && r.before(v, floor):
			if e := s.stale(p, got.Key, f, v, floor); e != nil {
				err = e
				if s.task.ending {
					r.account(s.set, at.record)
				}
			}
		}
	}
	return err
}

// account counts a record once of which something acknowledged was lost.
func (r *Run) account(s *set, record int64) {
	if s.mine(&r.stake, record) && s.lost.set(record) {
		r.ones.Add(1)
	}
}

// stale notes a value that had been overwritten before it was read, which is no error where the
// store may return it.
func (s *step) stale(p *part, key []byte, field int, v datagen.Version, floor uint32) error {
	r := s.task.run
	if lags := r.layer.Lags; lags != nil && lags(&p.call, !s.task.settled) {
		r.allowed.Add(1)
		return nil
	}
	r.stales.Add(1)
	var read string
	switch {
	case v == 0:
		read = "what had been loaded"
	case v.Origin() != r.origin:
		read = "a value of another run"
	default:
		read = fmt.Sprintf("write %d of this run", v.Ordinal())
	}
	if s.set.columns > 1 {
		read += fmt.Sprintf(" in field %d", field+1)
	}
	r.example(s.set, key, fmt.Sprintf("read %s, which had been overwritten: write %d of this run or a later one had been acknowledged before", read, floor))
	return errStale
}

// scanned checks the records that a scan returned: in order, from the key on, and each one
// of ours.
func (s *step) scanned(c *model.Call) (err error) {
	r := s.task.run
	if len(c.Got) > c.Count {
		return r.wrong(s.set, c.Rows[0].Key, fmt.Errorf("a scan of %d returned %d records", c.Count, len(c.Got)))
	}
	last := c.Rows[0].Key
	for i := range c.Got {
		got := &c.Got[i]
		if !r.layer.Scattered && bytes.Compare(got.Key, last) < 0 {
			return r.wrong(s.set, got.Key, fmt.Errorf("a scan returned it after %q", last))
		}
		last = got.Key
		if s.set.Type == model.Counter {
			continue
		}
		for f := range got.Vals {
			if got.Vals[f] == nil {
				continue
			}
			if _, _, e := s.set.check(got.Vals[f], owner(got.Key, f)); e != nil {
				err = r.wrong(s.set, got.Key, e)
			}
		}
	}
	return err
}

// elements checks the elements of a list or stream.
func (s *step) elements(c *model.Call) (err error) {
	if s.set.Type == model.Sorted {
		return nil
	}
	for i := range c.Got {
		for _, val := range c.Got[i].Vals {
			if _, _, e := s.set.check(val, owner(c.Rows[0].Key, 0)); e != nil {
				err = s.task.run.wrong(s.set, c.Rows[0].Key, e)
			}
		}
	}
	return err
}

// refill makes the call that puts back the records that were not found; false if all were.
func (s *step) refill(it *workload.Iteration, x uint64) bool {
	n := 0
	for i := range s.main.call.Rows {
		if !s.main.call.Rows[i].Found && !s.main.rows[i].absent {
			s.follow(i, n)
			n++
		}
	}
	if n > 0 {
		s.pick(&s.again, x, false)
		s.write(it, &s.again, x, true)
	}
	return n > 0
}

// modified makes the call that writes what was read, or some fields of it.
func (s *step) modified(it *workload.Iteration, x uint64) {
	for i := range s.main.call.Rows {
		s.follow(i, i)
	}
	s.pick(&s.again, x, s.some())
	s.write(it, &s.again, x, true)
}

// follow makes the second call be about a row of the first, as its last row.
func (s *step) follow(from, to int) {
	s.grow(&s.again, to+1)
	at := &s.again.rows[to]
	at.record, at.number, at.absent = s.main.rows[from].record, -1, false
	key := &s.again.call.Rows[to].Key
	*key = append((*key)[:0], s.main.call.Rows[from].Key...)
}
