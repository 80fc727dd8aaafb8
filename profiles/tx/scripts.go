package tx

import (
	_ "embed" // for the scripts

	"github.com/perfbench/perfbench/internal/store/redis/link"
)

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
	librarySaga    = "perfbench_saga"
)

var (
	saveScript   = link.NewScript(functionPrefix+"save", saveLua)
	branchScript = link.NewScript(functionPrefix+"branch", branchLua)
	changeScript = link.NewScript(functionPrefix+"change", changeLua)
	touchScript  = link.NewScript(functionPrefix+"touch", touchLua)
	lockScript   = link.NewScript(functionPrefix+"lock", lockLua)
	moveScript   = link.NewScript(functionPrefix+"move", moveLua)
	totalScript  = link.NewScript(functionPrefix+"total", totalLua)

	registerScript = link.NewScript(functionPrefix+"register", registerLua)
	reserveScript  = link.NewScript(functionPrefix+"reserve", reserveLua)
	queryScript    = link.NewScript(functionPrefix+"query", queryLua)
)

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
