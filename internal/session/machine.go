package session

import (
	"errors"
	"runtime"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session/timetable"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// environmentFacts is what is known of the machine before a run.
func environmentFacts(version string) map[string]any {
	return map[string]any{
		"perfbench": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		"cpus": runtime.NumCPU(), "gomaxprocs": runtime.GOMAXPROCS(0),
	}
}

// environment is what is known of the machine after the run.
func (l *Live) environment(o *verdict.Observed) map[string]any {
	facts := environmentFacts(l.env.Version)
	if o == nil {
		return facts
	}
	facts["cpu_share"] = float64(int(o.CPU/float64(runtime.NumCPU())*1000)) / 1000
	if o.PoolSize > 0 {
		facts["pool_size"], facts["pool_waits"], facts["pool_wait_ns"] = o.PoolSize, o.PoolWaits, o.PoolWaitNs
	}
	return facts
}

// mask takes the password out of a text.
func (p *Prepared) mask(s string) string {
	if len(p.Target.Password) < minSecret {
		return s
	}
	return strings.ReplaceAll(s, p.Target.Password, "***")
}

// minSecret is the shortest password that is masked in texts of others: masking
// "a" would make every message unreadable.
const minSecret = 4

// hide returns err with the password masked in its message, should a driver have
// put it there. What comes of a limit of this process gets its fix for a hint.
func (p *Prepared) hide(err error) error {
	if hint := fault.LimitHint(err, self.FileLimit()); hint != "" {
		err = fault.Hint(err, hint)
	}
	if err == nil || p.mask(err.Error()) == err.Error() {
		return err
	}
	return fault.Code(fault.Hint(errors.New(p.mask(err.Error())), p.mask(fault.HintOf(err))), fault.CodeOf(err))
}

// Mask returns s without the target's password, for what stores say.
func (p *Prepared) Mask(s string) string { return p.mask(s) }

// FormatSetting writes the value of a live setting, named as in the change log, as
// a user would type it.
func (p *Prepared) FormatSetting(name string, v float64) string {
	k, _ := p.Plan.Knob(name[strings.LastIndex(name, ".")+1:])
	return timetable.FormatKnob(k, v)
}

// WantsPassword says whether a store refused to talk because there was no
// password.
func WantsPassword(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "NOAUTH") || strings.Contains(err.Error(), "wants a password"))
}
