package remote

import (
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/perfbench/perfbench/internal/workload"
)

// intake owns what members send of their work: it takes each report once and in order, and
// refuses what cannot be used.
type intake struct {
	o        *Options
	roster   *Roster
	tell     *Commands
	progress *Progress
	replay   *Replay

	// taking is held while a report is taken in, or what was told is looked at as a whole;
	// Roster.mu may be taken meanwhile, and not the other way round.
	taking sync.Mutex
}

// pause does something while nothing is taken in.
func (in *intake) pause(do func()) {
	in.taking.Lock()
	defer in.taking.Unlock()
	do()
}

// figures takes a report. What was sent twice counts once.
func (in *intake) figures(m jetstream.Msg) {
	defer in.replay.passed(m)
	in.taking.Lock()
	defer in.taking.Unlock()
	r := in.roster
	r.mu.Lock()
	i, w := r.find(m.Subject())
	known, began := w != nil && w.counts(), r.at
	r.mu.Unlock()
	if !known {
		return
	}
	var report Report
	err := report.unpack(m.Data())
	if err == nil {
		err = report.check(began, in.tracks())
	}
	if err == nil {
		if report.N <= w.number { // only this goroutine writes it
			return
		}
		in.replay.heard(&report)
		err = in.o.Received(i, &report)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w.number = max(w.number, report.N)
	if err != nil {
		in.refuse(i, w, err)
		return
	}
	w.record(&report, r.at)
	in.progress.check()
}

// ended takes that a member is through with a track. The seconds that it tells of say so,
// too, but later.
func (in *intake) ended(m *nats.Msg) {
	var e ended
	r := in.roster
	r.mu.Lock()
	defer r.mu.Unlock()
	i, w := r.find(m.Subject)
	if w == nil || !w.counts() {
		return
	}
	err := decoded(m.Data, mostWord, &e)
	if err == nil && (e.Track < 0 || e.Track >= in.tracks() || e.At > workload.Elapsed(r.at)+mostApart) {
		err = errors.New("it ended a track that there is none of, or at a time that is to come")
	}
	if err != nil {
		in.refuse(i, w, err)
		return
	}
	w.through(e.Track, e.At)
	in.progress.check()
}

// refuse takes nothing more of a member that sent what cannot be used, waits for it no longer,
// and has it end. The caller holds Roster.mu.
func (in *intake) refuse(i int, w *member, why error) {
	w.err = workload.PlainText("what it sent cannot be used: "+why.Error(), mostText)
	w.standing.on(unusable)
	in.roster.say(i, Refused)
	in.tell.command(i, Command{Stop: w.err}, false)
	in.progress.check()
	in.roster.wake()
}

// tracks is how many tracks the run has, as far as is known.
func (in *intake) tracks() int {
	if in.o.Tracks > 0 {
		return in.o.Tracks
	}
	return mostTracks
}
