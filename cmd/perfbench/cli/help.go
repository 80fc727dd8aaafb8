package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
)

// Groups are what flags are shown under, in order; those of "" are the command's own.
var Groups = []string{"", Workload, Load, Limits, Comparison, Together, Output, Safety, Screen}

// The names of groups of flags.
const (
	Workload   = request.GroupWorkload
	Load       = request.GroupLoad
	Limits     = request.GroupLimits
	Comparison = request.GroupComparison
	Together   = "Workers"
	Output     = request.GroupOutput
	Safety     = request.GroupSafety
	Screen     = request.GroupScreen
)

const (
	// helpWidth is how wide help is, in cells; flagText is where the text of a flag begins.
	helpWidth, flagText = 80, 29
	inGroup             = "perfbench_group"
)

// Group shows flags under a name, one of the groups above.
func Group(fs *pflag.FlagSet, group string, names ...string) {
	for _, name := range names {
		_ = fs.SetAnnotation(name, inGroup, []string{group}) // the flag exists
	}
}

// GroupOf is the group of a flag, one of Groups.
func GroupOf(f *pflag.Flag) string {
	if g := f.Annotations[inGroup]; len(g) > 0 {
		return g[0]
	}
	return ""
}

var metavar = regexp.MustCompile("^`([^`]+)`:? ")

// Flag is a flag in words: its names, what stands for its value ("" where it takes none),
// and what it does with its default.
func Flag(f *pflag.Flag) (names, value, text string) {
	names = "    --" + f.Name
	if f.Shorthand != "" {
		names = "-" + f.Shorthand + ", --" + f.Name
	}
	value, text = pflag.UnquoteUsage(f)
	if m := metavar.FindStringSubmatch(f.Usage); m != nil {
		text = f.Usage[len(m[0]):]
	}
	if d := strings.Trim(f.DefValue, "[]"); d != "" && d != "0" && d != "false" && !strings.Contains(text, "default") {
		text += " (default " + d + ")"
	}
	return names, value, text
}

// everyday are the flags of a run that most runs need; --help shows no others of its groups.
var everyday = []string{
	"profile", "target", "preset", "file", "set", "threads", "rate", "payload", "warmup", "duration", "count", "threshold",
	"against", "repeat", "out", "format", "password-file", "cleanup", "dry-run", "help",
}

// Help writes all that a command does, in 80 columns.
func Help(w io.Writer, c *cobra.Command) {
	help(w, c, about(c), func(*pflag.Flag) bool { return true })
}

// Brief writes what most people need of a command that does runs, and how to see the rest; of
// any other it writes what [Help] does.
func Brief(w io.Writer, c *cobra.Command) {
	if f := c.Flags().Lookup("profile"); f == nil || GroupOf(f) != Workload {
		Help(w, c)
		return
	}
	first, _, _ := strings.Cut(about(c), "\n\n")
	help(w, c, first, func(f *pflag.Flag) bool { return GroupOf(f) == "" || slices.Contains(everyday, f.Name) })
	fmt.Fprintf(w, "\n%s\n", fill(fmt.Sprintf("These are the flags that most runs need. perfbench help %s shows all of them, and everything else there is to know.", c.Name()), helpWidth))
}

// about says what a command does, in paragraphs.
func about(c *cobra.Command) string {
	if c.Long == "" {
		return c.Short + "."
	}
	return c.Long
}

// help writes a text about a command, how it is called, and those of its flags that are shown.
func help(w io.Writer, c *cobra.Command, about string, shown func(*pflag.Flag) bool) {
	fmt.Fprintf(w, "%s\n\nUsage:\n", fill(about, helpWidth))
	if c.Runnable() {
		fmt.Fprintln(w, command(c.UseLine()))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintln(w, command(c.CommandPath()+" COMMAND"))
	}
	if c.HasExample() {
		fmt.Fprintln(w, "\nExamples:")
		for line := range strings.SplitSeq(c.Example, "\n") {
			fmt.Fprintln(w, command(line))
		}
	}
	if c.HasAvailableSubCommands() {
		commands(w, c, &cobra.Group{Title: "Commands"})
		for _, g := range c.Groups() {
			commands(w, c, g)
		}
	}
	for _, g := range Groups {
		flags(w, c, g, shown)
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help says more about a command.\n", c.CommandPath())
	}
}

// commands writes those of a group, in the order in which they were added.
func commands(w io.Writer, c *cobra.Command, group *cobra.Group) {
	first := true
	for _, s := range c.Commands() {
		if !s.IsAvailableCommand() || s.GroupID != group.ID {
			continue
		}
		if first {
			fmt.Fprintf(w, "\n%s:\n", group.Title)
			first = false
		}
		entry(w, s.Name(), s.Short, 13)
	}
}

// flags writes those of a group that are shown.
func flags(w io.Writer, c *cobra.Command, group string, shown func(*pflag.Flag) bool) {
	first := true
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || GroupOf(f) != group || !shown(f) {
			return
		}
		if first {
			title := "Flags"
			if group != "" {
				title = group
			}
			fmt.Fprintf(w, "\n%s:\n", title)
			first = false
		}
		names, value, text := Flag(f)
		entry(w, strings.TrimRight(names+" "+value, " "), text, flagText-2)
	})
}

// entry writes a name and, beside it from a column on, its text.
func entry(w io.Writer, name, text string, column int) {
	lines := strings.Split(fill(text, helpWidth-column-2), "\n")
	name = "  " + name
	if pad := column - ansi.StringWidth(name); pad > 0 {
		fmt.Fprintf(w, "%s%s  %s\n", name, strings.Repeat(" ", pad), lines[0])
		lines = lines[1:]
	} else {
		fmt.Fprintln(w, name)
	}
	for _, l := range lines {
		fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", column+2), l)
	}
}

// command writes a command line, over several lines where it is too long for one: a flag
// stays with its value.
func command(line string) string {
	var parts []string
	for _, word := range strings.Fields(line) {
		last := len(parts) - 1
		if last > 0 && strings.HasPrefix(parts[last], "-") && !strings.Contains(parts[last], " ") && !strings.HasPrefix(word, "-") {
			parts[last] += " " + word
			continue
		}
		parts = append(parts, word)
	}
	out, open := "", " "
	for i, part := range parts {
		end := helpWidth - len(` \`)
		if i == len(parts)-1 {
			end = helpWidth
		}
		if ansi.StringWidth(open)+1+ansi.StringWidth(part) > end {
			out, open = out+open+" \\\n", "     "
		}
		open += " " + part
	}
	return out + open
}

// fill breaks paragraphs into lines of a width; lines that begin with a blank stay as they
// are.
func fill(text string, width int) string {
	var out, open []string
	flush := func() {
		if len(open) > 0 {
			out = append(out, strings.Join(units.Wrap(strings.Join(open, " "), width), "\n"))
		}
		open = nil
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if line == "" || line[0] == ' ' {
			flush()
			out = append(out, line)
			continue
		}
		open = append(open, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// Broken breaks the sentences of a text that are wider than a terminal between words; width is that of
// the terminal, 0 if there is none. In a row of a table, which has more than one blank between words, its last
// cell is broken, below its beginning, if that has leastCell cells; other rows stay as they are.
func Broken(text string, width int) string {
	if width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if ansi.StringWidth(l) <= width {
			continue
		}
		l = strings.TrimRight(l, " ")
		cell := len(l) - len(strings.TrimLeft(l, " "))
		row := strings.LastIndex(l[cell:], "  ")
		if row >= 0 {
			cell += row + 2
		}
		at := ansi.StringWidth(l[:cell])
		if row >= 0 && width-at < leastCell {
			continue
		}
		lines[i] = l[:cell] + strings.Join(units.Wrap(l[cell:], max(width-at, 1)), "\n"+strings.Repeat(" ", at))
	}
	return strings.Join(lines, "\n")
}

// leastCell is how wide the last cell of a row is at least to be broken.
const leastCell = 30
