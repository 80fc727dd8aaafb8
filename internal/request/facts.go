package request

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// ReadFacts reads a --facts file for the requested formats, each of which must accept
// it; all lists every known format. Errors have the code of bad input.
func ReadFacts(path string, formats, all []rundir.Format) ([]byte, error) {
	var readers, asked []string
	for _, f := range formats {
		asked = append(asked, f.ID)
	}
	for _, f := range all {
		if f.Facts != nil && !slices.Contains(readers, f.ID) {
			readers = append(readers, f.ID)
		}
	}
	if !slices.ContainsFunc(formats, func(f rundir.Format) bool { return f.Facts != nil }) {
		return nil, fault.Input(fmt.Errorf("facts %s: none of the formats %s has room for what is in the file", path, strings.Join(asked, ", ")),
			"leave out --facts, or ask for a format that has: --format "+strings.Join(readers, " or "))
	}
	_, err := os.Stat(path)
	data, err := readFile("facts", path, err)
	if err != nil {
		return nil, err
	}
	var problems workload.Problems
	for _, f := range formats {
		if f.Facts != nil {
			problems.Add(f.Facts(path, data))
		}
	}
	return data, problems.Err()
}
