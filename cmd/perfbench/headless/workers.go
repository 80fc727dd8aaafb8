package headless

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/fleet"
	"github.com/perfbench/perfbench/internal/fleet/crew"
	"github.com/perfbench/perfbench/internal/session"
)

// workers is what was asked of other processes that do the work.
type workers struct {
	n                 int
	listen, tokenFile string
	tls               bool
}

// register adds the flags.
func (w *workers) register(c *cobra.Command) {
	fs := c.Flags()
	fs.IntVar(&w.n, "workers", 0, "`N`: have N processes do the work, which join with perfbench join")
	fs.StringVar(&w.listen, "listen", "", "`ADDR` where workers join (default "+fleet.DefaultListen+"); beyond this machine it takes the next two, too")
	fs.StringVar(&w.tokenFile, "token-file", "", "`FILE` whose first line is a token that workers must bring")
	fs.BoolVar(&w.tls, "tls-self-signed", false, "let workers in by TLS only; prints the fingerprint that they are given")
}

// asked says whether there are to be workers.
func (w *workers) asked() bool { return w.n != 0 }

// check refuses flags that say nothing without workers.
func (w *workers) check() error {
	if !w.asked() && (w.listen != "" || w.tokenFile != "" || w.tls) {
		return fault.Field("workers", fault.Input(errors.New("workers: --listen, --token-file and --tls-self-signed are about workers, and there are none"), "say how many with --workers N"))
	}
	return nil
}

// of returns p with workers where there are to be any. alone says that it is a single run.
func (w *workers) of(p *session.Prepared, alone bool) (*session.Prepared, error) {
	if !w.asked() || p == nil {
		return p, nil
	}
	if !alone {
		return nil, fault.Field("workers", fault.Input(errors.New("workers: only a single run can have workers yet, no search, sweep or repetition"), "leave --workers out, or do the runs one by one"))
	}
	a := crew.Ask{Workers: w.n, Listen: cmp.Or(w.listen, fleet.DefaultListen), SelfSigned: w.tls}
	if w.tokenFile != "" {
		var err error
		if a.Token, err = fleet.ReadToken(w.tokenFile); err != nil {
			return nil, err
		}
	}
	return p.WithWorkers(a)
}
