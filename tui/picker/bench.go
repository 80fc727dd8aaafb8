package picker

import (
	"context"

	"github.com/perfbench/perfbench/internal/job"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// Bench is what the picker needs.
type Bench interface {
	Catalogue
	Planner
	screen.Archive
}

// Catalogue lists what there is to choose from.
type Catalogue interface {
	// Profiles lists the profiles in the order to show them. One without Design is
	// not built yet and shown greyed.
	Profiles() []workload.Profile
	// Presets lists a profile's presets, the default first. It may read files.
	Presets(profile string) []screen.Preset
	// Stores lists the kinds of store.
	Stores() []screen.StoreInfo
	// Recent lists recent targets without passwords, newest first. It may read files.
	Recent() []string
	// Last returns what was set for each profile when it was used last, by its name. It may
	// read files; an error says that nothing could be read.
	Last() (map[string]job.Request, error)
}

// Planner says what would come of a choice.
type Planner interface {
	// Remember has a request be there next time, without its secrets. It writes a file.
	Remember(job.Request)
	// Preview works out what a request would do. It touches nothing and is asked
	// for at every key press, from commands that may overlap: the newest counts. Its
	// error may be several joined; fault.FieldOf tells of each which input is wrong.
	Preview(job.Request) (*job.Preview, error)
	// Ping connects to a target, asks who it is and how far away, and disconnects.
	// Without a password it finds one where Start does. Errors hold no secrets.
	Ping(ctx context.Context, target, password string) (screen.Pong, error)
}
