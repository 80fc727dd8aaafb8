package ingestion

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Design works out the plan. It touches nothing; all problems are returned joined, with
// the code of bad input.
func Design(in workload.Inputs) (*workload.Plan, error) {
	s := &spec{
		namespace: in.Namespace, driver: in.Driver, seed: in.Seed,
		allow: in.AllowExisting,
		wrap:  in.Wraps(),
		base:  padogrid.Base(time.Local).UnixMilli(),
	}
	p := s.declare()
	r := &designer{Reader: values.New(in.Values)}
	r.Compat = r.OnOff(compat) // compat and flavour decide how the others are read
	s.compat, r.flavour = r.Compat, r.Flavour(in.Driver)
	names := r.MapNames(mapNames, padogrid.MapsOf(r.flavour))
	s.prefix = r.Text(prefix)
	p.Read(r.Reader)
	r.checkPrefix(s)
	for _, name := range names {
		s.maps = append(s.maps, mapSpec{name: name, elig: name == padogrid.Eligibility})
	}
	r.totals(s, in.Count)
	r.threads(s)
	r.rates(s)
	for i := range s.maps {
		r.sizes(&s.maps[i])
	}
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	r.divide(s, in.Count > 0)
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	if v := in.Values["layout"]; in.Cluster && !s.grouped && v.Origin <= workload.OriginDefault {
		r.Warn("layout=map keeps each map on one node of the cluster, where tx can look up entries and carry out no transaction: for those, load with --set layout=group")
	}
	return plan(s, r, in), nil
}

// checkPrefix rejects a prefix with which keys cannot begin.
func (r *designer) checkPrefix(s *spec) {
	if s.grouped && strings.ContainsAny(s.prefix, "{}") {
		r.Problems.Add(fault.Field("prefix", fault.Input(fmt.Errorf("prefix: %q has braces, which layout=group needs for itself", s.prefix), "use another prefix, or layout=map")))
	}
	if strings.ContainsAny(s.prefix, "\r\n\x00") {
		r.Problems.Add(fault.Field("prefix", fault.Input(fmt.Errorf("prefix: %q has control characters", s.prefix), "")))
	}
	if len(s.prefix) > 200 {
		r.Problems.Add(fault.Field("prefix", fault.Input(fmt.Errorf("prefix: has %d bytes, and 200 is the most", len(s.prefix)), "")))
	}
}

// totals reads how many entries each map gets per run.
func (r *designer) totals(s *spec, count int64) {
	if n := int64(len(s.maps)); count > 0 && count < n {
		r.Problems.Add(fault.Field("count", fault.Input(fmt.Errorf("count: %d is fewer than the %d maps that share it", count, n), "count at least one entry a map, or load one map with --set mapNames="+s.maps[0].name)))
		return
	}
	p := totalEntryCount
	for i := range s.maps {
		m := &s.maps[i]
		v := r.Pick(p, m.name+"."+p.Name, p.Name)
		if count > 0 {
			v = r.Pick(p, "count")
			m.total = int64(workload.Split(int(count), len(s.maps), i))
			if m.total > padogrid.MaxEntries {
				r.Problems.Add(fault.Field("count", fault.Input(fmt.Errorf("count: %d is more than a map can get", count), "")))
			}
		} else {
			m.total = r.Integer(p, v)
		}
		r.Show(m.name+"."+p.Name, strconv.FormatInt(m.total, 10), v)
	}
	if count > 0 && s.testCount > 1 {
		if r.Values["testCount"].Origin > workload.OriginPreset { // what comes from a preset is not what the user asked for
			r.Warn("testCount=%d has no effect: --count entries are written once", s.testCount)
		}
		s.testCount = 1
	}
}

// aimed is a map's own value of a knob, with the total or common value along with it.
type aimed struct {
	own   workload.Value
	isOwn bool
}

// aim finds out which maps have their own value of a knob, rather than a part of the
// total. The total takes precedence over values of a lower origin, and over values of
// the same origin for every map.
func (r *designer) aim(s *spec, knob, each string, p workload.Param) ([]aimed, workload.Value, bool) {
	total, given := r.Values[knob]
	out := make([]aimed, len(s.maps))
	for i, m := range s.maps {
		own, ok := r.Values.Pick(m.name+"."+knob, m.name+"."+each)
		common := r.Pick(p, each)
		switch {
		case ok && own.Origin >= total.Origin && own.Origin >= common.Origin:
			out[i] = aimed{own, true}
		case !given || common.Origin > total.Origin:
			out[i] = aimed{common, true}
		}
	}
	return out, total, given
}

// threads reads the loaders of each map.
func (r *designer) threads(s *spec) {
	p := threadCount
	aims, total, given := r.aim(s, "threads", p.Name, p)
	rest, open := int64(0), 0
	if given {
		n, err := total.Int(1, workload.MaxThreads)
		r.Problems.Add(err)
		rest = n
	}
	for i := range s.maps {
		if aims[i].isOwn {
			n := r.Integer(p, aims[i].own)
			s.maps[i].start.Threads = int(n)
			rest -= n
			r.Show(s.maps[i].name+"."+p.Name, strconv.FormatInt(n, 10), aims[i].own)
		} else {
			open++
		}
	}
	switch {
	case open == 0 && given && total.Origin > workload.OriginDefault && rest != 0:
		r.Warn("threads=%s (%s) has no effect: every map has threads of its own", total.Text, total.From())
	case open > 0 && rest < int64(open) && r.Problems.Err() == nil:
		asked := int64(open) - rest
		rest = int64(open)
		n, _ := total.Int(1, workload.MaxThreads)
		r.Warn("%s; --set mapNames=%s loads one map alone", workload.FewThreads(total, len(s.maps), "maps", n+asked), s.maps[0].name)
	}
	for i, k := 0, 0; i < len(s.maps) && open > 0; i++ {
		if aims[i].isOwn {
			continue
		}
		n := workload.Split(int(max(rest, 0)), open, k)
		k++
		s.maps[i].start.Threads = n
		r.Show(s.maps[i].name+"."+p.Name, strconv.Itoa(n), total)
	}
}

// rates reads the rate of each map; 0 means a closed loop.
func (r *designer) rates(s *spec) {
	total, given := r.Values["rate"]
	var all, taken float64
	var open []int
	if given {
		v, err := total.Rate()
		r.Problems.Add(err)
		all = v
	}
	for i := range s.maps {
		v, ok := r.Values[s.maps[i].name+".rate"]
		if !ok || v.Origin < total.Origin {
			open = append(open, i)
			continue
		}
		rate, err := v.Float(0, workload.MaxRate)
		r.Problems.Add(err)
		s.maps[i].start.Rate = rate
		taken += rate
	}
	if all == 0 {
		return
	}
	switch {
	case len(open) == 0:
		r.Warn("rate=%s (%s) has no effect: every map has a rate of its own", total.Text, total.From())
	case all <= taken:
		r.Problems.Add(fault.Field("rate", fault.Input(fmt.Errorf("rate: %s (%s) is the total over the maps, and leaves nothing for %s", total.Text, total.From(), s.maps[open[0]].name), "use a higher rate")))
	}
	for _, i := range open {
		s.maps[i].start.Rate = (all - taken) / float64(len(open))
	}
}

// knobs returns the live settings, with the parameters for their initial values.
func knobs() []workload.Knob {
	threads, payload, batch := workload.Threads(), workload.Payload(), workload.Batch()
	threads.Param, payload.Param, batch.Param = "threadCount", "payloadSize", "batchSize"
	return []workload.Knob{threads, workload.Rate("entries"), payload, batch}
}

// sizes reads payload, batch and test case of a map.
func (r *designer) sizes(m *mapSpec) {
	pay, batch := payloadSize, batchSize
	v := r.Pick(pay, m.name+".payload", m.name+"."+pay.Name, "payload", pay.Name)
	n := r.Integer(pay, v)
	m.start.Payload = int(n)
	r.Show(m.name+"."+pay.Name, values.BytesText(n), v)
	v = r.Pick(batch, m.name+".batch", m.name+"."+batch.Name, "batch", batch.Name)
	m.batch = int(r.Integer(batch, v))
	r.Show(m.name+"."+batch.Name, strconv.Itoa(m.batch), v)
	m.start.Batch = m.batch
	m.putAll, m.word = r.testCase(m.name)
}

// divide gives the threads their shares and warns about entries that this leaves out.
func (r *designer) divide(s *spec, exactly bool) {
	for i := range s.maps {
		m := &s.maps[i]
		threads := int64(m.start.Threads)
		if exactly {
			m.divideExactly(s)
		} else {
			if m.total < threads {
				r.Problems.Add(fault.Input(fmt.Errorf("%s.totalEntryCount: %d is fewer than its %d threads, so no thread has anything to write", m.name, m.total, threads),
					fmt.Sprintf("use at most %s, or --count, which hands out every entry", units.Plural(m.total, "thread"))))
				continue
			}
			m.divide(s)
			if left := m.total % threads; left > 0 {
				r.Warn("%s: %d of %d entries left out, as PadoGrid does, because %d threads share them evenly; choose a multiple of the threads, or --count",
					m.name, left, m.total, threads)
			}
			if n := m.entries(); n > m.per*threads {
				r.Warn("%s: %d entries are written instead of %d, as PadoGrid does, because each batch holds whole groups of %d",
					m.name, n, m.per*threads, s.members)
			}
		}
		if most := m.largest(); m.putAll && int64(m.batch) > most {
			r.Warn("%s: batchSize %d is more than the %s of a thread: each is written in batches of %d", m.name, m.batch, units.Plural(most, "entry"), most)
			m.start.Batch = int(most)
		}
	}
}

// plan turns the values read into a plan.
func plan(s *spec, r *designer, in workload.Inputs) *workload.Plan {
	p := &workload.Plan{
		Sized:      true,
		Unit:       "entries",
		Knobs:      knobs(),
		Parameters: r.Shown,
		Warnings:   r.Warnings,
		Binder:     s,
	}
	if s.compat {
		p.Evenly = "compat=on"
	}
	p.Corrected = map[string]string{}
	phase := workload.Phase{Name: "ingest", Duration: in.Duration}
	for i := range s.maps {
		m := &s.maps[i]
		op := casePut
		if m.putAll {
			op = casePutAll
		}
		t := workload.Track{
			Name: m.name, Ops: []string{op}, Start: m.start, Units: m.units,
			NewTask: func(int) (workload.Task, error) { return nil, errors.New("ingestion: not connected to a store") },
		}
		if !m.putAll {
			t.Rest(workload.Batch().Name, "entries go one by one")
		}
		if !s.wrap {
			t.Total = m.entries() * s.testCount
		}
		phase.Tracks = append(phase.Tracks, t)
		if n := m.units(&m.start); m.putAll && n != m.batch {
			p.Corrected[m.name+"."+batchSize.Name] = m.batches(n)
		}
		p.Spaces = append(p.Spaces, m.space(s))
		p.Bytes += m.entries() * int64(m.start.Payload)
		p.Writes = append(p.Writes, m.writes(s))
		p.Cleanup = append(p.Cleanup, fmt.Sprintf("at the end the map %s, unless an earlier run made it (--cleanup)", m.name))
	}
	p.Phases = []workload.Phase{phase}
	return p
}

// batches says of how many entries batches are, where that is not what was asked for.
func (m *mapSpec) batches(n int) string {
	if n < m.batch {
		return fmt.Sprintf("%d, as a thread has no more entries", n)
	}
	return fmt.Sprintf("%d, as batches hold whole groups of %d", n, m.shares[0].Size)
}

// writes describes what the plan does to a map.
func (m *mapSpec) writes(s *spec) string {
	how := "one by one"
	if m.putAll {
		how = fmt.Sprintf("in batches of %d", m.units(&m.start))
	}
	n := units.Plural(m.entries(), "entry")
	switch {
	case s.wrap:
		n += ", again and again,"
	case s.testCount > 1:
		n += fmt.Sprintf(", %d times,", s.testCount)
	}
	where := "map " + m.name
	if s.grouped {
		where += ", one structure a group"
	}
	if s.namespace != "" {
		where = "namespace " + s.namespace + ", " + where
	}
	return fmt.Sprintf("%s: %s of %s %s by %s", where, n, units.Size(int64(m.start.Payload)), how, units.Plural(m.start.Threads, "thread"))
}
