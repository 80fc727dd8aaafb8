package watch

import "time"

// Quota is the CPU quota of a control group and its effects. It exists only on Linux.
type Quota struct {
	// Cores is the quota in processors.
	Cores float64
	// Periods is the number of all periods, Held of those in which the group was held
	// back, HeldFor for how long in total.
	Periods, Held int64
	HeldFor       time.Duration
	// Known reports whether there is a quota.
	Known bool
}
