package experiment

import "math/rand/v2"

// Rounds returns the turns of that many rounds. In each of them each of n members takes one,
// in an order that is shuffled for each round. The same seed gives the same order.
func Rounds(rounds, n int, seed int64) (out []Turn) {
	rnd := rand.New(rand.NewPCG(uint64(seed), 0))
	for round := range rounds {
		for _, member := range rnd.Perm(n) {
			out = append(out, Turn{Round: round, Member: member})
		}
	}
	return out
}
