package eventstore

import "github.com/perfbench/perfbench/internal/workload"

// Read reads --file.
func Read(files []workload.File) (workload.Values, []string, error) {
	return workload.Values{}, nil, nil
}
