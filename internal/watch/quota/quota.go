// Package quota reads how much processor time a control group may use, and how often
// it was held back.
package quota

import "time"

// Quota is the CPU quota of a control group and what came of it. Only Linux has any.
type Quota struct {
	// Cores is the quota in processors.
	Cores float64
	// Periods are all of them, Held those in which the group was held back, HeldFor for
	// how long in all.
	Periods, Held int64
	HeldFor       time.Duration
	// Known says whether there is one.
	Known bool
}
