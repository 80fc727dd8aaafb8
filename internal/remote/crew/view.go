package crew

import (
	"bytes"
	"compress/flate"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// View is a run at an instant. It has no secrets, and is never written to once made.
type View struct {
	// Version is that of the coordinator: who watches has the same.
	Version string
	// ID is that of the run, Order leads to its plan.
	ID    string
	Order remote.Order
	// Store is the name of its driver, Target where it is, without secrets.
	Store, Target string
	// Shared means that calls may share connections.
	Shared  bool
	Started time.Time
	// Planned are the changes of the timetable, and the ends of faults that were begun by hand.
	Planned  []measure.Change
	Progress Progress
	// Snapshot are its figures; nil: it has not begun.
	Snapshot *measure.Snapshot
	// Settings are those asked for, of each track.
	Settings []workload.Settings
	Verdict  rundir.Verdict
	Samples  []rundir.Sample
	// Came is what came of the run; nil: it has not ended.
	Came *Came
}

// Progress says what the run is doing.
type Progress struct {
	Stage Stage
	// Step says in words what is being done, Note is a sentence that somebody has to act on;
	// both may be empty.
	Step, Note string
	// Held is why nobody who watches turns the knobs now; empty: they turn.
	Held string
	// Done and Total count what the step handles; Total 0: unknown.
	Done, Total int64
}

// Stage is what a run is doing.
type Stage int

// Stages in the order a run passes them.
const (
	Preparing Stage = iota
	Working
	Verifying
	Ended
)

// Came is what came of a run.
type Came struct {
	// Code is its exit code, Err why it failed; empty: it did not.
	Code int
	Err  string
	// Run is its run.json, Dir its folder at the coordinator.
	Run []byte
	Dir string
}

// most is how many bytes a view may have that is no longer compressed.
const most = 16 * remote.MaxMessage

// Pack writes a view as it is sent.
func (v *View) Pack() []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // a level that there is
	if err := errors.Join(gob.NewEncoder(w).Encode(v), w.Close()); err != nil {
		panic(err) // plain data of ours, to memory
	}
	return b.Bytes()
}

// ReadView reads what Pack wrote. Nothing that a text of it says can control a terminal.
func ReadView(data []byte) (*View, error) {
	v := &View{}
	if err := gob.NewDecoder(io.LimitReader(flate.NewReader(bytes.NewReader(data)), most)).Decode(v); err != nil {
		return nil, fmt.Errorf("read how the run is: %w", err)
	}
	infile.CleanTexts(v) // a coordinator may be anybody's, and a screen shows what it says
	return v, nil
}
