package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// said is the state of a finding, and what is said of it.
func said(f finding) (state, text string) { return f.state, f.what + f.cure }

func TestWorkersThatWereLostOrLateAreNamed(t *testing.T) {
	known, lost := 3.0, 5.25
	fine := Record{Workers: []Worker{{Number: 1, Host: "a", SkewMS: 9.9}, {Number: 2, Host: "b", SkewMS: -10, ChangeMS: 250}}}
	for _, look := range []func(*Record) finding{workers, skew} {
		assert.Empty(t, look(&fine).state)
	}
	bad := Record{Workers: []Worker{
		{Number: 1, Host: "a", SkewMS: -12}, {Number: 2, Host: "b", Known: &known, Lost: &lost, Dealt: &lost}, {Number: 3, Host: "c", Stalls: 1, Doubts: []string{"too hot", "too old"}},
		{Number: 4, Host: "d", Known: &known}, {Number: 5, Host: "e", ChangeMS: 900}, {Number: 6, Host: "f", Stalls: 1, GivenUp: true},
		{Number: 7, Host: "g", Known: &known, Lost: &lost, Dealt: &lost, Heir: 8, Dismissed: true},
	}}
	state, text := said(workers(&bad))
	assert.Equal(t, Degraded, state)
	assert.Equal(t, "worker 2 (b) was lost: what it did from 3 s on is not in the figures, and it was missed at 5.2 s; its threads and its rate were dealt to the others at 5.2 s; worker 3 (c) was silent for a while; worker 3 (c): too hot, and too old; worker 4 (d) did not finish: what it did from 3 s on is not in the figures; a live change took 900 ms to reach worker 5 (e); worker 6 (f) was silent for so long that the others went on without it; worker 7 (g) was lost: what it did from 3 s on is not in the figures, and it was missed at 5.2 s; what of its part is not in the figures was done, or done again, by worker 8 from 5.2 s on; it came back, and was told to end", text)
	bad.Undone = "nobody did it"
	_, more := said(workers(&bad))
	assert.Equal(t, text+"; nobody did it", more)
	broken := Record{Workers: []Worker{{Number: 1, Host: "a", Stalls: 1}, {Number: 2, Host: "b", Known: &known, Unusable: "what it sent cannot be used: it is no report"}}}
	state, text = said(workers(&broken))
	assert.Equal(t, Invalid, state)
	assert.Equal(t, "worker 1 (a) was silent for a while; worker 2 (b): what it sent cannot be used: it is no report; what it did is not known", text)
	state, text = said(skew(&bad))
	assert.Equal(t, Degraded, state)
	assert.Contains(t, text, "worker 1 began 12 ms early")
}

// What is said of several workers in the same words is said once.
func TestOneReasonOfManyWorkersIsOneSentence(t *testing.T) {
	known, lost := 3.0, 5.0
	r := Record{}
	for n := range 30 {
		r.Workers = append(r.Workers, Worker{Number: n + 1, Host: "h", Doubts: []string{"too hot"}, Known: &known, Lost: &lost})
	}
	r.Workers[4].Known, r.Workers[4].Doubts = nil, []string{"too old"}
	_, text := said(workers(&r))
	assert.Equal(t, "each of workers 1 to 4 and 6 to 30 was lost: what it did from 3 s on is not in the figures, and it was missed at 5.0 s; workers 1 to 4 and 6 to 30: too hot; worker 5 (h): too old", text)
}

// Figures that differ make no new reason, and what a cause shows itself in stands with the worker.
func TestOneCauseOfManyWorkersIsOneSentence(t *testing.T) {
	r := Record{Workers: []Worker{
		{Number: 1, Host: "h", Doubts: []string{"one timer in ten fired 52.5 ms late or more; leave the machine to perfbench" + showsIn + "p90 of get is 43.1 ms"}},
		{Number: 2, Host: "h", Doubts: []string{"one timer in ten fired 11 ms late or more; leave the machine to perfbench"}},
		{Number: 3, Host: "h", Doubts: []string{"too hot"}},
	}}
	_, text := said(workers(&r))
	assert.Equal(t, "workers 1 and 2: one timer in ten fired 52.5 ms late or more; leave the machine to perfbench (the figures are those of worker 1); worker 3 (h): too hot", text)
}
