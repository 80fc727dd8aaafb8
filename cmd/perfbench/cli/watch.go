package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
)

// Watch is the run to be watched that another process drives.
type Watch struct{ which, fingerprint, run string }

// Register adds the flags to a command that has those of Workers.
func (w *Watch) Register(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&w.which, "watch", "", "`RUN` show a run that goes on in another terminal, and turn its knobs: latest, its id or folder; or nats://HOST:PORT of the coordinator of workers")
	fs.StringVar(&w.fingerprint, "fingerprint", "", "`SHA256` of the certificate of the coordinator that is watched")
	fs.StringVar(&w.run, "run", "", "`ID` of the run to be watched, where several are coordinated over one NATS")
	Group(fs, Screen, "watch")
	Group(fs, Together, "fingerprint", "run")
	_ = c.RegisterFlagCompletionFunc("watch", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		out, _ := c.Flags().GetString("out")
		return goingOn(orDefault(out)), NoFiles
	}) // the flag exists
}

// goingOn are the runs of a folder that are still going, as a shell offers them: the newest first, with
// what each is.
func goingOn(out string) (ids []string) {
	list, _, _ := new(rundir.Lister).List(out) // without a folder there is none
	for _, e := range list {
		if e.Run.EndedBy == rundir.StillRunning {
			ids = append(ids, cobra.CompletionWithDesc(e.Run.ID, e.Run.Profile+" on "+e.Run.Target+", began at "+e.Run.Started.Local().Format(time.TimeOnly)))
		}
	}
	if len(ids) > 0 {
		ids = append(ids, cobra.CompletionWithDesc("latest", "the one that began last"))
	}
	return ids
}

// besides are the flags that say something about watching, beside those of the screen.
var besides = []string{"watch", "fingerprint", "run", "token-file", "tls-ca", "nats-creds", "nats-nkey", "out"}

// Of says how the run is reached that is to be watched; false: none is. own are the flags of
// the same command, out is the folder of runs. Errors are of input.
func (w *Watch) Of(c *cobra.Command, args []string, own *Workers, out string) (o Watched, asked bool, err error) {
	if w.which == "" {
		if w.fingerprint != "" || w.run != "" {
			return o, false, fault.Field("watch", fault.Input(errors.New("watch: --fingerprint and --run are for a run that is watched, and --watch names none"), "say which with --watch"))
		}
		return o, false, nil
	}
	refuse := func(what string) error {
		return fault.Field("watch", fault.Input(fmt.Errorf("watch: %s is for a run of your own, and this one is driven by another", what), "leave it out"))
	}
	if len(args) > 0 {
		return o, true, refuse(args[0])
	}
	c.Flags().Visit(func(p *pflag.Flag) {
		if err == nil && !slices.Contains(besides, p.Name) && GroupOf(p) != Screen {
			err = refuse("--" + p.Name)
		}
	})
	if err != nil {
		return o, true, err
	}
	r := Reach{tokenFile: own.tokenFile, fingerprint: w.fingerprint, authorities: own.tlsCA, creds: own.creds, nkey: own.nkey, run: w.run}
	at := w.which
	if !strings.Contains(at, "://") {
		dir, err := rundir.Find(orDefault(out), at)
		if err != nil {
			return o, true, err
		}
		own := crew.Reach(dir)
		if own == nil {
			return Watched{Dir: dir}, true, nil
		}
		where, ok := crew.Find(dir)
		if !ok {
			return o, true, fault.Field("watch", own)
		}
		at, r.run = where.URL, where.Run
		if r.authorities == "" && r.fingerprint == "" {
			r.fingerprint = where.Fingerprint
		}
	}
	o.At, err = r.Options("watch", at)
	return o, true, err
}

// Watched says how a run is reached that another process drives: through its folder on this
// machine or, without one, at its coordinator.
type Watched struct {
	Dir string
	At  remote.JoinOptions
}

func orDefault(out string) string {
	if out == "" {
		return session.DefaultOut
	}
	return out
}
