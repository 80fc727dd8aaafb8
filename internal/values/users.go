package values

import (
	"strconv"

	"github.com/perfbench/perfbench/internal/workload"
)

// Users is what a profile was told of its users: see workload.Sessions.
type Users struct {
	// Session is how many calls a session has; 0: nobody said.
	Session int64
	// Usual is what sessions are like in what the profile runs, unless Session says how long
	// they are; nil: there are none.
	Usual *workload.Sessions

	r     *Reader
	think float64
	given bool
}

// Users declares the parameters of a profile that has users, which Reader.Users reads.
func (f *Fields) Users() {
	for _, p := range workload.SessionParams() {
		f.Own(p, nil)
	}
}

// Users reads what sessions are like. unless, if it is not empty, says why there are no users, in
// words that follow the name of a value, and hint what to do about that.
func (r *Reader) Users(unless, hint string) Users {
	u := Users{r: r}
	p := workload.SessionParams()
	for _, p := range p {
		if v := r.Pick(p, p.Name); v.Origin > workload.OriginDefault {
			u.given = true
			if unless != "" {
				r.Blame(p.Name, hint, "%s (%s): %s", p.Name, v.From(), unless)
			}
		}
	}
	if !u.given || unless != "" {
		return Users{r: r}
	}
	u.Session = r.Integer(p[0], r.Pick(p[0], p[0].Name))
	r.Show(p[0].Name, strconv.FormatInt(u.Session, 10), r.Pick(p[0], p[0].Name))
	u.think = u.knob(p[1], p[1].Name)
	return u
}

// knob reads the value of the knob think under a name, which is there.
func (u *Users) knob(p workload.Param, name string) float64 {
	v := u.r.Pick(p, name)
	ms, err := workload.Think().Parse(v.Text)
	if err != nil {
		_, bad := v.Duration()
		if bad == nil {
			bad = err
		}
		u.r.Problems.Add(bad)
	}
	return ms
}

// In has the iterations of the tracks for which has returns true come as those of users, and adds
// the knob think to the plan, if anybody asked for that. The error is what the reader found.
func (u *Users) In(p *workload.Plan, has func(*workload.Track) bool) error {
	if !u.given && u.Usual == nil {
		return u.r.Problems.Err()
	}
	s := workload.Sessions{}
	if u.Usual != nil {
		s = *u.Usual
	}
	if u.Session > 0 {
		s.Mean = float64(u.Session)
	}
	think, alone := workload.Think(), false
	p.Knobs = append(p.Knobs, think)
	for i := range p.Phases {
		for j := range p.Phases[i].Tracks {
			t := &p.Phases[i].Tracks[j]
			if !has(t) {
				t.Rest(think.Name, "no users are behind it")
				continue
			}
			t.Start.Think = u.think
			if aimed := t.Name + "." + think.Name; u.r.Values[aimed].Text != "" {
				t.Start.Think = u.knob(workload.Param{Name: aimed}, aimed)
			}
			alone = alone || s.Mean == 0 && t.Start.Rate > 0 && t.Start.Think > 0
			if warning := t.Visit(s); warning != "" {
				p.Warnings = append(p.Warnings, warning)
			}
			p.Phases[i].NoCeiling = true // users set the pace
		}
	}
	if alone {
		u.r.Problems.Add(workload.NoThinking())
	}
	return u.r.Problems.Err()
}
