package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

func TestColumnsKeepEveryWord(t *testing.T) {
	rows := [][]string{
		{"NAME", "VALUES", "WHAT IT IS"},
		{"event-store", "SINGLE_ROOT|MULTI_ROOT|MIXED", "a name with a-hyphen stays whole, a list does not"},
		{"x", "", "-1000000000000..1000000000000"},
		{"y", "10,20,30,40,50,60,70,80,90,95", "a list, or 10 of 1,000,000 entries"},
	}
	var b bytes.Buffer
	cli.Columns(&b, 60, rows)
	assert.Equal(t, `NAME         VALUES                  WHAT IT IS
event-store  SINGLE_ROOT|            a name with a-hyphen
             MULTI_ROOT|MIXED        stays whole, a list
                                     does not
x                                    -1000000000000..
                                     1000000000000
y            10,20,30,40,50,60,70,   a list, or 10 of
             80,90,95                1,000,000 entries
`, b.String())
}
