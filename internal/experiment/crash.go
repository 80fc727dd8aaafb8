package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/workload"
)

// faultShare is the part of a run that a fault at its middle lasts, and failoverShare the same where
// a replica may take over, which takes seconds.
const (
	faultShare    = 10
	failoverShare = 3
)

// breakAtMiddle prepares the run at a point once more, with a fault at its middle. A fault that
// needs a role and has none is of the primary.
func (d *Driver) breakAtMiddle(ctx context.Context, p *point, text string) error {
	kind, _, err := workload.ParseFault(text, "", &workload.Commands{})
	if err != nil {
		own := text + ":" + lab.Primary
		if k, _, again := workload.ParseFault(own, "", &workload.Commands{}); again == nil {
			text, kind, err = own, k, nil
		}
	}
	length := p.prepared.Inputs.Duration
	if length <= 0 {
		return fault.Field("fault", fault.Input(errors.New("fault: the middle of a run without a duration is not known"), "give --duration, for example 10s"))
	}
	from, share := length/2, time.Duration(faultShare)
	if err == nil {
		if servers := p.prepared.ServersOf(&workload.FaultKinds()[kind]); servers != nil && servers.Check(lab.Replica) == nil {
			share = failoverShare
		}
	}
	entry := fmt.Sprintf("%s..%s:fault=%s", from, from+max(length/share, time.Millisecond), text)
	p.request.Timetable = append(slices.Clone(p.prepared.Model().Timetable), entry)
	p.prepared, err = d.Prepare(ctx, p.request)
	return err
}

// crashOf returns how a server ends in a run; empty: none does.
func crashOf(p *session.Prepared) string {
	for _, at := range p.Timetable {
		if kind, ok := workload.FaultSetting(at.Knob.Name); ok && at.Value != 0 {
			switch k := &workload.FaultKinds()[kind]; {
			case k.Torn(at.Value):
				return sweep.TornPowerCut
			case k.Kind == workload.PowerCut:
				return sweep.PowerCut
			case k.Kind == workload.Kill:
				return sweep.ProcessCrash
			}
		}
	}
	return ""
}

// together refuses axes that a setting of servers cannot be swept with.
func together(axes []sweep.Axis) error {
	at := slices.IndexFunc(axes, func(x sweep.Axis) bool { return x.Server })
	for _, x := range axes {
		switch {
		case at < 0:
		case x.Name == sweep.Target:
			return fault.Field("over", fault.Input(fmt.Errorf("over %s: is a setting of the servers of one target, and there are several", axes[at].Name), "give one with --target lab:redis, and sweep the others after it"))
		case x.Auto():
			return fault.Field("over", fault.Input(fmt.Errorf("over %s: is a setting of servers, and the rates are yet to be found", axes[at].Name), "list the rates: --over rate=100,200,…,1000"))
		}
	}
	return nil
}

// findServers finds those whose settings are swept over. Errors have the code of bad input.
func (s *Sweep) findServers() error {
	for _, x := range s.axes {
		if !x.Server {
			continue
		}
		servers := s.First().Servers()
		if servers == nil {
			return fault.Field("over", fault.Input(fmt.Errorf("over %s: is a setting of servers of the lab on this machine, and the target is none", x.Name), "perfbench lab up redis starts one, which --target lab:redis names"))
		}
		if err := servers.HasSetting(x.Name); err != nil {
			return fault.Field("over", fault.Hint(fmt.Errorf("over: %w", err), fault.HintOf(err)))
		}
		s.servers = servers
	}
	return nil
}

// Settings says in a few words how the servers are started for the first run; empty if no setting
// of theirs is swept over.
func (s *Sweep) Settings() string {
	var list []string
	for name, value := range s.settings(0) {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// settings are those of the servers at a point.
func (s *Sweep) settings(point int) map[string]string {
	out := map[string]string{}
	for i, x := range s.axes {
		if x.Server {
			out[x.Name] = s.points[point].values[i]
		}
	}
	return out
}

// arrange starts the servers anew with the settings of a point, if any are swept over.
func (s *Sweep) arrange(ctx context.Context, point int) error {
	if s.servers == nil {
		return nil
	}
	s.anew = true
	return s.servers.Anew(ctx, s.settings(point))
}

// restore leaves the servers as they were before the first run, if they have been started anew.
func (s *Sweep) restore(ctx context.Context) error {
	if !s.anew {
		return nil
	}
	return s.servers.Anew(context.WithoutCancel(ctx), nil)
}

// crashed returns the outcome of a run in which a server crashed without the errors that say what
// that has cost: such a run is a result, and no failure.
func crashed(o *session.Concluded) *session.Concluded {
	v := o.Run.Verification
	lossy := v.State == workload.Failed && v.Lost != nil && *v.Lost > 0
	gone := v.State == workload.Incomplete && o.Code() == fault.CodeStore
	if !lossy && !gone {
		return o
	}
	out := *o
	out.Err = errors.Join(slices.DeleteFunc(fault.Parts(o.Err), func(e error) bool {
		code := fault.CodeOf(e)
		return lossy && code == fault.CodeVerification || gone && code == fault.CodeStore
	})...)
	return &out
}
