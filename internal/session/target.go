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
)

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
