package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listed is what a list command writes on a terminal of some width; 0 is a pipe.
func listed(t *testing.T, width int, args ...string) (lines []string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(context.Background(), Env{Args: append([]string{"list"}, args...), Stdout: &out, Stderr: &errs, StdoutWidth: width})
	require.Zero(t, code, errs.String())
	return strings.Split(out.String(), "\n")
}

func TestListsFitTheScreen(t *testing.T) {
	lists := [][]string{{"profiles"}, {"stores"}, {"formats"}}
	for _, name := range storeNames() {
		lists = append(lists, []string{"stores", name})
	}
	for _, p := range allProfiles() {
		if p.Design != nil {
			lists = append(lists, []string{"presets", p.Name}, []string{"knobs", p.Name})
		}
	}
	for _, list := range lists {
		for _, width := range []int{0, 80, 200} {
			if width == 80 && list[0] == "knobs" {
				continue // names, defaults and ranges alone take more
			}
			want := widest
			if width > 0 {
				want = min(width, widest)
			}
			for _, line := range listed(t, width, list...) {
				assert.LessOrEqual(t, ansi.StringWidth(line), want, "list %v at %d: %s", list, width, line)
			}
		}
	}
}

func TestColumnsKeepEveryWord(t *testing.T) {
	rows := [][]string{
		{"NAME", "VALUES", "WHAT IT IS"},
		{"event-store", "SINGLE_ROOT|MULTI_ROOT|MIXED", "a name with a-hyphen stays whole, a list does not"},
		{"x", "", "-1000000000000..1000000000000"},
	}
	var b bytes.Buffer
	columns(&b, 60, rows)
	assert.Equal(t, `NAME         VALUES                  WHAT IT IS
event-store  SINGLE_ROOT|            a name with a-hyphen
             MULTI_ROOT|MIXED        stays whole, a list
                                     does not
x                                    -1000000000000..
                                     1000000000000
`, b.String())
}
