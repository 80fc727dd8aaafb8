package session

import (
	"errors"
	"runtime"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// environmentFacts returns what is known of the machine before a run.
func environmentFacts(version string) map[string]any {
	return map[string]any{
		"perfbench": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		"cpus": runtime.NumCPU(), "gomaxprocs": runtime.GOMAXPROCS(0),
	}
}

// environment returns what is known of the machine after the run.
func environment(version string, o *verdict.Observed) map[string]any {
	facts := environmentFacts(version)
	if o == nil {
		return facts
	}
	facts["cpu_share"] = float64(int(o.CPU/float64(runtime.NumCPU())*1000)) / 1000
	if o.PoolSize > 0 {
		facts["pool_size"], facts["pool_waits"], facts["pool_wait_ns"] = o.PoolSize, o.PoolWaits, o.PoolWaitNs
	}
	return facts
}

// mask hides the password in a text.
func (p *Prepared) mask(s string) string {
	if len(p.Target.Password) < minSecret {
		return s
	}
	return strings.ReplaceAll(s, p.Target.Password, "***")
}

// minSecret is the shortest password that is masked in texts from elsewhere: masking
// "a" would make every message unreadable.
const minSecret = 4

// hide returns err with the password masked in its message, in case a driver has put it
// there. If a limit of this process caused the error, a hint says how to raise it.
func (p *Prepared) hide(err error) error {
	if hint := fault.LimitHint(err, self.FileLimit()); hint != "" {
		err = fault.Hint(err, hint)
	}
	if err == nil || p.mask(err.Error()) == err.Error() {
		return err
	}
	return fault.Code(fault.Hint(errors.New(p.mask(err.Error())), p.mask(fault.HintOf(err))), fault.CodeOf(err))
}

// Mask returns s, a text from a store, without the target's password.
func (p *Prepared) Mask(s string) string { return p.mask(s) }

// FormatSetting formats the value of a live setting, named as in the change log, the
// way users type it.
func (p *Prepared) FormatSetting(name string, v float64) string {
	k, _ := p.Plan.Knob(name[strings.LastIndex(name, ".")+1:])
	return k.Format(v)
}

// WantsPassword reports whether a store refused a connection because there was no
// password.
func WantsPassword(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "NOAUTH") || strings.Contains(err.Error(), "wants a password"))
}
