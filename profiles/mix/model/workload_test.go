package model_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/profiles/mix/model"
)

func TestKeys(t *testing.T) {
	for _, f := range []model.KeyForm{{}, {Length: 10}, {Prefix: "user", Length: 12}, {Prefix: "user:", Length: 3}, {Length: model.LongestKey}} {
		for _, n := range []int64{0, 1, 9, 10, 42, 99, 100, 101, 12_345, 1_000_000, 1<<62 - 1} {
			want := fmt.Sprintf("%s%0*d", f.Prefix, max(f.Length-len(f.Prefix), 0), n)
			assert.Equal(t, want, string(f.Append(nil, n)))
		}
	}
	seen := map[string]bool{}
	h := model.KeyForm{Hashed: true}
	for n := range int64(10_000) {
		seen[string(h.Append(nil, n))] = true
	}
	assert.Len(t, seen, 10_000, "scattered one to one")
}
