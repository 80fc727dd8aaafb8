package request_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
)

// What is asked for of one field is never taken for another's, and none is lost between
// two requests, in a plan, or until the next time.
func TestEveryFieldIsItsOwn(t *testing.T) {
	seen, letters := map[string]bool{}, map[string]bool{}
	above, below := request.Run{}, request.Run{}
	for _, f := range request.Fields() {
		assert.False(t, seen[f.Name], f.Name)
		assert.False(t, f.Flag.Letter != "" && letters[f.Flag.Letter], f.Name)
		seen[f.Name], letters[f.Flag.Letter] = true, true
		if p := f.Text(&below); p != nil {
			require.Empty(t, *p, f.Name)
			*p = "of " + f.Name
		}
		if p := f.List(&below); p != nil {
			require.Empty(t, *p, f.Name)
			*p = []string{"of " + f.Name, "and more"}
		}
	}
	got := request.Run{Request: above.Request.Over(below.Request), Repeat: above.Repeat.Over(below.Repeat), Name: below.Name}
	for _, f := range request.Fields() {
		if p := f.Text(&got); p != nil {
			assert.Equal(t, "of "+f.Name, *p)
		}
		if p := f.List(&got); p != nil {
			assert.Equal(t, []string{"of " + f.Name, "and more"}, *p, f.Name)
		}
	}
	below.Request.Target, below.Repeat.Against = "redis://a:1", "redis://b:2"
	below.Request.Values = workload.Values{}
	read, err := request.Read("plan.yaml", request.Write("", &request.File{Runs: []request.Run{below}}), nil)
	require.NoError(t, err)
	for _, f := range request.Fields() {
		if p := f.Text(&below); p != nil && f.Name != "name" { // which only a suite has
			assert.Contains(t, *f.Text(&read.Runs[0]), *p, f.Name)
		}
		if p := f.List(&below); p != nil && f.Name != "file" {
			assert.Equal(t, *p, *f.List(&read.Runs[0]), f.Name)
		}
	}
}
