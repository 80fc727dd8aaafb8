package rounds

import "math/rand/v2"

// Order returns that many rounds, in each of which each of n takes a turn, in an order
// that is shuffled for each round. The same seed gives the same order.
func Order(rounds, n int, seed int64) []int {
	rnd := rand.New(rand.NewPCG(uint64(seed), 0))
	var out []int
	for range rounds {
		out = append(out, rnd.Perm(n)...)
	}
	return out
}
