package session

import (
	"runtime"
	"strings"

	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
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

// FormatSetting formats the value of a live setting, named as in the change log, the
// way users type it.
func (p *Prepared) FormatSetting(name string, v float64) string {
	if name == workload.ComingKnob {
		return workload.Coming(v).String()
	}
	if kind, ok := workload.FaultSetting(name); ok {
		return p.Plan.FaultSize(&workload.FaultKinds()[kind], v)
	}
	k, _ := p.Plan.Knob(name[strings.LastIndex(name, ".")+1:])
	return k.Format(v)
}

// WantsPassword reports whether a store refused a connection because there was no
// password.
func WantsPassword(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "NOAUTH") || strings.Contains(err.Error(), "wants a password"))
}
