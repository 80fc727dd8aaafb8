package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Once makes each flag of a command and of those below it that has one value refuse another one, so
// that of two the last does not win without a word. The same value again changes nothing.
func Once(c *cobra.Command) {
	for _, fs := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		fs.VisitAll(func(f *pflag.Flag) {
			_, list := f.Value.(pflag.SliceValue)
			if _, already := f.Value.(*once); !list && !already {
				f.Value = &once{Value: f.Value}
			}
		})
	}
	for _, below := range c.Commands() {
		Once(below)
	}
}

// once is the value of a flag that is given once. It belongs to the goroutine that reads the flags.
type once struct {
	pflag.Value
	given *string // nil: not yet
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if o.given != nil && *o.given != text {
		return twice{*o.given, text}
	}
	if err := o.Value.Set(text); err != nil {
		return err
	}
	o.given = &text
	return nil
}

// twice says that a flag was given two values.
type twice struct{ first, second string }

// Error says which.
func (t twice) Error() string {
	return fmt.Sprintf("it is given twice, as %s and as %s", t.first, t.second)
}
