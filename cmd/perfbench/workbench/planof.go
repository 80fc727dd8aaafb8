package workbench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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

// PlanName is plan.yaml, or plan-2.yaml if there is one in the working directory, and so on.
func (listed) PlanName() string {
	path := report.PlanName
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = fmt.Sprintf("plan-%d.yaml", n)
	}
}

// PlanOf writes a plan file of runs with that name.
func (l listed) PlanOf(ids []string, name string) (screen.Suite, error) {
	var runs []*rundir.Folder
	for _, id := range ids {
		f, err := l.Load(id)
		if err != nil {
			return screen.Suite{}, err
		}
		runs = append(runs, f)
	}
	path, err := writeNew(name, report.PlanOf(runs))
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

// writeNew writes a plan to a file that did not exist, unless that has it word for word, and returns its name, which
// ends in .yaml if it had no ending.
func writeNew(path string, plan []byte) (string, error) {
	if filepath.Ext(path) == "" {
		path += ".yaml"
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, plan) {
			return path, nil
		}
		return "", fault.Input(fmt.Errorf("%s exists already: P again, and another name", path), "another name")
	case err != nil:
		return "", fault.Input(fmt.Errorf("plan: %w", err), "begin the workbench in a folder that you may write to")
	}
	_, err = f.Write(plan)
	if err = errors.Join(err, f.Close()); err != nil { // half a plan is none
		_ = os.Remove(path)
	}
	return path, err
}
