package measure

// Sample is one finished operation. Times are nanoseconds since measurement
// began, negative in warm-up.
type Sample struct {
	// Due is when it should have begun; equals Start in closed loop.
	Due, Start, End int64
	// Late is how much of the wait, Start − Due, is our own lateness: a worker was
	// free when the operation fell due and woke late, or was still behind for having
	// woken late before. The rest of the wait is backlog: all workers were busy.
	Late int64
	// Units is how many units of the profile it covered.
	Units int32
	// Op is the index of the operation in the run's list.
	Op uint16
	// Segment is the segment in which it started.
	Segment uint16
	// Worker is the number of the worker within its track.
	Worker uint16
	// Class is the class of its error; 0: it worked.
	Class uint8
	// Warm says that its iteration began in warm-up, to which it belongs.
	Warm bool
}
