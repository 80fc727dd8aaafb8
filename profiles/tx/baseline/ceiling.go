package baseline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
)

// Ceiling says how fast the transaction could be, what limits it, and how close the run
// came.
type Ceiling struct {
	// Achieved is the transactions per second that the run achieved.
	Achieved float64 `json:"achieved_per_s"`
	// Bounds are the limits that could be computed.
	Bounds []Bound `json:"bounds"`
	// Binds names the lowest bound, Limit is its rate, and Fraction how much of it was
	// achieved; Low and High are the range of Fraction given the spread of the rows.
	// All are empty or 0 if there are reasons in Refused.
	Binds    string  `json:"binds,omitempty"`
	Limit    float64 `json:"limit_per_s"`
	Fraction float64 `json:"fraction"`
	Low      float64 `json:"fraction_low"`
	High     float64 `json:"fraction_high"`
	// Refused says why no fraction is given.
	Refused []string `json:"refused,omitempty"`
	// Words states it in sentences.
	Words []string `json:"words"`
}

// Bound is one limit.
type Bound struct {
	Name string `json:"name"`
	// PerSecond is in transactions per second.
	PerSecond float64 `json:"per_s"`
	// From says how it was computed.
	From string `json:"from"`
	// Reference means that the bound is shown for comparison and does not bind, because
	// it is about calls unlike those of the transaction.
	Reference bool `json:"reference,omitempty"`
}

// Names of bounds.
const (
	boundSerial = "the store, one call after the other"
	boundServer = "CPU of the store's process"
	boundCommit = "commits of the database"
	boundClient = "CPU of perfbench"
	boundShared = "CPU of the machine that both share"
	boundLittle = "transactions in flight"
)

// ceiling computes the bounds from the rows of a finished run; nil if rows that it
// needs have not been run. used is what the store reported at the end; commits means
// that each of its calls is a transaction that it commits.
func ceiling(f *Facts, branches int, used store.Usage, commits bool) *Ceiling {
	rows := map[string]RowFacts{}
	for _, r := range f.Rows {
		rows[r.Row] = r
	}
	tx := rows[rowSaga]
	c := &Ceiling{Achieved: tx.PerSecond}
	if tx.PerSecond == 0 || rows[rowSave].PerSecond == 0 || rows[rowBranch].PerSecond == 0 || rows[rowFinish].PerSecond == 0 {
		return nil
	}
	n := float64(branches)
	weights := map[string]float64{rowSave: 1, rowBranch: n, rowFinish: 1}
	var serial float64
	for row, times := range weights {
		serial += times / rows[row].PerSecond
	}
	c.add(boundSerial, 1/serial, fmt.Sprintf("1 / (1/%.0f + %g/%.0f + 1/%.0f): rates of the three calls alone, by the same %d clients",
		rows[rowSave].PerSecond, n, rows[rowBranch].PerSecond, rows[rowFinish].PerSecond, rows[rowSave].Clients))
	cores := float64(f.Cores)
	if tx.ServerUS > 0 {
		threads := max(used.Cores, 1)
		c.add(boundServer, threads*1e6/tx.ServerUS, fmt.Sprintf("%g %s the work / %.1f µs a transaction", threads, units.Choose(threads, "thread that does", "threads that do"), tx.ServerUS))
	}
	if commits && rows["eval-args"].PerSecond > 0 && rows["eval-args"].Errors == 0 {
		c.add(boundCommit, rows["eval-args"].PerSecond/(n+2), fmt.Sprintf("%.0f durable commits a second (row eval-args) / %g of a transaction", rows["eval-args"].PerSecond, n+2))
	}
	if tx.ClientUS > 0 {
		c.add(boundClient, cores*1e6/tx.ClientUS, fmt.Sprintf("%g cores / %.1f µs a transaction", cores, tx.ClientUS))
	}
	if used.Here && tx.ServerUS > 0 && tx.ClientUS > 0 {
		c.add(boundShared, cores*1e6/(tx.ServerUS+tx.ClientUS), fmt.Sprintf("%g cores / (%.1f + %.1f µs): the store runs on this machine", cores, tx.ServerUS, tx.ClientUS))
	}
	if one := rows[rowUnloaded]; one.PerSecond > 0 && tx.Clients > 0 {
		c.add(boundLittle, float64(tx.Clients)*one.PerSecond, fmt.Sprintf("%d in flight / %.3f ms unloaded", tx.Clients, 1000/one.PerSecond))
	}
	reference := []string{"eval-loop10", "eval-args"}
	if commits {
		reference = nil // in this store these are transactions, not scripts
	}
	for _, row := range reference {
		if r := rows[row]; r.PerSecond > 0 && r.Errors == 0 {
			c.Bounds = append(c.Bounds, Bound{"the original's way, from row " + row, r.PerSecond / (n + 2), fmt.Sprintf("%.0f / %g calls", r.PerSecond, n+2), true})
		}
	}
	c.judge(rows, weights)
	c.say(tx)
	return c
}

func (c *Ceiling) add(name string, rate float64, from string) {
	c.Bounds = append(c.Bounds, Bound{name, rate, from, false})
}

// mostCV is the spread above which a rate is meaningless.
const mostCV = 0.1

// judge finds the bound that binds, and whether the fraction may be given.
func (c *Ceiling) judge(rows map[string]RowFacts, weights map[string]float64) {
	c.Limit = math.Inf(1)
	for _, b := range c.Bounds {
		if !b.Reference && b.PerSecond < c.Limit {
			c.Limit, c.Binds = b.PerSecond, b.Name
		}
	}
	var variance float64
	for row, times := range weights {
		r := rows[row]
		if r.Errors > 0 {
			c.Refused = append(c.Refused, fmt.Sprintf("row %s had %d errors", row, r.Errors))
		}
		switch {
		case r.CV < 0:
			c.Refused = append(c.Refused, fmt.Sprintf("row %s was too short to tell its spread", row))
		case r.CV > mostCV:
			c.Refused = append(c.Refused, fmt.Sprintf("row %s varied by %.0f %%", row, 100*r.CV))
		}
		if r.Clients != rows[rowSaga].Clients {
			c.Refused = append(c.Refused, fmt.Sprintf("row %s had %d clients and the transactions %d", row, r.Clients, rows[rowSaga].Clients))
		}
		w := times / r.PerSecond * c.Limit
		variance += w * max(r.CV, 0) * w * max(r.CV, 0)
	}
	if rows[rowSaga].Errors > 0 {
		c.Refused = append(c.Refused, fmt.Sprintf("%d transactions failed", rows[rowSaga].Errors))
	}
	if len(c.Refused) > 0 {
		return
	}
	c.Fraction = c.Achieved / c.Limit
	d := math.Sqrt(variance)
	c.Low, c.High = c.Fraction*(1-d), c.Fraction*(1+d)
}

// say puts the result into words.
func (c *Ceiling) say(tx RowFacts) {
	add := func(format string, args ...any) { c.Words = append(c.Words, fmt.Sprintf(format, args...)) }
	add("The transactions reached %.0f a second; the lowest limit is %.0f, by: %s.", c.Achieved, c.Limit, c.Binds)
	if len(c.Refused) > 0 {
		add("The fraction cannot be worked out:")
		for _, r := range c.Refused {
			add("- %s.", r)
		}
	} else {
		switch {
		case c.Fraction > 1.05:
			add("That is %.2f of it (%.2f to %.2f): more than the limit, so the model or a measurement is wrong.", c.Fraction, c.Low, c.High)
		case c.Fraction >= 0.9:
			add("That is %.2f of it (%.2f to %.2f): at the ceiling.", c.Fraction, c.Low, c.High)
		case c.Fraction >= 0.6:
			add("That is %.2f of it (%.2f to %.2f): close; look at the second lowest limit too.", c.Fraction, c.Low, c.High)
		default:
			add("That is %.2f of it (%.2f to %.2f): what binds has not been found; profile client and store.", c.Fraction, c.Low, c.High)
		}
	}
	if tx.ClientUS > 0 && tx.ServerUS > 0 {
		add("A transaction takes %.1f µs of CPU from perfbench and %.1f µs from the store; they kept %.2f and %.2f cores busy.", tx.ClientUS, tx.ServerUS, tx.ClientBusy, tx.ServerBusy)
	} else if tx.ClientUS > 0 {
		add("A transaction takes %.1f µs of CPU from perfbench, the store included where it runs in the same process; the store does not report its own.", tx.ClientUS)
	}
}

// clientCost says what the client costs in addition to the store, over the rows of the
// suite; empty if that is unknown.
func clientCost(rows []RowFacts) string {
	span := func(v []float64) string {
		low, high := slices.Min(v), slices.Max(v)
		if fmt.Sprintf("%.2f", low) == fmt.Sprintf("%.2f", high) {
			return fmt.Sprintf("%.2f µs", low)
		}
		return fmt.Sprintf("%.2f to %.2f µs", low, high)
	}
	var parts []string
	for _, together := range []bool{false, true} {
		var client, server []float64
		depth := 1
		for _, r := range rows {
			named := slices.ContainsFunc(Suite, func(p Primitive) bool { return p.Name == r.Row })
			if !named || together != (r.Depth > 1) || r.Calls == 0 || r.ClientUS < 0 {
				continue
			}
			client, depth = append(client, r.ClientUS), r.Depth
			if r.ServerUS >= 0 {
				server = append(server, r.ServerUS)
			}
		}
		if len(client) == 0 {
			continue
		}
		text := "a call " + span(client)
		if together {
			text = fmt.Sprintf("each of %d sent together %s", depth, span(client))
		}
		if len(server) > 0 {
			text += " (the store " + span(server) + ")"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return "What the client costs, in CPU of perfbench: " + strings.Join(parts, ", ") + ".\n\n"
}
