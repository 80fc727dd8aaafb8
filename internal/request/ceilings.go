package request

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/perfbench/perfbench/internal/infile"
)

const ceilingFile = "ceilings.json"

// maxCeilings is how many figures are kept.
const maxCeilings = 500

// Ceiling holds the figures of one plan: for each kind of phase, how many counted calls
// it makes per second. Kinds that could not be measured are missing.
type Ceiling struct {
	PerS     map[string]float64 `json:"per_s"`
	Measured time.Time          `json:"measured"`
}

// Ceilings returns the figures kept, never nil. A file that is missing or unreadable
// has none.
func Ceilings(dir string) map[string]Ceiling {
	out := map[string]Ceiling{}
	data, err := infile.Read(infile.State, filepath.Join(dir, ceilingFile))
	if err != nil || json.Unmarshal(data, &out) != nil || out == nil {
		return map[string]Ceiling{}
	}
	return out
}

// KeepCeilings writes the newest figures. If two processes write at once, figures of
// one may be lost, but the file stays intact.
func KeepCeilings(dir string, all map[string]Ceiling) error {
	for len(all) > maxCeilings {
		oldest := ""
		for key, f := range all {
			if oldest == "" || f.Measured.Before(all[oldest].Measured) {
				oldest = key
			}
		}
		delete(all, oldest)
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, ceilingFile), append(data, '\n'))
}
