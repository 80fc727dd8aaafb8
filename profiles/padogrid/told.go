package padogrid

// Told is what a process tells of its part of a work, for another that has the whole: how
// far its shares have come, and what its threads have done since it told the last time.
type Told struct {
	// From is the number of the first share; Cursors and Warm have one value for each.
	From          int
	Cursors, Warm []int64
	// Changed says that the number of threads was changed in mid-run.
	Changed bool
	Tallies []TallyTold
}

// TallyTold is what one thread has done since it was told of the last time; Began and Left
// are moments. Own is what the profile counts beside.
type TallyTold struct {
	Worker             int
	Done, Failed, Busy int64
	Began, Left        int64
	Own                int64
}

// Tell returns what has become of the part since the last call; own reads what the profile
// counts of a worker. One goroutine at a time may call it.
func (w *Work[T]) Tell(own func(*T) int64) Told {
	out := Told{From: w.job.From, Changed: w.changed.Load()}
	for i := w.job.From; i < w.job.To; i++ {
		out.Cursors, out.Warm = append(out.Cursors, w.cursors[i].Load()), append(out.Warm, w.warm[i].Load())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for worker, t := range w.tallies {
		now := TallyTold{worker, t.Done.Load(), t.Failed.Load(), t.busy.Load(), t.began.Load(), t.left.Load(), own(&t.Own)}
		was := w.told[worker]
		w.told[worker] = now
		if now == was {
			continue
		}
		now.Done, now.Failed, now.Busy, now.Own = now.Done-was.Done, now.Failed-was.Failed, now.Busy-was.Busy, now.Own-was.Own
		out.Tallies = append(out.Tallies, now)
	}
	return out
}

// Credit takes in what another process has told; own adds to what the profile counts of a
// worker. false: it is not of this work.
func (w *Work[T]) Credit(told Told, own func(t *T, more int64)) bool {
	if told.From < 0 || told.From+len(told.Cursors) > len(w.cursors) || len(told.Warm) != len(told.Cursors) {
		return false
	}
	for i := range told.Cursors {
		w.cursors[told.From+i].Store(told.Cursors[i])
		w.warm[told.From+i].Store(told.Warm[i])
	}
	if told.Changed {
		w.changed.Store(true)
	}
	for _, more := range told.Tallies {
		if more.Worker < 0 || more.Worker > mostThreads {
			return false
		}
		t := w.tally(more.Worker)
		t.Done.Add(more.Done)
		t.Failed.Add(more.Failed)
		t.busy.Add(more.Busy)
		own(&t.Own, more.Own)
		if began := t.began.Load(); began == 0 || more.Began < began {
			t.began.Store(more.Began)
		}
		t.left.Store(max(t.left.Load(), more.Left))
	}
	return true
}

// Lost takes all of these shares, the last one excluded, for given out: whoever had them
// cannot tell any more.
func (w *Work[T]) Lost(from, to int) {
	for i := from; i < to; i++ {
		w.cursors[i].Store(max(w.cursors[i].Load(), w.job.Shares[i]))
	}
}

// mostThreads is the highest number that a thread may have.
const mostThreads = 1 << 16
