package design

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// A file that names groups without end is refused before any of them is made.
func TestGroupsHaveALimit(t *testing.T) {
	for _, between := range []string{",", "&"} {
		text := "groupNames=" + strings.Repeat("g"+between, 100_000) + "g\ng.operations=putall\n"
		vs, _, err := readOne(workload.File{Path: "g.properties", Data: []byte(text)})
		require.NoError(t, err)
		in := workload.Inputs{Values: workload.Values{}, Driver: "memory"}
		for _, p := range Params() {
			in.Values.Set(workload.Value{Name: p.Name, Text: p.Default, Origin: workload.OriginDefault})
		}
		for _, v := range vs {
			v.Origin = workload.OriginFile
			in.Values.Set(v)
		}
		_, _, err = Design(in)
		require.ErrorContains(t, err, "100001 groups are more than 1000")
	}
}
