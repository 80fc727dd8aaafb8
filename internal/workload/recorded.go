package workload

// Recorded is when the calls of a recording were made that a track makes again. Each worker has
// calls of its own, which it makes in the order of the recording. Moments count from the
// beginning of the recording in mean gaps between two of its calls: at the rate of the
// recording, the track takes as long as the recording did.
type Recorded interface {
	// Next returns when the next call of a worker was made, which stays the same until the
	// worker has made it. If it is not known yet, it waits until it is, but not after stale is closed:
	// then known is false. more is false if the worker has no more calls. Only the worker calls
	// it.
	Next(worker int, stale <-chan struct{}) (moment float64, more, known bool)
	// Reached is up to which moment the recording has been made again: when the earliest of the calls
	// was made that are next. Any goroutine may call it and those that follow.
	Reached() float64
	// Count is how many calls were made up to a moment; within a few dozen, where that is in
	// the middle of the recording.
	Count(moment float64) int64
	// Made is how many calls have been begun again.
	Made() int64
}
