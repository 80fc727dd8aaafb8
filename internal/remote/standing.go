package remote

// standing is whether a member is heard of:
//
//	           heard      quiet     vanished   outwaited   finished   unusable
//	Working    .          Stalled   Gone       .           Ended      Refused
//	Stalled    Working    .         Gone       lost        Ended      Refused
//	Gone       Working    Stalled   .          lost        Ended      Refused
//	Ended      .          .         .          .           .          Refused
//	Refused    .          .         .          .           .          .
//
// A lost one is not waited for any longer. It stays lost until it is heard, also where it turns
// out that it had finished, or that what it sent cannot be used; and while it is, it is not
// looked for.
type standing struct {
	now  State // one of the five
	lost bool
}

// event is what changes how a member stands.
type event int

// Events.
const (
	heard     event = iota // its beat came
	quiet                  // none came for a while, and it is connected
	vanished               // none came for a while, and it is not connected
	outwaited              // it has been silent for longer than anybody waits
	finished               // its last report came
	unusable               // what it sent cannot be used
)

// standings are what follows on each event; on one that is not there, nothing does.
var standings = map[State]map[event]State{
	Working: {quiet: Stalled, vanished: Gone, finished: Ended, unusable: Refused},
	Stalled: {heard: Working, vanished: Gone, outwaited: Stalled, finished: Ended, unusable: Refused},
	Gone:    {heard: Working, quiet: Stalled, outwaited: Gone, finished: Ended, unusable: Refused},
	Ended:   {unusable: Refused},
	Refused: {},
}

// on takes an event, and says whether that changed anything.
func (s *standing) on(e event) bool {
	next, known := standings[s.now][e]
	if !known || s.lost && (e == quiet || e == vanished || e == outwaited) {
		return false
	}
	was := *s
	s.now = next
	s.lost = e == outwaited || s.lost && e != heard
	return *s != was
}

// ended says that nothing more comes of it.
func (s standing) ended() bool { return s.now == Ended || s.now == Refused }

// done says that it is not waited for.
func (s standing) done() bool { return s.lost || s.ended() }

// shown is how reports show it.
func (s standing) shown() State {
	if s.now == Refused {
		return Ended
	}
	return s.now
}

// duty is what a member has to do:
//
//	duty        begun by                                  then
//	working     its place in the run, or as an heir       staying, passed
//	staying     it is through, and others are not         released
//	released    all are through: it was let go            -
//	passed      it was given up: an heir has its part     dismissed
//	dismissed   it was back, and told to end              -
type duty int

// Duties.
const (
	working duty = iota
	staying
	released
	passed
	dismissed
)

// idle takes that it is through with its part, and stays for those of others.
func (d *duty) idle() {
	if *d == working {
		*d = staying
	}
}

// through says that it has nothing left to do.
func (d duty) through() bool { return d == staying || d == released }

// passedOn says that another does its part.
func (d duty) passedOn() bool { return d == passed || d == dismissed }
