package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// appendix writes what the original lacks.
func appendix(w *page, src *source, d *deployment) {
	w.printf("## Appendix: what perfbench adds\n\n")
	about(w, src, d)
	inForce(w, src)
	stepsInFull(w, src.f)
	receivedInFull(w, src)
	contentInFull(w, src)
	processes(w, src)
	latency(w, src.f)
	backlog(w, src.f)
	integrity(w, src)
	readBack(w, src)
	searched(w, src.f)
	verdict(w, src)
}

// about describes the run, and what was given rather than measured.
func about(w *page, src *source, d *deployment) {
	w.printf("### Run\n\n")
	w.table([]string{"what", "value"},
		[]string{"run", src.run.ID}, []string{"target", src.run.Target}, []string{"started", src.run.Started.UTC().Format("2006-01-02 15:04:05") + " UTC"},
		[]string{"ended by", src.run.EndedBy}, []string{"generators and store stage (estore)", "perfbench " + src.env("perfbench") + ", " + src.env("go") + ", " + src.env("os") + "/" + src.env("arch")},
		[]string{"transport", cmp.Or(src.f.Transport, unknown)}, []string{"store", d.storeName()}, []string{"topology of the store", cmp.Or(src.run.Store.Topology, unknown)},
		[]string{"schema", cmp.Or(src.f.Schema, unknown)}, []string{"compression", cmp.Or(src.f.Compression, unknown)}, []string{"durability of a write", cmp.Or(src.f.Durability, unknown)})
	for _, n := range src.run.Notices {
		w.printf("> %s\n\n", n)
	}
	if src.f.Compat {
		w.printf("> compat=on: batches may be lost as in the original; what was is counted below.\n\n")
	}
	w.printf("### Remarks\n\n")
	for _, m := range src.given.Remarks {
		w.printf("* %s\n", m)
	}
	if src.hasGiven {
		w.printf("* Machines, images and arguments that perfbench cannot see are as given in %s; what it has seen itself goes before that.\n", rundir.FactsFile)
	} else {
		w.printf("* What perfbench cannot see of machines, images and arguments is n/a; a file of --facts can say it.\n")
	}
	w.printf("* The store stage runs within perfbench, beside the generators: CPU, RAM and heap of estore are of both. It is Go, whose collector\n  has no generations: its collections are in the column of the old one.\n")
	w.printf("* CPU of Cassandra is the load of its machine per core over a minute, RAM what is in use on that machine, Network what came in;\n  what the process itself used stands below.\n")
	w.printf("* Collections are counted a minute. Bytes are binary, events and Mbps decimal.\n")
	if src.run.Failed() {
		w.printf("* The verification failed, so rates are NaN.\n")
	}
	w.printf("\n")
}

// inForce lists every parameter and setting.
func inForce(w *page, src *source) {
	w.printf("### Values in force\n\n")
	var rows [][]string
	for _, k := range slices.Sorted(maps.Keys(src.f.Config)) {
		rows = append(rows, []string{k, src.f.Config[k], src.run.Origins[k]})
	}
	rows = append(rows, []string{"seed", fmt.Sprint(src.run.Seed), src.run.Origins["seed"]}, []string{"warm-up", fmt.Sprintf("%g s", src.run.WarmupS), src.run.Origins["warmup"]})
	for _, k := range slices.Sorted(maps.Keys(src.run.Settings)) {
		rows = append(rows, []string{k + " at the start", number("%g", src.run.Settings[k]), src.run.Origins[k]})
	}
	w.table([]string{"key", "value", "from"}, rows...)
}

// stepsInFull writes the steps including the drain.
func stepsInFull(w *page, f *Facts) {
	w.printf("### Steps\n\n")
	var rows [][]string
	for i := range f.Steps {
		s := &f.Steps[i]
		rate, offered, size, generators := number("%g", s.Rate), fmt.Sprint(s.Offered.Events), fmt.Sprint(s.Batch), fmt.Sprint(s.Generators)
		if s.Rate == 0 {
			rate = "closed loop"
		}
		if s.Name == DrainStep {
			rate, offered, size, generators = "none", "none", "none", "none"
		}
		rows = append(rows, []string{
			s.Name, size, number("%.3g", s.Seconds()/60), rate, cmp.Or(f.Config["tickRate"], unknown), generators, offered,
			fmt.Sprint(s.Sent.Events), fmt.Sprint(s.Confirmed.Events), fmt.Sprint(s.Stored.Events), fmt.Sprint(s.Acked.Events),
		})
	}
	w.stepTable([]string{
		"step", "maxBatchSize, events", "duration, min", "rate, events/s", "tickRate", "generators", "offered, events",
		"sent, events", "confirmed, events", "stored, events", "acknowledged, events",
	}, rows)
	w.printf("A batch counts as offered, sent and confirmed in the step that generated it, and as received, stored and acknowledged in the step\nin which that happened. The drain is what came after the generators had ended.\n\n")
}

func receivedInFull(w *page, src *source) {
	w.printf("### Events received by estore, with the drain\n\n")
	var rows [][]string
	for i := range src.f.Steps {
		s := &src.f.Steps[i]
		rows = append(rows, []string{
			s.Name, number("%.0f", ratio(s.Received.Events, s.Received.Batches)),
			number("%.0f", ratio(s.ReceivedBytes, s.Received.Batches)/1024), number("%.2f", ratio(s.ReceivedBytes, s.Received.Events)/1024),
			src.rate(three(receivedRate(src.f, s) / 1000)), mostEvents(s),
		})
	}
	w.table([]string{
		"step", "events in batch (avg), count", "batch size, serialized protobuf (avg), KiB", "event size, serialized protobuf (avg), KiB",
		"event rate (avg), K item/s", "events in batch (max), count",
	}, rows...)
}

// mostEvents returns the largest number of events in one batch, for a step that
// received any.
func mostEvents(s *Step) string {
	if s.Received.Batches == 0 {
		return unknown
	}
	return fmt.Sprint(s.MaxBatch)
}

func contentInFull(w *page, src *source) {
	w.printf("### Content, with the drain\n\n")
	var rows [][]string
	for i := range src.f.Steps {
		s := &src.f.Steps[i]
		raw, compressed := contentRates(src.f, s)
		rows = append(rows, []string{
			s.Name, src.rate(three(raw / (1 << 20))), src.rate(three(compressed / (1 << 20))), number("%.2f", ratio(s.RawBytes, s.CompressedBytes)),
			src.rate(three(float64(s.LinkBytes) / s.Seconds() / (1 << 20))), src.rate(three(float64(s.StoredBytes) / s.Seconds() / (1 << 20))),
			number("%.0f", ratio(s.StoredBytes, s.Stored.Events)), fmt.Sprint(s.Rows), fmt.Sprint(s.Statements),
		})
	}
	w.table([]string{
		"step", "raw rate (avg), MiB/s", "compressed rate (avg), MiB/s", "compression (avg), times",
		"attached ids (avg), MiB/s", "handed to the store (avg), MiB/s", "handed to the store, bytes/event", "rows", "statements",
	}, rows...)
	w.printf("Rates of content leave out the attached message ids, as the original's do; those have a column of their own.\n\n")
}

// latency writes the table that the original lacks.
func latency(w *page, f *Facts) {
	w.printf("### Latency\n\n")
	var rows [][]string
	for i := range f.Steps {
		s := &f.Steps[i]
		for _, l := range s.Latency {
			rows = append(rows, []string{s.Name, l.Stage, fmt.Sprint(l.Count), spell(l.Mean), spell(l.P50), spell(l.P95), spell(l.P99), spell(l.P999), spell(l.Max)})
		}
	}
	if rows == nil {
		w.printf("n/a: no batch came through.\n\n")
		return
	}
	w.table([]string{"step", "stage", "batches", "mean", "p50", "p95", "p99", "p99.9", "max"}, rows...)
	w.printf("Of batches. What begins with \"due\" counts from when the schedule wanted the batch, so that a generator that is held up\nhides nothing.\n\n")
}

func backlog(w *page, f *Facts) {
	w.printf("### Backlog\n\n")
	var rows [][]string
	for i := range f.Steps {
		s := &f.Steps[i]
		peak := func(of func(*SeriesPoint) int64) float64 {
			return Over(s, f.Values(func(p *SeriesPoint) float64 { return known(of(p)) })).Peak
		}
		rows = append(rows, []string{
			s.Name, number("%.0f", peak(func(p *SeriesPoint) int64 { return p.Ready })), number("%.0f", peak(func(p *SeriesPoint) int64 { return p.Unacked })),
			number("%.0f", peak(func(p *SeriesPoint) int64 { return p.BacklogEvents })), number("%.3g", peak(func(p *SeriesPoint) int64 { return p.LagNs })/1e9),
			number("%+.0f", backlogSlope(f, s)), number("%.0f", peak(func(p *SeriesPoint) int64 { return p.Tasks })), spell(s.BlockedNs),
		})
	}
	w.table([]string{
		"step", "ready (max), batches", "unacknowledged (max), batches", "backlog (max), events", "lag (max), s",
		"growth of the backlog, events/s", "tasks in the store stage (max)", "waited for room under the limits, all threads",
	}, rows...)
	if d := f.Drain; d != nil {
		w.printf("After the generators had ended, %d events were on their way; %s later %d were.\n\n", d.Backlog, spell(d.ToNs-d.FromNs), d.Left)
	}
	l := f.Limits
	w.printf("Limits of the store stage: %d batches (at most %d were in it), %s of content (at most %s).\n\n",
		l.MaxTasks, l.PeakTasks, memory(float64(l.MaxTaskBytes)), memory(float64(l.PeakBytes)))
	var blocked []string
	for i := range f.Series {
		if b := f.Series[i].Blocked; b != "" && !slices.Contains(blocked, b) {
			blocked = append(blocked, b)
		}
	}
	for _, b := range blocked {
		w.printf("The transport did not take anything for a while: %s.\n\n", b)
	}
	w.show("backlog", "queue", "lag", "tasks")
}

func integrity(w *page, src *source) {
	l := &src.f.Ledger
	w.printf("### Integrity\n\n")
	counts := func(v int64) string {
		if !l.Read {
			return "n/a"
		}
		return fmt.Sprint(v)
	}
	var refused int64
	for i := range src.f.Steps {
		refused += src.f.Steps[i].DeadLettered
	}
	w.table([]string{
		"generated", "sent", "confirmed", "acknowledged", "stored exactly once", "missing", "duplicated", "out of order", "rejected",
		"unexpected", "corrupt", "sent, not confirmed, not there",
	}, []string{
		fmt.Sprint(l.Generated), fmt.Sprint(l.Sent), fmt.Sprint(l.Confirmed), fmt.Sprint(l.Acked), counts(l.Once), counts(l.Missing), counts(l.Duplicated),
		counts(l.OutOfOrder), fmt.Sprint(refused), counts(l.Unexpected), counts(l.Corrupt), counts(l.Unconfirmed),
	})
	if l.Read {
		w.printf("Events, warm-up included; everything was read back, in %s. ", spell(l.ReadNs))
	} else {
		w.printf("n/a: nothing was read back. ")
	}
	w.printf("Verification: %s", src.run.Verification.State)
	if src.run.Verification.Summary != "" {
		w.printf(" (%s)", src.run.Verification.Summary)
	}
	w.printf(".\n\n")
	for _, kind := range slices.Sorted(maps.Keys(l.Examples)) {
		w.printf("* %s: %s\n", kind, strings.Join(l.Examples[kind], ", "))
	}
	if len(l.Examples) > 0 {
		w.printf("\n")
	}
	if n := len(src.f.Crashes); n > 0 {
		var at []string
		for _, c := range src.f.Crashes {
			at = append(at, spell(c))
		}
		w.printf("The store stage was ended without notice %d times, at %s.\n\n", n, strings.Join(at, ", "))
	}
	if src.f.Compat {
		x := src.f.Losses
		w.table([]string{
			"lost with compat=on:", "root rejected (Q1)", "remainder (Q4)", "late ticks (Q5)", "unconfirmed (Q6)", "rejected (Q9)", "retries exhausted (Q10)", "oversized (Q11)", "stored again (Q8)",
		}, []string{
			"events", fmt.Sprint(x.RootRejected), fmt.Sprint(x.Remainder), fmt.Sprint(x.LateTicks), fmt.Sprint(x.Unconfirmed), fmt.Sprint(x.Rejected), fmt.Sprint(x.Exhausted),
			fmt.Sprint(x.Oversized), fmt.Sprint(x.Duplicates),
		})
	}
	failures(w, src)
}

func failures(w *page, src *source) {
	w.printf("### Errors and retries\n\n")
	var rows [][]string
	for i := range src.f.Steps {
		s := &src.f.Steps[i]
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Retries), count(s.DeadBatches), fmt.Sprint(s.DeadLettered), count(s.Failed)})
	}
	w.table([]string{"step", "retries", "dead letters, batches", "dead letters, events", "stored events with status FAILED"}, rows...)
	rows = nil
	for _, e := range src.f.Errors {
		rows = append(rows, []string{e.Text, fmt.Sprint(e.Count)})
	}
	for _, e := range src.run.Errors {
		rows = append(rows, []string{e.Track + "." + e.Op + ": " + e.Class + ": " + strings.Join(e.Messages, "; "), fmt.Sprint(e.Count)})
	}
	if rows == nil {
		w.printf("No errors.\n\n")
		return
	}
	w.table([]string{"error", "times"}, rows...)
}

// readBack writes the queries, whose operations are named after their kind.
func readBack(w *page, src *source) {
	w.printf("### Read-back\n\n")
	var rows [][]string
	for _, o := range src.run.Operations {
		if !slices.Contains(QueryOps, o.Op) || o.Calls+o.Errors == 0 {
			continue
		}
		perSecond := math.NaN()
		if o.ActiveS > 0 {
			perSecond = float64(o.Count) / o.ActiveS
		}
		rows = append(rows, []string{
			o.Track, o.Op, fmt.Sprint(o.Calls), fmt.Sprint(o.Errors), fmt.Sprint(o.Count), src.rate(three(perSecond)),
			spell(int64(o.Response.Mean)), spell(o.Response.P50), spell(o.Response.P95), spell(o.Response.P99), spell(o.Response.P999), spell(o.Response.Max),
		})
	}
	if rows == nil {
		w.printf("n/a: there were no queries (query=%s).\n\n", src.f.Config["query"])
		return
	}
	w.table([]string{"when", "query by", "queries", "errors", "found", "found/s", "mean", "p50", "p95", "p99", "p99.9", "max"}, rows...)
}

func searched(w *page, f *Facts) {
	found := f.Search
	if found == nil {
		return
	}
	w.printf("### Sustainable rate\n\n")
	if found.Rate > 0 {
		w.printf("The highest rate that held is **%s events/s**.\n\n", number("%.0f", found.Rate))
	} else {
		w.printf("No rate that was tried held.\n\n")
	}
	var rows [][]string
	for i, t := range found.Trials {
		held := "no"
		if t.Held {
			held = "yes"
		}
		rows = append(rows, []string{
			fmt.Sprint(i + 1), number("%.0f", t.Rate), spell(t.ToNs - t.FromNs), number("%.0f", t.Stored), number("%+.0f", t.Slope), held, t.Why,
		})
	}
	w.table([]string{"trial", "rate, events/s", "for", "stored, events/s", "growth of the backlog, events/s", "held", "why"}, rows...)
}

func verdict(w *page, src *source) {
	w.printf("### Verdict\n\n")
	var rows [][]string
	for _, s := range src.steps {
		yes, why := sustained(src.f, s)
		rows = append(rows, []string{s.Name, yes, why, binds(src, s)})
	}
	w.table([]string{"step", "sustained", "why", "what binds"}, rows...)
	w.printf("A step is sustained when at least %g %% of what was offered was stored within it and the backlog grew by less than %g %% of the rate.\n", SustainedPart*100, SustainedSlope*100)
}
