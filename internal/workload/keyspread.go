package workload

// KeySpread is how calls are spread over records: which part of them the records get that are called
// most.
type KeySpread struct {
	// Name says whose records they are: "product".
	Name string
	// Of returns, under some settings, what the distribution is called, and the shares of the calls
	// that go to each of n equal parts of the records, in the order of the records or, where that
	// means nothing, of how often they are called. Any goroutine may call it.
	Of func(s Settings, n int) (distribution string, shares []float64)
}
