package onredis

import (
	_ "embed" // for the scripts

	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

//go:embed save.lua
var saveLua string

//go:embed branch.lua
var branchLua string

//go:embed change.lua
var changeLua string

//go:embed touch.lua
var touchLua string

//go:embed lock.lua
var lockLua string

//go:embed move.lua
var moveLua string

//go:embed total.lua
var totalLua string

//go:embed register.lua
var registerLua string

//go:embed reserve.lua
var reserveLua string

//go:embed query.lua
var queryLua string

// Names of functions and their libraries. They are global on the server: they have no
// namespace. They are removed with --cleanup.
const (
	functionPrefix = "perfbench_tx_"
	librarySaga    = "perfbench_saga"
)

// The scripts. Those that mode=baseline measures individually are exported.
var (
	SaveScript   = link.NewScript(functionPrefix+"save", saveLua)
	BranchScript = link.NewScript(functionPrefix+"branch", branchLua)
	ChangeScript = link.NewScript(functionPrefix+"change", changeLua)
	touchScript  = link.NewScript(functionPrefix+"touch", touchLua)
	lockScript   = link.NewScript(functionPrefix+"lock", lockLua)
	MoveScript   = link.NewScript(functionPrefix+"move", moveLua)
	totalScript  = link.NewUndeclared(functionPrefix+"total", totalLua)

	registerScript = link.NewScript(functionPrefix+"register", registerLua)
	reserveScript  = link.NewScript(functionPrefix+"reserve", reserveLua)
	queryScript    = link.NewScript(functionPrefix+"query", queryLua)
)

// Word interprets the number that a script replies.
func Word(n int64, err error) error {
	switch {
	case err != nil:
		return err
	case n == 1:
		return model.ErrTaken
	case n == 2:
		return model.ErrMoved
	}
	return nil
}
