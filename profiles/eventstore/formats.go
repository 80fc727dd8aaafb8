package eventstore

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Formats returns the documents of the profile.
func Formats() []rundir.Format {
	return []rundir.Format{{
		ID: FormatID, Title: "th2's performance report in Markdown", Profile: Name,
		Doc:    "Steps of the run with their events and bytes, in the manner of th2's report.",
		Encode: encodeReport,
	}}
}

func encodeReport(f *rundir.Folder) ([]rundir.File, error) {
	var facts Facts
	if len(f.Run.Facts) > 0 {
		if err := json.Unmarshal(f.Run.Facts, &facts); err != nil {
			return nil, fmt.Errorf("read the facts: %w", err)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Event store\n\n| step | batch | stored events |\n| --- | --- | --- |\n")
	for _, s := range facts.Steps {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", s.Name, s.Batch, s.Stored.Events)
	}
	return []rundir.File{{Name: "th2-report.md", Data: b.Bytes()}}, nil
}
