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
		var list []went
		for _, code := range c.codes {
			w := went{}
			if code != 0 {
				w.err = fault.Code(errors.New("x"), code)
			}
			list = append(list, w)
		}
		assert.Equal(t, c.want, worst(list), c.codes)
	}
}

// A flag that a plan cannot say would make a plan less than a command line.
func TestEveryFlagOfARunIsAWordOfAPlan(t *testing.T) {
	ofTheTerminal := []string{"dry-run", "quiet", "plain", "ascii", "theme", "help"}
	words := []string{"set"}
	for _, q := range planfile.Keys() {
		words = append(words, q.Name)
	}
	Command(&call.Call{}).Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(ofTheTerminal, f.Name) {
			assert.Contains(t, words, f.Name)
			words = slices.DeleteFunc(words, func(w string) bool { return w == f.Name })
		}
	})
	assert.Equal(t, []string{"name"}, words, "and the other way round")
}
