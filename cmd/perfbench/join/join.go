// Package join has the commands that make this machine a worker of a run that another
// coordinates, and that tell who has become one.
package join

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfbench/perfbench/cmd/perfbench/call"
	"github.com/perfbench/perfbench/cmd/perfbench/catalogue"
	"github.com/perfbench/perfbench/cmd/perfbench/version"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/fleet"
	"github.com/perfbench/perfbench/internal/fleet/part"
	"github.com/perfbench/perfbench/internal/session"
)

type command struct {
	*call.Call
	tokenFile, passwordFile, fingerprint, authorities string
	creds, nkey, run                                  string
	wait                                              time.Duration
}

// register adds the flags that say how a coordinator is reached.
func (a *command) register(fs *pflag.FlagSet, wait time.Duration) {
	fs.SortFlags = false
	fs.StringVar(&a.tokenFile, "token-file", "", "`FILE` whose first line is the token that the coordinator wants")
	fs.StringVar(&a.fingerprint, "fingerprint", "", "`SHA256` of the coordinator's certificate, as it printed it")
	fs.StringVar(&a.authorities, "tls-ca", "", "`FILE` with those who may have signed the coordinator's certificate, as PEM")
	fs.StringVar(&a.run, "run", "", "`ID` of the run, where several are coordinated over one NATS")
	fs.StringVar(&a.creds, "nats-creds", "", "`FILE` with credentials for a NATS of yours")
	fs.StringVar(&a.nkey, "nats-nkey", "", "`FILE` with the seed of an NKey for a NATS of yours")
	fs.DurationVar(&a.wait, "wait", wait, "`D`: how long to wait for a coordinator that is not there yet")
}

// one refuses anything but one URL.
func one(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fault.Input(fmt.Errorf("%s: it takes the URL of one coordinator, and was given %d arguments", c.Name(), len(args)), "write it like perfbench "+c.Name()+" nats://127.0.0.1:4222")
	}
	return nil
}

// Workers tells who has joined a run.
func Workers(c *call.Call) *cobra.Command {
	a := &command{Call: c}
	cmd := &cobra.Command{
		Use: "workers nats://HOST:PORT", Short: "Tell who has joined a run that has workers, and how they are",
		Example: "  perfbench workers nats://127.0.0.1:4222",
		Args:    one,
		RunE:    func(cmd *cobra.Command, args []string) error { return a.list(cmd.Context(), args[0]) },
	}
	a.register(cmd.Flags(), 0)
	return cmd
}

func (a *command) list(ctx context.Context, target string) error {
	o := fleet.JoinOptions{URL: target, Fingerprint: a.fingerprint, Creds: a.creds, NKey: a.nkey, Run: a.run, Patience: a.wait}
	if _, err := a.check(&o); err != nil {
		return err
	}
	all, err := fleet.Ask(ctx, o)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WORKER\tMACHINE\tPID\tVERSION\tPROCESSORS\tCLOCK\tSTATE")
	for i, m := range all {
		clock := "–"
		if m.Trip > 0 {
			clock = fmt.Sprintf("%+.1f ms", float64(m.Offset.Microseconds())/1000)
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%s\t%d\t%s\t%s\n", i+1, m.Host, m.PID, m.Version, m.CPUs, clock, m.State)
	}
	return w.Flush()
}

// Command makes this machine a worker.
func Command(c *call.Call) *cobra.Command {
	a := &command{Call: c}
	cmd := &cobra.Command{
		Use: "join nats://HOST:PORT", Short: "Work for a run that another perfbench coordinates",
		Long: `join makes this machine a worker of one run: the one that perfbench run … --workers N
coordinates at HOST:PORT. It does its part of the work, tells what it measured, and ends
with the run. It writes no report; the coordinator has all of it.

A worker is of the same version as its coordinator, and has the target's password from
--password-file or PERFBENCH_TARGET_PASSWORD of its own: the coordinator sends none.`,
		Example: `  perfbench join nats://127.0.0.1:4222
  perfbench join tls://10.0.0.5:4222 --token-file token --fingerprint 3f9a…`,
		Args: one,
		RunE: func(cmd *cobra.Command, args []string) error { return a.join(cmd.Context(), args[0]) },
	}
	a.register(cmd.Flags(), time.Minute)
	cmd.Flags().StringVar(&a.passwordFile, "password-file", "", "`FILE` whose first line is the target's password")
	return cmd
}

func (a *command) join(ctx context.Context, target string) error {
	o := fleet.JoinOptions{URL: target, Fingerprint: a.fingerprint, Creds: a.creds, NKey: a.nkey, Run: a.run, Version: version.Of().Version, Patience: a.wait}
	password, err := a.check(&o)
	if err != nil {
		return err
	}
	w, err := fleet.Join(ctx, o)
	if err != nil {
		return err
	}
	return part.Do(ctx, part.Env{
		Profiles: catalogue.Profiles(), Password: password, Log: a.Log,
		Tell: func(sentence string) { fmt.Fprintln(a.Stderr, sentence) },
	}, w)
}

// check reads files and refuses what cannot be right; it returns the target's password.
func (a *command) check(o *fleet.JoinOptions) (password string, err error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls":
		return "", fault.Input(fmt.Errorf("join: %q is not the URL of a coordinator", o.URL), "write it like nats://127.0.0.1:4222")
	case u.User != nil:
		return "", fault.Input(errors.New("join: a token in the URL can be seen by others on this machine"), "use --token-file")
	case a.authorities != "" && o.Fingerprint != "":
		return "", fault.Field("tls-ca", fault.Input(errors.New("tls-ca: with --fingerprint it does not matter who signed the certificate"), "leave one of them out"))
	case a.authorities != "":
		if o.Authorities, err = fleet.ReadAuthorities(a.authorities); err != nil {
			return "", err
		}
	case u.Scheme == "tls" && o.Fingerprint == "":
		return "", fault.Field("fingerprint", fault.Input(errors.New("fingerprint: a tls:// coordinator is known by it, or by who signed its certificate"), "copy what the coordinator printed, or give --tls-ca FILE"))
	case o.Fingerprint != "":
		if err := fleet.CheckFingerprint(o.Fingerprint); err != nil {
			return "", err
		}
	case !fleet.Loopback(u.Hostname()):
		return "", fault.Input(fmt.Errorf("join: %s is another machine, and without TLS anybody on the way could send a plan", u.Hostname()), "have the coordinator use --tls-self-signed, and add --fingerprint with what it printed, or --tls-cert, and add --tls-ca")
	}
	if a.tokenFile != "" {
		if o.Token, err = fleet.ReadToken(a.tokenFile); err != nil {
			return "", err
		}
	}
	if a.passwordFile != "" {
		return session.ReadPassword(a.passwordFile)
	}
	return session.Password(a.Environ), nil
}
