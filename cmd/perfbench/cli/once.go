package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Once has each flag of a command and of those below it that takes one value say on warn when it is
// given another one. The last counts, as usual, so that an alias may have defaults; but not without a
// word. The same value again is no news.
func Once(c *cobra.Command, warn io.Writer) {
	for _, fs := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		fs.VisitAll(func(f *pflag.Flag) {
			_, list := f.Value.(pflag.SliceValue)
			if _, already := f.Value.(*once); !list && !already {
				f.Value = &once{Value: f.Value, name: f.Name, warn: warn}
			}
		})
	}
	for _, below := range c.Commands() {
		Once(below, warn)
	}
}

// once is the value of a flag that takes one. It belongs to the goroutine that reads the flags.
type once struct {
	pflag.Value
	name  string
	warn  io.Writer
	given *string // nil: not yet
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if err := o.Value.Set(text); err != nil {
		return err
	}
	if o.given != nil && *o.given != text {
		fmt.Fprintf(o.warn, "warning: --%s is given twice, as %s and as %s; %[3]s counts\n", o.name, *o.given, text)
	}
	o.given = &text
	return nil
}
