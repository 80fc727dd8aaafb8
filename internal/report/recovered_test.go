package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/report"
)

// What a search for recovery found is said in words, and each base load is a row.
func TestRecoveryInWords(t *testing.T) {
	took := 2.0
	r := find.Result{
		Over: find.OverRate, Unit: "entries", Under: []string{find.Recovers}, Found: 300, TooMuch: 315, Complete: true, Seconds: 61, Threads: 64,
		Recovery: &find.RecoverySought{PulseS: 1, WithinS: 30, DeadlineS: 0.05},
		Limit:    find.Limit{By: find.ByStore, Text: "the store"},
		Steps: []find.Step{
			{Level: 300, Held: true, Recovered: &find.Recovered{Pulse: 2000, Before: 1, After: 0.9, Good: 270, Took: &took, Attempts: 1.2}},
			{Level: 315, Why: "it had not recovered", Recovered: &find.Recovered{Pulse: 2000, Before: 1, Attempts: 3}},
		},
	}
	text := report.FoundText(&r)
	for _, want := range []string{
		"The store comes back by itself from up to 300 entries/s, after 1 s at 2k entries/s; from 315 it does not within 30 s\n",
		"300: answers in time again after 2 s · in time: 50 ms after they were due\n",
		"limit: the store\n",
		"holds                                  300", " 90.0 %", "2 s       1.2", "too much · it had not recovered        315",
	} {
		assert.Contains(t, text, want)
	}
	r.TooMuch = 0
	assert.True(t, strings.HasPrefix(report.FoundText(&r), "The store comes back by itself from 300 entries/s, the highest base load tried, after 1 s at 2k entries/s\n"))
	r.Found, r.TooMuch = 0, 315
	assert.True(t, strings.HasPrefix(report.FoundText(&r), "The store comes back by itself from no base load that was tried, after 1 s at 2k entries/s: 315 entries/s is already too much\n"))
	r.TooMuch, r.Complete, r.Why = 0, false, "its time was up"
	assert.True(t, strings.HasPrefix(report.FoundText(&r), "No rate was tried to its end: its time was up\n"))
}
