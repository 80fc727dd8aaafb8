package replay

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
)

// moments says when calls were made, in mean gaps from the first on; as long as the mean gap
// is not known, in seconds. It belongs to one goroutine. What the recording does not say is
// drawn, always in the same way: calls of which the second is known come independently within
// it, and those of which only the order is known come independently.
type moments struct {
	r     *Recording
	draw  *rand.Rand
	first float64 // of the first, in seconds
	begun bool
	last  float64

	second int
	left   int64   // calls of the second
	at     float64 // how much of it has passed
}

func newMoments(r *Recording) *moments {
	return &moments{r: r, draw: rand.New(rand.NewPCG(1, 2)), second: -1}
}

// of returns the moment of the next call.
func (m *moments) of(at time.Duration) float64 {
	x := at.Seconds()
	switch m.r.Header.Timing {
	case capture.Unknown:
		x = m.last + m.draw.ExpFloat64()
	case capture.Seconds:
		x = m.within(int(at / time.Second))
	}
	x = max(x, m.last) // logs of several threads may be out of order
	m.last = x
	if !m.begun {
		m.begun, m.first = true, x
	}
	if m.r.Length == 0 {
		return x // it is just being found out
	}
	return (x - m.first) * m.r.perSecond
}

// within draws when the next call of a second was made: each of those that are left is equally
// likely at any moment of what is left of it.
func (m *moments) within(second int) float64 {
	if second != m.second {
		m.second, m.left, m.at = second, m.r.seconds[second], 0
	}
	if m.left > 0 {
		m.at += (1 - m.at) * (1 - math.Pow(1-m.draw.Float64(), 1/float64(m.left)))
		m.left--
	}
	return float64(second) + m.at
}
