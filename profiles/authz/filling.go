package authz

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// Principals have a filling at the end of their description, sections as a field of
// that name at the end of their JSON. Without a filling both are as in the original.

// Names of the knobs for the size of fillings.
const (
	knobPayload   = "payload"   // in the records that the mode is about
	knobPrincipal = "principal" // in the users whose sections these are
)

// extraPrincipal is the index of the knob principal in Settings.Extra.
const extraPrincipal = 0

// maxFilling is the largest filling: every store accepts a value of twice that size.
const maxFilling = 8 << 20

// principalKnob returns the knob for the filling of the users whose sections are
// loaded.
func principalKnob() workload.Knob {
	k := workload.Filling("principal")
	k.Name, k.Max = knobPrincipal, maxFilling
	k.Get = func(s workload.Settings) float64 { return s.Extra[extraPrincipal] }
	k.Set = func(s workload.Settings, v float64) workload.Settings {
		s.Extra[extraPrincipal] = math.Round(v)
		return s
	}
	return k
}

// fillings are the plan's knobs for sizes, those that have an effect on one of its tracks, and their
// initial values.
type fillings struct {
	knobs []workload.Knob
	sizes []int
}

func fillingsOf(s *spec, r *values.Reader) (f fillings) {
	f.knobs = fillingKnobs(s)
	for _, k := range f.knobs {
		f.sizes = append(f.sizes, r.Payload(k, 0, k.Name))
	}
	return f
}

func fillingKnobs(s *spec) (out []workload.Knob) {
	what, load := "principal", s.load != "never"
	switch {
	case s.mode == report.ModeProfiles:
		what = "section of a profile"
		if load {
			out = append(out, principalKnob())
		}
		load = load || s.updates > 0
	default:
		load = load && s.variant == "v1" || s.changes()
	}
	if load {
		k := workload.Filling(what)
		k.Max = maxFilling
		out = append([]workload.Knob{k}, out...)
	}
	return out
}

// changes reports whether a mix of the plan rewrites principals.
func (s *spec) changes() bool {
	for _, t := range s.tests {
		if t == "mix" && s.load != "only" {
			return s.weights[updateMix] > 0
		}
	}
	return false
}

// carries reports whether what a track of a phase writes has the filling that a knob is
// for.
func (s *spec) carries(phase, knob string) bool {
	switch phase {
	case "users":
		return knob == knobPrincipal
	case "load":
		return knob == knobPayload && (s.mode == report.ModeProfiles || s.variant == "v1")
	case "profile":
		return knob == knobPayload && s.updates > 0
	case "mix":
		return knob == knobPayload && s.weights[updateMix] > 0
	}
	return false
}

// fit sets a track's initial sizes, and the knobs that have no effect on it.
func (f *fillings) fit(d *designer, t *workload.Track, phase string) {
	for i, k := range f.knobs {
		if !d.s.carries(phase, k.Name) {
			t.Rest(k.Name, "phase "+phase+" writes no "+k.Name)
			continue
		}
		size, aimed := f.sizes[i], t.Name+"."+k.Name
		if v, ok := d.r.Values.Pick(aimed, k.Name); ok && v.Name == aimed {
			size = d.r.Payload(k, 0, aimed)
		}
		t.Start = k.Set(t.Start, float64(size))
	}
}

// carried is the record of fillings in a run, and of those that were wrong when read
// back. It is safe for use by several goroutines.
type carried struct {
	// principals and sections are the sizes that were written.
	principals, sections datagen.Sizes
	// earlier means that another run has also written records, with sizes of its own.
	// It is set before the run begins.
	earlier bool

	mu       sync.Mutex // guards the fields below
	wrong    int64
	examples []string

	// others are those of other processes; nil: there are none.
	others *workload.Each[amiss]
}

// amiss are the records of a process with wrong fillings.
type amiss struct {
	Wrong    int64
	Examples []string
}

// sound reports whether a process can have told of them.
func (a *amiss) sound() bool { return len(a.Examples) <= mostExamples }

// amiss returns those of this process.
func (c *carried) amiss() amiss {
	c.mu.Lock()
	defer c.mu.Unlock()
	return amiss{c.wrong, slices.Clone(c.examples)}
}

// note remembers sizes when they change; last is what a worker noted last.
func note(s *datagen.Sizes, last *int, size int) {
	if *last != size+1 { // 0: none yet
		s.Note(size)
		*last = size + 1
	}
}

// inspect checks the filling found in a record.
func (c *carried) inspect(s *datagen.Sizes, id string, part int, text string) {
	err := datagen.Check(text, datagen.Of(id, part))
	if err == nil && !c.earlier {
		err = s.Check(len(text))
	}
	if err != nil {
		c.offend(id, err.Error())
	}
}

// offend notes a record that differs from what was written.
func (c *carried) offend(id, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong++; len(c.examples) < 10 {
		c.examples = append(c.examples, id+": "+why)
	}
}

// account checks the filling of a principal.
func (c *carried) account(a model.Account) {
	if a.Filling != "" {
		c.inspect(&c.principals, a.ID, 0, a.Filling)
	}
}

// check returns the result for the verification; false if there are no fillings.
func (c *carried) check() (workload.Check, bool) {
	any := c.principals.Most() > 0 || c.sections.Most() > 0
	c.mu.Lock()
	defer c.mu.Unlock()
	wrong, examples := c.wrong, c.examples
	for _, o := range c.others.Told() {
		wrong += o.Wrong
		examples = slices.Concat(examples, o.Examples)
	}
	return workload.Check{
		Name: "what principals and sections carry", OK: wrong == 0, Want: "0 that are not as written", Got: fmt.Sprintf("%d that are not as written", wrong),
		Examples: examples[:min(len(examples), 10)],
	}, any || wrong > 0
}

// filled returns the filling for a part of a record.
func filled(id string, part, size int) string {
	if size == 0 {
		return ""
	}
	return string(datagen.Append(nil, datagen.Of(id, part), size))
}

// grow adds a text to a section, which is a JSON object.
func grow(data, text string) string {
	if text == "" {
		return data
	}
	open, ok := strings.CutSuffix(strings.TrimRight(data, " \t\r\n"), "}")
	if !ok {
		open = "{" // null, which stands for an empty object
	}
	if strings.TrimSpace(open) != "{" {
		open += ","
	}
	return open + `"filling":"` + text + `"}`
}

// plain checks and removes the filling of a section. A section that is not the expected
// one is returned unchanged.
func (b *bound) plain(id string, n int, data, want string) string {
	if data == want {
		return data
	}
	at := strings.LastIndex(data, `"filling":"`)
	if at < 0 {
		return data
	}
	text := strings.TrimSuffix(data[at+len(`"filling":"`):], `"}`)
	if grow(want, text) != data {
		return data
	}
	b.carried.inspect(&b.carried.sections, id, 1+n, text)
	return want
}

// accountOf returns a principal as stored, with a filling of the given size.
func (k *worker) accountOf(t *tenant, p int32, size int) (model.Account, error) {
	m := k.b.s.model
	note(&k.b.carried.principals, &k.noted[0], size)
	a := model.Account{ID: t.id(p), Tenant: t.name, Filling: filled(t.id(p), 0, size)}
	if int(p) >= m.Users {
		a.Kind, a.Visibility, a.Title = "g", "public", m.Local[p]
		return a, nil
	}
	u := &m.Data.Users[p]
	var err error
	a.Kind, a.First, a.Last = "u", u.First, u.Last
	if a.Visibility, err = model.Visibility(u.Privacy); err != nil {
		return a, err
	}
	a.Password, err = hashed(k.b.s.password, u.ID)
	return a, err
}

// putSection stores a section of a user, after reading what exists, as the original
// does.
func (k *worker) putSection(ctx context.Context, t *tenant, user, n, size int) error {
	id, name := t.id(int32(user)), sectionNames[n]
	vis, data, err := sectionOf(k.b.s.model, user, n)
	if err != nil {
		return err
	}
	note(&k.b.carried.sections, &k.noted[1], size)
	data = grow(data, filled(id, 1+n, size))
	if _, _, _, err := k.b.l.Sections.Section(ctx, &k.c.Work, id, name); err != nil {
		return err
	}
	return k.b.l.Sections.PutSection(ctx, &k.c.Work, id, name, vis, data)
}

// again reads back some of a tenant's records, which checks their fillings.
func (b *binding) again(ctx context.Context, t *tenant) error {
	if !t.loaded() || b.carried.principals.Most() == 0 && b.carried.sections.Most() == 0 {
		return nil
	}
	m, w := b.s.model, &model.Work{}
	step := max(1, len(m.Local)/sample)
	for p := 0; p < len(m.Local); p += step {
		id := t.id(int32(p))
		if err := b.insist(ctx, func() error {
			a, ok, err := b.l.Accounts.Account(ctx, w, id)
			switch {
			case ok:
				b.carried.account(a)
			case err == nil:
				b.carried.offend(id, "it was stored and is not there")
			}
			return err
		}); err != nil {
			return err
		}
		for n, name := range sectionNames {
			if b.s.mode != report.ModeProfiles {
				break
			}
			if err := b.insist(ctx, func() error {
				_, data, _, err := b.l.Sections.Section(ctx, w, id, name)
				if _, want, _ := sectionOf(m, p, n); err == nil && b.plain(id, n, data, want) != want { // records without a visibility were rejected when they were read
					b.carried.offend(id, "section "+name+" of its profile is not the one that was stored")
				}
				return err
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
