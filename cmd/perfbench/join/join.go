// Package join is the command that makes this machine a worker of a run that another
// coordinates.
package join

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

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
	tokenFile, passwordFile, fingerprint string
	wait                                 time.Duration
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
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.Input(fmt.Errorf("join: it takes the URL of one coordinator, and was given %d arguments", len(args)), "write it like perfbench join nats://127.0.0.1:4222")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.join(cmd.Context(), args[0]) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&a.tokenFile, "token-file", "", "`FILE` whose first line is the token that the coordinator wants")
	fs.StringVar(&a.fingerprint, "fingerprint", "", "`SHA256` of the coordinator's certificate, as it printed it")
	fs.StringVar(&a.passwordFile, "password-file", "", "`FILE` whose first line is the target's password")
	fs.DurationVar(&a.wait, "wait", time.Minute, "`D`: how long to wait for a coordinator that is not there yet")
	return cmd
}

func (a *command) join(ctx context.Context, target string) error {
	o := fleet.JoinOptions{URL: target, Fingerprint: a.fingerprint, Version: version.Of().Version, Patience: a.wait}
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
	case u.Scheme == "tls" && o.Fingerprint == "":
		return "", fault.Field("fingerprint", fault.Input(errors.New("fingerprint: a tls:// coordinator is known by it, and there is none"), "copy what the coordinator printed"))
	case o.Fingerprint != "":
		if err := fleet.CheckFingerprint(o.Fingerprint); err != nil {
			return "", err
		}
	case !fleet.Loopback(u.Hostname()):
		return "", fault.Input(fmt.Errorf("join: %s is another machine, and without TLS anybody on the way could send a plan", u.Hostname()), "have the coordinator use --tls-self-signed, and add --fingerprint with what it printed")
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
