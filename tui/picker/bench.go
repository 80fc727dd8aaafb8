package picker

import (
	"context"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/screen"
)

// Bench is what the picker works with, each for one of its parts.
type Bench struct {
	Catalogue Catalogue
	Memory    Memory
	Planner   Planner
	Pinger    Pinger
	Runs      archive.Runs
}

// Catalogue lists what there is to choose from.
type Catalogue interface {
	// Profiles lists the profiles in the order to show them. One without Design is not
	// implemented yet and shown greyed out.
	Profiles() []workload.Profile
	// Presets lists a profile's presets, the default first. It may read files.
	Presets(profile string) []screen.Preset
	// Stores lists the kinds of store.
	Stores() []screen.StoreInfo
}

// Memory has what was chosen before: what has begun, and nothing else. It reads files.
type Memory interface {
	// Recent lists recent targets without passwords, newest first, and servers of the lab
	// that run.
	Recent() []string
	// Labs lists the targets of all servers that the lab can start.
	Labs() []string
	// Last returns the request last used for each profile in the results folder, by profile
	// name; an error means that nothing could be read.
	Last() (map[string]request.Request, error)
	// Newest returns the profile of the request last used in the results folder; empty if none is known.
	Newest() string
}

// Planner reports what a choice would lead to.
type Planner interface {
	// Preview computes what a request would do. It has no side effects and is called on
	// every key press, from commands that may overlap: the newest counts. Its error may
	// join several; for each, fault.FieldOf returns the input that is wrong.
	Preview(request.Request) (*request.Preview, error)
	// Settle keeps the password that the form has for a target as something is started with it,
	// for what other screens run on it; an empty one is that it has none.
	Settle(target, password string)
	// Plan returns the plan file of a path; false: the file is no plan. It reads files. Its error,
	// which may join several, says what is wrong with it.
	Plan(path string) (plan *request.File, is bool, err error)
}

// Pinger asks stores what they are.
type Pinger interface {
	// Ping connects to a target, asks what it is and how far away, and disconnects.
	// Without a password it looks for one where Start does. Errors hold no secrets.
	Ping(ctx context.Context, target, password string) (screen.Pong, error)
}
