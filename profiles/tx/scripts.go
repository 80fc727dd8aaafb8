package tx

import (
	_ "embed" // for the scripts

	"github.com/perfbench/perfbench/internal/store/redis/link"
)

//go:embed lua/summary.lua
var summaryLua string

//go:embed lua/summary_map.lua
var summaryMapLua string

//go:embed lua/save.lua
var saveLua string

//go:embed lua/branch.lua
var branchLua string

//go:embed lua/change.lua
var changeLua string

//go:embed lua/touch.lua
var touchLua string

//go:embed lua/lock.lua
var lockLua string

//go:embed lua/move.lua
var moveLua string

//go:embed lua/total.lua
var totalLua string

//go:embed lua/register.lua
var registerLua string

//go:embed lua/reserve.lua
var reserveLua string

//go:embed lua/query.lua
var queryLua string

// Names of functions and their libraries. They are the server's: they have no
// namespace, and are removed with --cleanup.
const (
	functionPrefix = "perfbench_tx_"
	libraryPBM     = "perfbench_tx"
	librarySaga    = "perfbench_saga"
)

var (
	saveScript   = newScript("save", saveLua)
	branchScript = newScript("branch", branchLua)
	changeScript = newScript("change", changeLua)
	touchScript  = newScript("touch", touchLua)
	lockScript   = newScript("lock", lockLua)
	moveScript   = newScript("move", moveLua)
	totalScript  = newScript("total", totalLua)

	registerScript = newScript("register", registerLua)
	reserveScript  = newScript("reserve", reserveLua)
	queryScript    = newScript("query", queryLua)

	summaryScript = newScript("summary", summaryLua)
	// summaryMapScript does the same where each map is one hash.
	summaryMapScript = newScript("summary_map", summaryMapLua)
)

func newScript(name, text string) link.Script { return link.NewScript(functionPrefix+name, text) }

// word reads the number that a script answers with.
func word(n int64, err error) error {
	switch {
	case err != nil:
		return err
	case n == 1:
		return errTaken
	case n == 2:
		return errMoved
	}
	return nil
}
