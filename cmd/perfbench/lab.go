package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/lab/powercut"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

func labNames() []string {
	var out []string
	for _, s := range lab.Services() {
		out = append(out, s.Name)
	}
	return out
}

// labCmd is the command in one call.
type labCmd struct{ *cli.Call }

// labCommand starts and stops disposable real servers.
func labCommand(c *cli.Call) *cobra.Command { return labCmd{c}.tree() }

func (a labCmd) tree() *cobra.Command {
	c := &cobra.Command{
		Use: "lab", Short: "Disposable real servers on this machine",
		Long: `lab starts real servers on free loopback ports, each with a folder of its own,
from programs on the PATH. It installs nothing, ends only what it started, and
deletes the data on down. A running one is a target: --target lab:redis`,
		Args: cli.NoSuchCommand, RunE: cli.SubcommandNeeded,
	}
	c.AddCommand(a.labUp(), a.labDown(), a.labStatus(), a.labHeal(), a.labDisk())
	return c
}

func (a labCmd) labUp() *cobra.Command {
	var (
		port     int
		powerCut bool
		set      []string
	)
	c := &cobra.Command{
		Use: "up NAME...", Short: "Start servers: " + strings.Join(labNames(), ", "),
		Long: `up starts servers without persistence, or with as little as they can do with.
--set gives a server settings of its own, by the names of its configuration file.

With --power-cut, the data are on a file system that keeps what the server has not
synced in memory, and loses it with the fault power-cut. It needs Linux with
/dev/fuse and the right to mount. PostgreSQL and MariaDB then sync what they commit
unless they are set otherwise, which they do not do without it.`,
		Example:   "  perfbench lab up redis\n  perfbench lab up redis --power-cut --set appendonly=yes --set appendfsync=always",
		ValidArgs: labNames(), Args: cli.OneOf("service", 1, len(labNames()), labNames()...),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := a.LabDir()
			if err != nil {
				return err
			}
			o := lab.Options{Port: port, Environ: a.Environ, Progress: a.step}
			if o.Args, err = serverArgs(set); err != nil {
				return err
			}
			if powerCut {
				program, err := os.Executable()
				if err != nil {
					return err
				}
				o.Disk = []string{program, "lab", "disk"}
			}
			a.Begin()
			for _, name := range args {
				st, err := lab.Up(c.Context(), dir, name, o)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.Stdout, "%s %s is running: %s or %s\n", st.Name, st.Version, lab.Use(st.Name), st.URL)
			}
			return nil
		},
	}
	c.Flags().IntVar(&port, "port", 0, "`N` port, for a service of one server; 0 picks a free one")
	c.Flags().BoolVar(&powerCut, "power-cut", false, "have the data on a file system that loses what was not synced, for the fault power-cut")
	c.Flags().StringArrayVar(&set, "set", nil, "`NAME=VALUE` a setting of the server, as in its configuration file; repeatable")
	return c
}

// serverArgs turns settings into arguments of a server; nil if there are none.
func serverArgs(set []string) (args []string, err error) {
	for _, s := range set {
		name, value, ok := strings.Cut(s, "=")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.HasPrefix(value, "--") || strings.HasPrefix(name, "-") {
			return nil, fault.Input(fmt.Errorf("--set %s: it is not NAME=VALUE", s), "for example --set appendfsync=always")
		}
		args = append(args, "--"+name, value)
	}
	return args, nil
}

// labDisk is what lab starts to serve a file system; users have no use for it.
func (a labCmd) labDisk() *cobra.Command {
	return &cobra.Command{
		Use: "disk FOLDER AT", Short: "Serve a file system whose power can be cut", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			a.Begin()
			return powercut.Serve(c.Context(), args[0], args[1])
		},
	}
}

// rolesOf says which servers have which roles; "" if there are none.
func rolesOf(s lab.State) string {
	count := map[string]int{}
	for _, p := range s.Processes {
		count[p.Role]++
	}
	var out []string
	for _, p := range s.Processes {
		if p.Role == "" {
			continue
		}
		is := fmt.Sprintf("%s is the %s", p.Name, p.Role)
		if count[p.Role] > 1 {
			is = fmt.Sprintf("%s is a %s", p.Name, p.Role)
		}
		if p.Of != "" {
			is = fmt.Sprintf("%s is the %s of %s", p.Name, p.Role, p.Of)
		}
		if p.Behind != "" {
			is += " (behind by " + p.Behind + ")"
		}
		out = append(out, is)
	}
	return strings.Join(out, ", ")
}

// step shows what the lab is doing.
func (a labCmd) step(s string) { fmt.Fprintln(a.Stderr, s) }

func (a labCmd) labDown() *cobra.Command {
	return &cobra.Command{
		Use: "down [NAME...]", Short: "Stop servers and delete their data; without NAME, all of them",
		ValidArgs: labNames(), Args: cli.OneOf("service", 0, len(labNames()), labNames()...),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := a.LabDir()
			if err != nil {
				return err
			}
			names, every := args, len(args) == 0
			if every {
				names = labNames()
			}
			ended := 0
			a.Begin()
			for _, name := range names {
				err := lab.Down(c.Context(), dir, name, a.step)
				if every && errors.Is(err, lab.ErrNotRunning) {
					continue
				}
				if err != nil {
					return err
				}
				ended++
				fmt.Fprintln(a.Stdout, name+" is down, its data deleted")
			}
			if ended == 0 {
				fmt.Fprintln(a.Stdout, "nothing is running")
			}
			return nil
		},
	}
}

// owedOf says what a command has broken, and by which other it is put right.
func owedOf(o *lab.Owed) string {
	return fmt.Sprintf("%s was run at %s, and %s, which puts it right, was not", workload.JoinWords(o.Broke), o.Began.Format("15:04:05"), workload.JoinWords(o.Heal))
}

// owed runs the commands of users that put right what others have broken, if they may be run.
func (a labCmd) owed(c *cobra.Command, dir string, allowed bool) (done int, err error) {
	all, err := lab.AllOwed(dir)
	for i := 0; err == nil && i < len(all); i++ {
		o := &all[i]
		if !allowed {
			return done, fault.Input(fmt.Errorf("lab heal: %s; that takes --allow-exec on the command line", owedOf(o)), "perfbench lab heal --allow-exec, if you know what the command does")
		}
		note, err := session.RunCommand(c.Context(), o.Heal, a.Environ, o.Dir)
		if err != nil {
			return done, fault.Hint(fmt.Errorf("lab heal: %w", err), "it stays noted; run it by hand in "+o.Dir+", or once more")
		}
		if err := o.Settle(); err != nil {
			return done, err
		}
		done++
		fmt.Fprintln(a.Stdout, note)
	}
	return done, err
}

func (a labCmd) labHeal() *cobra.Command {
	var allowed bool
	c := &cobra.Command{
		Use: "heal [NAME...]", Short: "Put right what faults of a run left broken; without NAME, of all",
		Long: `heal lets paused servers go on, and starts again those that have ended, with the
data that they still have. A run puts right what it broke; heal is for what is
left when it was killed. With --allow-exec it also runs the commands by which faults
that were commands (exec:) are put right, where the run could not.`,
		ValidArgs: labNames(), Args: cli.OneOf("service", 0, len(labNames()), labNames()...),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := a.LabDir()
			if err != nil {
				return err
			}
			names, every := args, len(args) == 0
			if every {
				names = labNames()
			}
			healed := 0
			a.Begin()
			for _, name := range names {
				done, err := lab.Heal(c.Context(), dir, name, nil)
				if every && errors.Is(err, lab.ErrNotRunning) {
					continue
				}
				for _, what := range done {
					fmt.Fprintf(a.Stdout, "%s: %s\n", name, what)
				}
				if err != nil {
					return err
				}
				healed += len(done)
			}
			if every {
				done, err := a.owed(c, dir, allowed)
				if healed += done; err != nil {
					return err
				}
			}
			if healed == 0 {
				fmt.Fprintln(a.Stdout, "nothing is broken")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&allowed, "allow-exec", false, "run the commands that put right what commands of faults have broken")
	return c
}

func (a labCmd) labStatus() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Show what is running, with its URLs, and who is the primary",
		Args: cli.None(nil),
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := a.LabDir()
			if err != nil {
				return err
			}
			all, err := lab.Status(dir)
			for i := range all {
				all[i] = lab.Look(c.Context(), dir, all[i])
			}
			owed, bad := lab.AllOwed(dir)
			err = errors.Join(err, bad)
			for i := range owed {
				fmt.Fprintf(a.Stderr, "%s; perfbench lab heal --allow-exec runs it\n", owedOf(&owed[i]))
			}
			if asJSON {
				if all == nil {
					all = []lab.State{}
				}
				return errors.Join(cli.JSON(a.Stdout, all), fault.Code(err, fault.CodeOther))
			}
			if len(all) == 0 && err == nil {
				fmt.Fprintln(a.Stdout, "nothing is running; start something with  perfbench lab up redis")
				return nil
			}
			cli.Table(a.Stdout, func(row func(...string)) {
				row("SERVICE", "STATUS", "VERSION", "UP", "URL")
				for _, s := range all {
					row(s.Name, string(s.Condition), s.Version, units.Length(s.Uptime()), s.URL)
				}
			})
			for _, s := range all {
				if roles := rolesOf(s); roles != "" {
					fmt.Fprintf(a.Stdout, "%s: %s\n", s.Name, roles)
				}
				if broken := s.Broken(); s.Disk != nil && !s.Disk.Alive && len(broken) > 0 {
					fmt.Fprintf(a.Stdout, "%s: %s; perfbench lab down %s deletes what is left\n", s.Name, strings.Join(broken, ", "), s.Name)
				} else if len(broken) > 0 {
					fmt.Fprintf(a.Stdout, "%s: %s; perfbench lab heal %s puts it right\n", s.Name, strings.Join(broken, ", "), s.Name)
				}
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}
