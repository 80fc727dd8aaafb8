package headless

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
)

// Resume goes on with a run of workers whose coordinator died.
func Resume(c *cli.Call) *cobra.Command {
	a, f := command{c}, &cli.Flags{Theme: "auto"}
	var runs, passwordFile string
	cmd := &cobra.Command{
		Use: "resume RUN", Short: "Go on with a run of workers whose coordinator died",
		Long: `resume goes on with a run of workers (perfbench run … --workers N) whose coordinator was
killed, or whose machine was restarted. RUN is its folder, its id, or latest.

Workers go on without a coordinator for five minutes (perfbench join --patience). resume
listens where the run did, or uses the same NATS, reads again what workers have sent since the
beginning, takes over the lease of the data, and brings the run to its end: figures,
verification and report are of the whole run. The verdict says for how long there was no
coordinator.

Settings, the certificate of --tls-self-signed and where the files of secrets are were kept in
the run's folder. The target's password was not: it is given by --password-file or
PERFBENCH_TARGET_PASSWORD. Exit codes are those of run.`,
		Example: "  perfbench resume latest",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.Input(fmt.Errorf("resume: it takes one run, and was given %d arguments", len(args)), "write it like perfbench resume latest")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if v, ok := a.Getenv(request.EnvPrefix + "OUT"); ok && v != "" && !cmd.Flags().Changed("runs") {
				runs = v
			}
			dir, err := rundir.Find(runs, args[0])
			if err != nil {
				return err
			}
			return a.resume(cmd.Context(), f, dir, passwordFile)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return cli.Runs(runs), cobra.ShellCompDirectiveDefault
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&runs, "runs", session.DefaultOut, "`DIR` where to look for runs")
	fs.StringVar(&passwordFile, "password-file", "", "`FILE` its first line is the target's password")
	fs.BoolVar(&a.AllowExec, "allow-exec", false, "let faults of its timetable run their commands")
	fs.BoolVarP(&f.Quiet, "quiet", "q", false, "print errors and the path of the report only")
	fs.BoolVar(&f.Plain, "plain", false, "no symbols, for screen readers")
	fs.BoolVar(&f.JSON, "json", false, "print run.json on one line, in place of the summary")
	return cmd
}

// resume goes on with the run in a folder.
func (a command) resume(ctx context.Context, f *cli.Flags, dir, passwordFile string) error {
	password := session.Password(a.Environ)
	if passwordFile != "" {
		var err error
		if password, err = session.ReadPassword(passwordFile); err != nil {
			return err
		}
	}
	p, err := session.Revive(ctx, a.Session(), dir, password)
	if err != nil {
		return err
	}
	_, err = a.run(ctx, f, p, Beside{})
	return err
}
