package pbm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
	"github.com/perfbench/perfbench/profiles/tx/common"
)

// designer reads what is specific to pbm. It belongs to one call of Design.
type designer struct {
	*values.Reader
	flavour string // PadoGrid's, for which the file was written
}

// Design works out the plan of a run in this mode.
func Design(from *values.Reader, in workload.Inputs) (*workload.Plan, error) {
	r := &designer{Reader: from}
	s := &Spec{
		namespace: in.Namespace, driver: in.Driver, seed: in.Seed, allow: in.AllowExisting,
		wrap: in.Wraps(),
		base: padogrid.Base(time.Local).UnixMilli(), //nolint:gosmopolitan // as the original: keys count from a local date
		zipf: r.Number(common.Zipf), linearizable: common.Linearizable(from),
	}
	r.Compat = r.OnOff(compat) // compat and flavour decide how the others are read
	s.compat, r.flavour = r.Compat, r.Flavour(in.Driver)
	names := r.MapNames(mapNames, padogrid.MapsOf(r.flavour))
	s.prefix = r.Text(prefix)
	s.declare().Read(r.Reader)
	for _, name := range names {
		s.maps = append(s.maps, r.pbmMap(name))
	}
	r.share(s, in)
	r.volume(s)
	if m := s.transacts(); m != nil && s.load != loadOnly {
		m.start.Payload = r.Payload(workload.Filling("summary"), 0, m.name+".payload", "payload")
	}
	r.judgePBM(s)
	unless := ""
	if s.compat {
		unless = "with compat=on, threads go from one call to the next, as in PadoGrid"
	}
	users := r.Users(unless, "leave it out, or use compat=off")
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	p := planPBM(s, in)
	return p, users.In(p, func(*workload.Track) bool { return true })
}

// pbmMap reads what is done to a map.
func (r *designer) pbmMap(name string) mapPlan {
	m := mapPlan{name: name, elig: name == padogrid.Eligibility}
	v := r.Pick(testCase, name+".testCase", "testCase")
	word := strings.ToLower(r.Trim(v))
	known := []string{caseGet, caseGetAll, caseTx}
	switch {
	case v.Text == "" && v.Origin == workload.OriginDefault:
		word = caseGetAll
		switch {
		case r.Original() && r.flavour != values.FlavourCoherence:
			word = "putall" // PadoGrid's word, although it runs getall
		case !r.Original() && m.elig:
			word = caseTx
		}
	case slices.Contains(known, word):
	case values.FromProperties(v):
		r.Warn("%s: %s: %q is not a test case of tx: getall is run, as PadoGrid does", v.Where, v.Name, v.Text)
		if word != "put" && word != "putall" {
			word = caseGetAll
		}
	default:
		var err error
		word, err = v.Choice(known...)
		r.Problems.Add(err)
	}
	m.word, m.op = word, caseGetAll
	switch {
	case m.elig && word == caseTx:
		m.op = caseTx
	case !m.elig && word == caseGet:
		m.op = caseGet
	case slices.Contains(known, word) && word != caseGetAll:
		r.Warn("%s.testCase=%s: getall is run, as PadoGrid does: tx is for eligibility and get for profile", name, word)
	}
	r.Show(name+".testCase", m.op, v)
	p := batchSize
	v = r.Pick(p, name+".batch", name+"."+p.Name, "batch", p.Name)
	m.batch = int(r.Integer(p, v))
	m.start.Batch = m.batch
	r.Show(name+"."+p.Name, strconv.Itoa(m.batch), v)
	return m
}

// share reads totals, threads and rates, and gives each thread its share.
func (r *designer) share(s *Spec, in workload.Inputs) {
	total, threads := totalEntryCount, threadCount
	sum := 0
	for i := range s.maps {
		m := &s.maps[i]
		v := r.Pick(total, m.name+"."+total.Name, total.Name)
		m.total = r.Integer(total, v)
		if in.Count > 0 {
			v = r.Pick(total, "count")
			m.total = int64(workload.Split(int(in.Count), len(s.maps), i))
			s.testCount = 1
		}
		r.Show(m.name+"."+total.Name, strconv.FormatInt(m.total, 10), v)
		v = r.Pick(threads, m.name+".threads", m.name+"."+threads.Name, threads.Name)
		if t, ok := r.Values["threads"]; ok && t.Origin > v.Origin {
			n, err := t.Int(1, workload.MaxThreads)
			if i == 0 {
				r.Problems.Add(err)
			}
			if few := int64(len(s.maps)); n < few && err == nil {
				if i == 0 {
					r.Warn("%s", workload.FewThreads(t, len(s.maps), "maps", few))
				}
				n = few
			}
			m.start.Threads, v = workload.Split(int(n), len(s.maps), i), t
		} else {
			m.start.Threads = int(r.Integer(threads, v))
		}
		r.Show(m.name+"."+threads.Name, strconv.Itoa(m.start.Threads), v)
		sum += m.start.Threads
	}
	if sum == 0 || r.Problems.Err() != nil {
		return
	}
	for i := range s.maps {
		m := &s.maps[i]
		r.rate(m, float64(m.start.Threads)/float64(sum))
		m.per = m.total / int64(m.start.Threads)
		if m.per == 0 {
			if in.Count > 0 {
				most := 0
				for _, m := range s.maps {
					most = max(most, m.start.Threads)
				}
				r.Blame("count", fmt.Sprintf("count at least %d, or use fewer threads", most*len(s.maps)),
					"count: %d is too few: map %s gets %d of them, fewer than its %d threads", in.Count, m.name, m.total, m.start.Threads)
				return
			}
			r.Blame(m.name+".totalEntryCount", "use at most "+units.Plural(m.total, "thread"), "%s.totalEntryCount: %d is fewer than its %d threads", m.name, m.total, m.start.Threads)
		}
		if left := m.total % int64(m.start.Threads); left > 0 {
			r.Warn("%s: %d of %d operations left out, as PadoGrid does, because %d threads share them evenly", m.name, left, m.total, m.start.Threads)
		}
	}
}

func (r *designer) rate(m *mapPlan, part float64) {
	v, own := r.Values[m.name+".rate"]
	if !own {
		v = r.Values["rate"]
	}
	if v.Origin == 0 {
		return
	}
	rate, err := v.Rate()
	r.Problems.Add(err)
	if !own {
		rate *= part
	}
	m.start.Rate = rate
}

// volume works out what must exist: the eligibility keys are those that the plan of an
// ingestion with the same totals and threads writes.
func (r *designer) volume(s *Spec) {
	total, threads, size := totalEntryCount, threadCount, payloadSize
	read := func(p workload.Param, name string) int64 {
		v := r.Pick(p, name+"."+p.Name, p.Name)
		return r.Integer(p, v)
	}
	s.eligThreads = int(read(threads, padogrid.Eligibility))
	s.eligPer = max(read(total, padogrid.Eligibility)/int64(max(s.eligThreads, 1)), 1)
	s.flat = map[string]flatMap{}
	flat := []string{padogrid.Profiles}
	if s.readsSummary() {
		flat = append(flat, padogrid.Summaries)
	}
	for _, name := range flat {
		s.flat[name] = flatMap{max(read(total, name), 1), int(read(size, name))}
		r.showPayload(s, name, s.flat[name].payload)
	}
	s.eligPayload = int(read(size, padogrid.Eligibility))
	r.showPayload(s, padogrid.Eligibility, s.eligPayload)
	for _, m := range s.maps {
		if m.elig {
			s.eligThreads, s.eligPer = m.start.Threads, max(m.per, 1)
		} else {
			s.flat[m.name] = flatMap{max(m.per*int64(m.start.Threads), 1), s.flat[m.name].payload}
		}
	}
}

func (r *designer) showPayload(s *Spec, name string, n int) {
	p := payloadSize
	v := r.Pick(p, name+"."+p.Name, p.Name)
	if v.Origin == workload.OriginFlag {
		s.sized = append(s.sized, name)
	}
	r.Show(name+"."+p.Name, values.BytesText(int64(n)), v)
}

func (r *designer) judgePBM(s *Spec) {
	switch {
	case s.tx() && strings.ContainsAny(s.prefix, "{}"):
		r.Blame("prefix", "use another prefix", "prefix: %q has braces, which tx needs for itself", s.prefix)
	case s.tx() && s.readsSummary():
		r.Blame("mapNames", "leave summary out of mapNames, or use eligibility.testCase=getall", "mapNames: summary is what tx writes, so it cannot be looked up in the same run")
	}
	if s.linearizable {
		r.judgeHistories(s)
	}
	if strings.ContainsAny(s.prefix, "\r\n\x00") || len(s.prefix) > 200 {
		r.Blame("prefix", "use another prefix", "prefix: %q is too long or has control characters", s.prefix)
	}
	if s.tx() && s.driver == coherence.Driver.Name {
		r.Warn("%s", howCoherence)
		if s.atomic != atomicScript {
			r.Warn("atomic=%s is for Redis only", s.atomic)
		}
	} else if s.tx() && s.atomic != atomicScript && s.driver != "" && s.driver != "redis" && s.driver != "embedded" {
		r.Warn("atomic=%s is for Redis only: on %s tx is one transaction of the database", s.atomic, s.driver)
	}
}

// judgeHistories refuses histories that could not be checked.
func (r *designer) judgeHistories(s *Spec) {
	switch {
	case !s.tx() || s.load == loadOnly:
		r.Blame(common.Check.Name, "use --set eligibility.testCase=tx, or leave --check out", "check: nothing is written here, so there are no histories that could be checked")
	case s.start().Payload < datagen.VersionedFrom:
		r.Blame(common.Check.Name, "give --payload 64", "check: a summary that carries %d bytes has no version that could be followed; it takes %d or more", s.start().Payload, datagen.VersionedFrom)
	}
}

// summaries describes what transactions write.
func (s *Spec) summaries() string {
	text := ownership.Name(s.space(padogrid.Summaries)) + ": a summary of each group visited"
	if n := s.start().Payload; n > 0 {
		text += ", which carries " + units.Size(int64(n))
	}
	return text
}

func planPBM(s *Spec, in workload.Inputs) *workload.Plan {
	p := &workload.Plan{
		Unit:   "transactions",
		Knobs:  []workload.Knob{workload.Threads(), workload.Rate("transactions"), workload.Batch()},
		Binder: s,
		Bytes:  s.entries() * int64(s.eligPayload),
	}
	if s.compat {
		p.Evenly = "compat=on"
	}
	for _, m := range s.flat {
		p.Bytes += m.entries * int64(m.payload)
	}
	ph := workload.Phase{Name: Mode, Duration: in.Duration}
	for i := range s.maps {
		m := &s.maps[i]
		t := workload.Track{Name: m.name, Ops: []string{m.op}, Start: m.start, Units: m.units}
		if m.op == caseTx {
			t.Ops, t.OpUnits, t.Counted = append(t.Ops, "conflict"), []string{"", "conflicts"}, 1
			if s.linearizable {
				t.Ops, t.OpUnits = append(t.Ops, "check"), append(t.OpUnits, "checks")
			}
		} else {
			t.Rest("payload", "only test case tx writes")
			if s.tx() {
				t.OpUnits = []string{"entries"}
			}
		}
		if m.op != caseGetAll {
			t.Rest(workload.Batch().Name, "only test case getall reads in batches")
		}
		if !s.wrap {
			t.Total = m.per * int64(m.start.Threads) * s.testCount
		}
		ph.Tracks = append(ph.Tracks, t)
	}
	p.Phases = []workload.Phase{ph}
	if s.load == loadOnly {
		p.Ends = "load=only writes what is missing and ends"
	}
	if s.load != loadNever {
		p.Writes = append(p.Writes, fmt.Sprintf("%s and %s where they are missing: %d entries of %s and %d of %s",
			ownership.Name(s.space(padogrid.Eligibility)), padogrid.Profiles, s.entries(), units.Size(int64(s.eligPayload)), s.flat[padogrid.Profiles].entries, units.Size(int64(s.flat[padogrid.Profiles].payload))))
	}
	if m, ok := s.flat[padogrid.Summaries]; ok && s.load != loadNever {
		p.Writes = append(p.Writes, fmt.Sprintf("%s where it is missing: %d entries of %s", ownership.Name(s.space(padogrid.Summaries)), m.entries, units.Size(int64(m.payload))))
	}
	if s.tx() && s.load != loadOnly {
		p.Knobs = slices.Insert(p.Knobs, 2, workload.Filling("summary")) // before batch, as elsewhere
		p.Writes, p.Bytes = append(p.Writes, s.summaries()), p.Bytes+s.groups()*int64(s.start().Payload)
	}
	p.Cleanup = []string{"at the end what this run made, and nothing that was there before (--cleanup)"}
	return p
}
