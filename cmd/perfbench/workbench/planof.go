package workbench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/screen"
)

// listed are the runs that are kept, as the list of runs sees them.
type listed struct {
	*kept
	requests *requests
}

// PlanOf writes a plan file of runs: plan.yaml, or plan-2.yaml if there is another one, and so on.
func (l listed) PlanOf(ids []string) (screen.Suite, error) {
	var runs []*rundir.Folder
	for _, id := range ids {
		f, err := l.Load(id)
		if err != nil {
			return screen.Suite{}, err
		}
		runs = append(runs, f)
	}
	path, err := writeNew(report.PlanOf(runs))
	if err != nil {
		return screen.Suite{}, err
	}
	if err := request.RememberPlan(l.state, path); err != nil {
		l.env.Log.Warn("The plan could not be kept for the list of plans", "error", err)
	}
	file, _, err := l.requests.Plan(path)
	if err != nil {
		return screen.Suite{}, fmt.Errorf("%s was written, and says what cannot be done again: %w", path, err)
	}
	return screen.Suite{Path: path, File: file}, nil
}

// writeNew writes a plan to a file of the working directory that did not exist, unless one has it word for word,
// and returns its name.
func writeNew(plan []byte) (string, error) {
	for n := 1; ; n++ {
		path := report.PlanName
		if n > 1 {
			path = fmt.Sprintf("plan-%d.yaml", n)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		switch {
		case errors.Is(err, fs.ErrExist):
			if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, plan) {
				return path, nil
			}
			continue
		case err != nil:
			return "", fault.Input(fmt.Errorf("plan: %w", err), "begin the workbench in a folder that you may write to")
		}
		_, err = f.Write(plan)
		if err = errors.Join(err, f.Close()); err != nil { // half a plan is none
			_ = os.Remove(path)
		}
		return path, err
	}
}
