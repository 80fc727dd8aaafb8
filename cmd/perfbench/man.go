package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
)

func manCommand(a *cli.Call) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "man [COMMAND...]", Short: "Write the manual page of a command, or all of them into a folder",
		Example: `  perfbench man | man -l -
  perfbench man history prune | man -l -
  perfbench man --dir /usr/local/share/man/man1`,
		RunE: func(c *cobra.Command, args []string) error {
			if dir != "" && len(args) > 0 {
				return fault.Input(fmt.Errorf("man: --dir writes the pages of all commands, not that of %s", strings.Join(args, " ")), "leave one of them out")
			}
			if dir != "" {
				return manPages(dir, c.Root())
			}
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cli.NoSuchCommand(c.Root(), args)
			}
			_, err = a.Stdout.Write([]byte(manPage(of)))
			return err
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "`DIR` write a page for each command there: perfbench.1, perfbench-run.1 …")
	return c
}

// manPages writes the page of a command and of all below it into a folder.
func manPages(dir string, c *cobra.Command) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write manual pages: %w", err)
	}
	for _, c := range described(c) {
		if err := os.WriteFile(filepath.Join(dir, manName(c)+".1"), []byte(manPage(c)), 0o644); err != nil {
			return fmt.Errorf("write manual pages: %w", err)
		}
	}
	return nil
}

// described is a command and all below it that help shows.
func described(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, s := range c.Commands() {
		if s.IsAvailableCommand() {
			all = append(all, described(s)...)
		}
	}
	return all
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is the page of one command in the man macros, in the words of its help.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	fmt.Fprintf(&b, ".TH %s 1 \"\" %q \"User Commands\"\n", strings.ToUpper(manName(c)), "perfbench "+cli.Of().Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(c)), roff(strings.ToLower(c.Short[:1])+c.Short[1:]))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n", roff(c.UseLine()))
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "%s\n", roff(c.CommandPath()+" COMMAND [flags]"))
	}
	fmt.Fprintf(&b, ".fi\n.SH DESCRIPTION\n%s\n", roff(about))
	if c.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, s := range c.Commands() {
			if s.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(s.Name()), roff(s.Short))
			}
		}
	}
	manFlags(&b, c)
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	if c.HasParent() {
		manAlso(&b, c)
		return b.String()
	}
	b.WriteString(".SH ENVIRONMENT\nEach flag of run is also read from a variable PERFBENCH_NAME, and so is each knob and parameter. " +
		"PERFBENCH_TARGET_PASSWORD is the password of the target.\n.SH EXIT STATUS\n")
	for _, e := range exits {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", e[0], e[1])
	}
	manAlso(&b, c)
	return b.String()
}

// exits are the exit codes and what they mean.
var exits = [][2]string{
	{"0", "the run reached its end; single operations may have failed"},
	{"1", "anything else, a full disk included"},
	{"2", "bad input, or a space that is not ours: nothing was started"},
	{"3", "the store cannot be reached, refuses, or lacks what is needed"},
	{"4", "verification failed"},
	{"5", "a threshold was missed, or a comparison came out worse"},
	{"130", "interrupted; the report of what was measured is written"},
}

// manFlags writes the flags of a command, under the groups that help has them under.
func manFlags(b *strings.Builder, c *cobra.Command) {
	for _, group := range cli.Groups {
		title := "OPTIONS"
		if group != "" {
			title = strings.ToUpper(group)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || cli.GroupOf(f) != group {
				return
			}
			if title != "" {
				fmt.Fprintf(b, ".SH %s\n", title)
				title = ""
			}
			names, value, text := cli.Flag(f)
			if value != "" {
				value = ` \fI` + roff(value) + `\fR`
			}
			fmt.Fprintf(b, ".TP\n\\fB%s\\fR%s\n%s\n", roff(strings.TrimSpace(names)), value, roff(text))
		})
	}
}

// manAlso names the pages above and below.
func manAlso(b *strings.Builder, c *cobra.Command) {
	var also []string
	for p := c.Parent(); p != nil; p = p.Parent() {
		also = append(also, roff(manName(p))+"(1)")
	}
	for _, s := range c.Commands() {
		if s.IsAvailableCommand() {
			also = append(also, roff(manName(s))+"(1)")
		}
	}
	fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", strings.Join(also, ", "))
}

// roff escapes text for the man macros.
func roff(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.ReplaceAll(s, "-", `\-`)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
		if l == "" {
			lines[i] = ".PP"
		}
	}
	return strings.Join(lines, "\n")
}
