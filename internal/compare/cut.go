package compare

import (
	"fmt"
	"math"

	"github.com/perfbench/perfbench/internal/units"
)

// The seconds of a run resemble each other. stat.Successive gives their mean the error of an equivalent number
// of independent values, and tests it by Student's distribution with as many degrees of freedom. That number is
// itself hardly known where it is small, and the test then far too wide or too narrow (Zwiers and von Storch 1995,
// "Taking serial correlation into account in tests of the mean", who trust it from 30 on): with one degree of
// freedom a range is 13 errors wide. The verdicts stay with that test, which errs on the side of unsure. What is
// shown, though, is cut to the range of the batches, beyond which there is nothing that the run did.

// cut narrows the range of a change between two single runs, if the seconds of one are much alike, to what the ranges
// of the sides allow. The end near no change stays that of the test, and so does the verdict. Where the sides do not
// touch and the test is unsure all the same, nothing tells what chance did.
func (f *Finding) cut(a, b Estimate) {
	if !(a.Least > 0) && !(b.Least > 0) {
		return
	}
	lo, hi := f.B.Lo/f.A.Hi-1, f.B.Hi/f.A.Lo-1
	if f.Verdict == Unsure && (lo > 0 || hi < 0) {
		f.blur, f.Lo, f.Hi = blurred(a, b), math.Inf(-1), math.Inf(1)
		return
	}
	if lo <= 0 {
		f.Lo = max(f.Lo, min(lo, f.Change))
	}
	if hi >= 0 {
		f.Hi = min(f.Hi, max(hi, f.Change))
	}
}

// blurred says why the seconds of two single runs do not tell what chance did.
func blurred(a, b Estimate) string {
	const close = "seconds so close to the one before that they say little of the scatter"
	few := a.Least > 0 && a.Few || b.Least > 0 && b.Few
	alike := a.Least > 0 && !a.Few || b.Least > 0 && !b.Few
	switch {
	case few && alike:
		return "too few seconds on one side, and on the other " + close
	case few:
		return "so few seconds may drift this far apart by chance"
	}
	return close
}

// alongWith judges a percentile of two single runs that is unsure as two others are, if these have changed for
// certain in its direction, it has changed by leastFactor, and the ranges of both sides do not touch. A comparison in which
// it does so has two changes already, so this adds no false alarm to one that has none.
func alongWith(fs []Finding) {
	var ups, downs int
	for _, f := range fs {
		if f.Figure.percentile() && f.changed() {
			if f.Change > 0 {
				ups++
			} else {
				downs++
			}
		}
	}
	for i := range fs {
		f := &fs[i]
		if !f.single || !f.alone || f.Verdict != Unsure || !f.Figure.percentile() {
			continue
		}
		switch {
		case ups >= 2 && f.B.Lo > f.A.Hi && f.Change+1 >= leastFactor:
			f.Verdict = Worse
		case downs >= 2 && f.A.Lo > f.B.Hi && f.Change+1 <= 1/leastFactor:
			f.Verdict = Better
		default:
			continue
		}
		f.Along, f.Power = true, nil
		f.Lo, f.Hi = f.B.Lo/f.A.Hi-1, f.B.Hi/f.A.Lo-1
	}
}

// along says which percentiles are judged as others are; "" if none.
func along(c *Comparison) string {
	names := c.figuresOf(func(f *Finding) bool { return f.Along })
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("Taken alone, %s would be unsure. As two other percentiles of the same calls have changed for certain, and the ranges of A and B do not touch, the verdict is theirs.", units.Listed(names))
}
