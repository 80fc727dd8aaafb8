package part

import (
	"context"
	"os"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch"
)

// company watches who else has processors of this machine: once a second, what this process
// and those of the store here use, and how many of their threads wait. The goroutine that
// beats calls its methods.
type company struct {
	client *watched
	stores []*watched
}

// watched is a process with the sums of its samples, each multiplied by its seconds.
type watched struct {
	*watch.Watched
	cpu, cpuFor, queue, queueFor float64
	last                         watch.Point
}

// mostStores is how many processes of a store are watched.
const mostStores = 8

// accompany watches this process and the servers at these addresses, as far as they are here.
func accompany(ctx context.Context, addrs []string) *company {
	c := &company{client: &watched{Watched: watch.Find(ctx, os.Getpid(), "")}}
	for _, addr := range addrs[:min(len(addrs), mostStores)] {
		if w := watch.Find(ctx, 0, addr); !w.Elsewhere {
			c.stores = append(c.stores, &watched{Watched: w})
		}
	}
	c.sample(ctx)
	return c
}

// sample looks at all of them.
func (c *company) sample(ctx context.Context) {
	c.client.sample(ctx)
	for _, w := range c.stores {
		w.sample(ctx)
	}
}

func (w *watched) sample(ctx context.Context) {
	if !w.Found() {
		return
	}
	x := w.Sample(ctx)
	seconds := x.At.Sub(w.last.At).Seconds()
	known := !w.last.At.IsZero() && seconds > 0
	if w.last = x; !known {
		return
	}
	if x.CPU != nil {
		w.cpu, w.cpuFor = w.cpu+*x.CPU*seconds, w.cpuFor+seconds
	}
	if x.Queue != nil {
		w.queue, w.queueFor = w.queue+*x.Queue*seconds, w.queueFor+seconds
	}
}

// seen returns what there was to see, of a worker with that result; nil if others cannot be
// told from a store that is here and cannot be watched.
func (c *company) seen(o *verdict.Observed, res *measure.Result) *verdict.Company {
	out := &verdict.Company{Machine: thisMachine(), Cores: o.Cores, CPU: o.CPU, Busy: o.Machine, Pressure: o.Pressure}
	if out.Machine == "" || o.Machine <= 0 || res.Measured <= 0 {
		return nil
	}
	for _, w := range c.stores {
		if w.cpuFor == 0 {
			return nil
		}
		if out.Store += w.cpu / w.cpuFor; w.queueFor > 0 {
			out.StoreQueue += w.queue / w.queueFor
		}
	}
	if c.client.queueFor > 0 {
		out.Queue = new(c.client.queue / c.client.queueFor)
	}
	for _, op := range res.Ops {
		out.Under += op.Response.Mean * float64(op.Calls) / float64(res.Measured.Nanoseconds())
	}
	return out
}

// bootFile is where Linux tells the boots of machines apart, for all containers of one alike.
const bootFile = "/proc/sys/kernel/random/boot_id"

// thisMachine returns what no other machine has; "" if the system does not tell.
func thisMachine() string {
	text, err := os.ReadFile(bootFile)
	if err != nil {
		return ""
	}
	id, _, _ := strings.Cut(strings.TrimSpace(string(text)), "-")
	return id
}
