package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/remote/part"
	"github.com/perfbench/perfbench/internal/session"
)

// workerCmd is either of the two commands in one call.
type workerCmd struct {
	*cli.Call
	cli.Reach
	passwordFile string
	target       string
	patience     time.Duration
	stay         bool
}

// oneCoordinator refuses anything but one URL.
func oneCoordinator(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fault.Input(fmt.Errorf("%s: it takes the URL of one coordinator, and was given %d arguments", c.Name(), len(args)), "write it like perfbench "+c.Name()+" nats://127.0.0.1:4222")
	}
	return nil
}

// workersCommand tells who has joined a run.
func workersCommand(c *cli.Call) *cobra.Command {
	a := &workerCmd{Call: c}
	cmd := &cobra.Command{
		Use: "workers nats://HOST:PORT", Short: "Tell who has joined a run that has workers, and how they are",
		Example: "  perfbench workers nats://127.0.0.1:4222",
		Args:    oneCoordinator,
		RunE:    func(cmd *cobra.Command, args []string) error { return a.list(cmd.Context(), args[0]) },
	}
	a.Register(cmd.Flags(), 0)
	return cmd
}

func (a *workerCmd) list(ctx context.Context, target string) error {
	o, err := a.Options("workers", target)
	if err != nil {
		return err
	}
	all, err := remote.Ask(ctx, o)
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

// workerCommand makes this machine a worker.
func workerCommand(c *cli.Call) *cobra.Command {
	a := &workerCmd{Call: c}
	cmd := &cobra.Command{
		Use: "join nats://HOST:PORT", Short: "Work for a run that another perfbench coordinates",
		Long: `join makes this machine a worker of a run: the one that perfbench run … --workers N
coordinates at HOST:PORT. It does its part of the work, tells what it measured, and ends
with the run. Of a sweep, of repetitions and of a suite it does all runs, one after the
other. It writes no report; the coordinator has all of it.

With --stay it waits for another coordinator then, and does run after run until it is
interrupted. A run that fails is told of and does not end it; that it is refused, as for
its version or its clock, does.

A worker is of the same version as its coordinator, and has the target's password from
--password-file or PERFBENCH_TARGET_PASSWORD of its own: the coordinator sends none. With
--target it logs in there alone, whatever a plan says.`,
		Example: `  perfbench join nats://127.0.0.1:4222
  perfbench join nats://127.0.0.1:4222 --stay
  perfbench join tls://10.0.0.5:4222 --token-file token --fingerprint 3f9a…`,
		Args: oneCoordinator,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.join(cmd.Context(), args[0], cmd.Flags().Changed("wait"))
		},
	}
	a.Register(cmd.Flags(), time.Minute)
	cmd.Flags().DurationVar(&a.patience, "patience", remote.DefaultAbsence, "`D`: how long to keep running without a coordinator, during which perfbench resume can start a new one")
	cmd.Flags().BoolVar(&a.stay, "stay", false, "do run after run until interrupted; then --wait is how long it may be without one (default for ever)")
	cmd.Flags().StringVar(&a.passwordFile, "password-file", "", "`FILE` whose first line is the target's password")
	cmd.Flags().StringVar(&a.target, "target", "", "`PATTERN` of the targets that this worker logs in at, as redis://*.example.org; a plan with another is refused (default: any)")
	return cmd
}

// join does runs; limited says that somebody said how long to wait for one.
func (a *workerCmd) join(ctx context.Context, target string, limited bool) error {
	o, err := a.Options("join", target)
	if err != nil {
		return err
	}
	if o.Stay = a.stay; o.Stay {
		if o.Run != "" {
			return fault.Field("stay", fault.Input(errors.New("stay: --run names one run, and a worker that stays does any"), "leave one of them out"))
		}
		if !limited {
			o.Patience = -1
		}
	}
	o.Version = cli.Of().Version
	password := session.Password(a.Environ)
	if a.passwordFile != "" {
		if password, err = session.ReadPassword(a.passwordFile); err != nil {
			return err
		}
	}
	if a.patience <= 0 {
		return fault.Field("patience", fault.Input(fmt.Errorf("patience: %s is not a valid waiting time", a.patience), "write it like --patience 5m"))
	}
	if a.target != "" {
		if err := part.CheckPattern(a.target); err != nil {
			return err
		}
	}
	a.Begin()
	return part.All(ctx, part.Env{
		Profiles: cli.Profiles(), Password: password, Target: a.target, Log: a.Log, Patience: a.patience,
		Say: func(sentence string) { fmt.Fprintln(a.Stderr, sentence) },
	}, o)
}
