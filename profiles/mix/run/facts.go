package run

import "github.com/perfbench/perfbench/internal/histories"

// Facts is the profile's record in run.json. See docs/mix.md.
type Facts struct {
	Schema int `json:"schema"`
	// Workload is the name of a built-in one; absent for the user's own.
	Workload string `json:"workload,omitempty"`
	// Hits and Misses count the records that gets have found and have not; HitRatio is the
	// share of the hits, absent before there were any gets. Early counts those that were not
	// there because their insert was still under way.
	Hits     int64    `json:"hits"`
	Misses   int64    `json:"misses"`
	Early    int64    `json:"early,omitempty"`
	HitRatio *float64 `json:"hit_ratio,omitempty"`
	// BytesRead are those of the values in records, scans and ranges that were found, BytesWritten
	// those of the values in writes that were acknowledged, both without what was loaded before.
	BytesRead    int64 `json:"bytes_read"`
	BytesWritten int64 `json:"bytes_written"`
	// TriedAgain counts transactions that the store took back because of others.
	TriedAgain int64 `json:"transactions_tried_again,omitempty"`
	// Wrong, Lost and Stale count values that were not what was written, acknowledged
	// records that were not there, and reads of what had been overwritten.
	Wrong int64 `json:"wrong"`
	Lost  int64 `json:"lost"`
	Stale int64 `json:"stale"`
	// ReadBack counts the records that were read back at the end.
	ReadBack int64 `json:"read_back"`
	// Linearizable is what became of --check linearizable; absent without, and until the end.
	Linearizable *histories.Outcome `json:"linearizable,omitempty"`
	// Data are the data sets.
	Data []Data `json:"data"`
}

// Data is one data set: how many records the workload has, how many of them are known to be
// there, up to how many numbers were given out to inserts, and how large its values are: each a number
// of bytes or what the workload says. Several mean that the payload was changed.
type Data struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Records  int64    `json:"records"`
	Loaded   int64    `json:"loaded"`
	Inserted int64    `json:"inserted,omitempty"`
	Sizes    []string `json:"sizes,omitempty"`
}
