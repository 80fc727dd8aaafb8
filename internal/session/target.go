package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// aim finds the store's driver and the profile's binding to it.
func (p *Prepared) aim() error {
	url := p.req.Target
	if url == "" {
		url = DefaultTarget
	}
	if p.env.Resolve != nil {
		resolved, err := p.env.Resolve(url)
		if err != nil {
			return err
		}
		url = resolved
	}
	t, d, err := p.env.Drivers.Parse(url)
	if err != nil {
		return err
	}
	if t.Password != "" && p.req.From["target"] == "" {
		p.Warnings = append(p.Warnings, "the password in the target can be seen by others on this machine; use --password-file or "+request.EnvPrefix+"TARGET_PASSWORD")
	}
	p.Warnings = append(p.Warnings, t.Cautions("the connection to "+strings.Join(t.Hosts, ", "))...)
	switch {
	case p.req.Password != "":
		t.Password = p.req.Password
	case t.Password == "" && (len(t.Hosts) > 0 || t.Scheme == "unix"):
		t.Password = Password(p.env.Environ)
	}
	p.Target, p.Driver = t, d
	b, ok := p.Profile.Binding(d.Name)
	switch {
	case !ok:
		return fault.Code(fault.Hint(fmt.Errorf("profile %s does not run on %s", p.Profile.Name, d.Title), runsOn(p.Profile)), fault.CodeInput)
	case b.Refuse != "":
		return fault.Input(fmt.Errorf("profile %s does not run on %s: %s", p.Profile.Name, d.Title, b.Refuse), runsOn(p.Profile))
	}
	p.binding = b
	return nil
}

func runsOn(p workload.Profile) string {
	var ok []string
	for _, b := range p.Stores {
		if b.Refuse == "" {
			ok = append(ok, b.Driver)
		}
	}
	return "it runs on " + strings.Join(ok, ", ")
}

// resolve turns parameter values that are targets into URLs that a client can use.
func (p *Prepared) resolve(vs workload.Values) error {
	var problems workload.Problems
	for _, q := range p.Profile.Params {
		v := vs[q.Name]
		if q.Kind != workload.Target || !strings.Contains(v.Text, ":") {
			continue
		}
		if p.env.Resolve != nil {
			text, err := p.env.Resolve(v.Text)
			if err != nil {
				problems.Add(fmt.Errorf("%s: %w", q.Name, err))
				continue
			}
			v.Text = text
			vs[q.Name] = v
		}
		t, err := store.ParseTarget(v.Text)
		if err != nil {
			problems.Add(fmt.Errorf("%s (%s): %w", q.Name, v.From(), err))
			continue
		}
		p.Warnings = append(p.Warnings, t.Cautions(fmt.Sprintf("the connection to %s (%s)", strings.Join(t.Hosts, ", "), q.Name))...)
		if t.Password != "" && v.Origin == workload.OriginFlag {
			p.Warnings = append(p.Warnings, fmt.Sprintf("the password in %s can be seen by others on this machine; use %s", q.Name, request.Variable(q.Name)))
		}
	}
	return problems.Err()
}

// redact removes secrets from what will be shown and kept.
func (p *Prepared) redact(plan *workload.Plan) {
	for i, v := range plan.Parameters {
		if !slices.ContainsFunc(p.Profile.Params, func(q workload.Param) bool { return q.Name == v.Name && q.Kind == workload.Target }) {
			continue
		}
		if t, err := store.ParseTarget(v.Text); err == nil {
			plan.Parameters[i].Text = t.Redacted()
		}
	}
}

// NeedsPassword reports whether the target names a user but there is no password.
func (p *Prepared) NeedsPassword() bool { return p.Target.User != "" && p.Target.Password == "" }

// WithPassword returns p with another password for its target.
func (p *Prepared) WithPassword(password string) *Prepared {
	q := *p
	q.Target.Password = password
	return &q
}

// WithWorkers returns p as a run whose work is done by workers that join it. Errors
// have the code of bad input.
func (p *Prepared) WithWorkers(a crew.Ask) (*Prepared, error) {
	a.Version = p.env.Version
	inProcess := len(p.Target.Hosts) == 0 && p.Target.Scheme != "unix" && p.Target.Scheme != "null"
	if err := a.Check(p.Plan, p.Inputs, inProcess); err != nil {
		return nil, err
	}
	if err := p.public(); err != nil {
		return nil, err
	}
	q, plan := *p, *p.Plan
	q.env.CacheDir = "" // the ceiling of this process would mean nothing
	q.workers = &a
	plan.Knobs = slices.Clone(plan.Knobs)
	for i, k := range plan.Knobs {
		if k.Name == "threads" {
			plan.Knobs[i].Min = float64(a.Workers) // one each
		}
	}
	q.Plan = &plan
	return &q, nil
}

// public returns an error naming the secrets of the request that workers would have to
// be told.
func (p *Prepared) public() error {
	_, hidden := p.Target.Public()
	hidden = slices.DeleteFunc(hidden, func(name string) bool { return name == "password" }) // workers have their own
	for _, v := range p.Inputs.Values {
		if t, err := store.ParseTarget(v.Text); err == nil && strings.Contains(v.Text, ":") {
			if _, more := t.Public(); len(more) > 0 {
				hidden = append(hidden, v.Name)
			}
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	return fault.Field("workers", fault.Input(fmt.Errorf("workers: %s would be sent to them with its secret", strings.Join(hidden, ", ")), "give a password by the file or the environment of each worker; other secrets cannot be shared yet"))
}

// Password returns the target's password from the environment, or "".
func Password(environ []string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, request.EnvPrefix+"TARGET_PASSWORD="); ok {
			return v
		}
	}
	return ""
}

// ReadPassword returns the first line of the file given by --password-file. Errors have
// the code of bad input.
func ReadPassword(path string) (string, error) {
	data, err := infile.Read(infile.Secret, path)
	if err != nil {
		return "", fault.Input(fmt.Errorf("password file: %w", err), "")
	}
	line, _, _ := strings.Cut(string(data), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fault.Input(fmt.Errorf("password file %s: its first line is empty", path), "")
	}
	return line, nil
}
