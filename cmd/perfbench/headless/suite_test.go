package headless

import (
	"errors"
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/cmd/perfbench/call"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/planfile"
)

func TestTheCodeOfASuiteIsThatOfItsWorstRun(t *testing.T) {
	for _, c := range []struct {
		codes []int
		want  int
	}{
		{[]int{0, 0}, 0}, {[]int{5, 0}, 5}, {[]int{5, 4, 0}, 4}, {[]int{3, 5}, 3}, {[]int{1, 3}, 1}, {[]int{0, 1, 130}, 130},
	} {
		var list []error
		for _, code := range c.codes {
			if code != 0 {
				list = append(list, fault.Code(errors.New("x"), code))
			}
		}
		assert.Equal(t, c.want, worst(list), c.codes)
	}
}

// A flag that a plan cannot say would make a plan less than a command line.
func TestEveryFlagOfARunIsAWordOfAPlan(t *testing.T) {
	words := []string{"set"}
	for _, q := range planfile.Keys() {
		words = append(words, q.Name)
	}
	Command(&call.Call{}, Makes{}).Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains([]string{"dry-run", "quiet", "plain", "ascii", "theme", "help"}, f.Name) { // of the terminal
			assert.Contains(t, words, f.Name)
			words = slices.DeleteFunc(words, func(w string) bool { return w == f.Name })
		}
	})
	assert.Equal(t, []string{"name"}, words, "and the other way round")
}
