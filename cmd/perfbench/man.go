package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfbench/perfbench/cmd/perfbench/call"
	"github.com/perfbench/perfbench/cmd/perfbench/usage"
	"github.com/perfbench/perfbench/cmd/perfbench/version"
)

func manCommand(a *call.Call) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Write the manual page",
		Example: "  perfbench man | man -l -",
		Args:    usage.None(nil),
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := a.Stdout.Write([]byte(manPage(c.Root())))
			return err
		},
	}
}

// manPage is the whole manual as one page in the man macros.
func manPage(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH PERFBENCH 1 \"\" %q \"User Commands\"\n", "perfbench "+version.Of().Version)
	fmt.Fprintf(&b, ".SH NAME\nperfbench \\- %s\n", roff(strings.ToLower(root.Short[:1])+root.Short[1:]))
	b.WriteString(".SH SYNOPSIS\n.B perfbench\n.I command\n.RI [ flags ]\n")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n.SH COMMANDS\n", roff(root.Long))
	manCommands(&b, root)
	b.WriteString(".SH ENVIRONMENT\nEach flag of run is also read from a variable PERFBENCH_NAME, and so is each knob and parameter. " +
		"PERFBENCH_TARGET_PASSWORD is the password of the target.\n")
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range [][2]string{
		{"0", "the run reached its end; single operations may have failed"},
		{"1", "anything else, a full disk included"},
		{"2", "bad input, or a space that is not ours: nothing was started"},
		{"3", "the store cannot be reached, refuses, or lacks what is needed"},
		{"4", "verification failed"},
		{"5", "a threshold was missed, or a comparison came out worse"},
		{"130", "interrupted; the report of what was measured is written"},
	} {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", e[0], e[1])
	}
	return b.String()
}

func manCommands(b *strings.Builder, parent *cobra.Command) {
	for _, c := range parent.Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		fmt.Fprintf(b, ".SS %s\n%s\n", roff(strings.TrimSpace(parent.CommandPath()+" "+c.Use)), roff(text))
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			kind, usage := pflag.UnquoteUsage(f)
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			fmt.Fprintf(b, ".TP\n\\fB%s\\fR \\fI%s\\fR\n%s\n", roff(name), roff(kind), roff(usage))
		})
		if c.Example != "" {
			fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(c.Example))
		}
		manCommands(b, c)
	}
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
