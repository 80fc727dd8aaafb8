package tx

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts so
	_ "embed"     // for the scripts
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
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

// script is a Lua script with the name that Redis gives it.
type script struct{ name, text, sha string }

func newScript(name, text string) script {
	// Comments are for readers; they need not travel.
	var lines []string
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "--") {
			lines = append(lines, l)
		}
	}
	text = strings.TrimSuffix(strings.Join(lines, ""), "\n")
	sum := sha1.Sum([]byte(text)) //nolint:gosec // Redis names scripts so
	return script{functionPrefix + name, text, hex.EncodeToString(sum[:])}
}

// Names of functions and their libraries. They are the server's: they have no
// namespace, and are removed with --cleanup.
const (
	functionPrefix = "perfbench_tx_"
	libraryPBM     = "perfbench_tx"
	librarySaga    = "perfbench_saga"
)

// function is the script's name as a function of the server.
func (s script) function() string { return s.name }

// library is scripts as functions of the server.
func library(name string, of ...script) string {
	var b strings.Builder
	b.WriteString("#!lua name=" + name + "\n")
	for _, s := range of {
		b.WriteString("redis.register_function('" + s.function() + "', function(KEYS, ARGV)\n" + s.text + "\nend)\n")
	}
	return b.String()
}

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

// scripts runs scripts on a client.
type scripts struct {
	client goredis.UniversalClient
	// how is one of the words of the parameter script.
	how string
	// clients is how many callers there may be.
	clients int
	// links are the connections that callers share; nil: each has its own.
	links *links
}

// run runs a script; args begin with the number of keys. A server that does not
// know it is given its text.
func (r scripts) run(ctx context.Context, s script, args ...any) *goredis.Cmd {
	switch r.how {
	case scriptFunction:
		return r.send(ctx, "fcall", s.function(), args)
	case scriptSHA:
		cmd := r.send(ctx, "evalsha", s.sha, args)
		if err := cmd.Err(); err == nil || !goredis.HasErrorPrefix(err, "NOSCRIPT") {
			return cmd
		}
	}
	return r.send(ctx, "eval", s.text, args)
}

func (r scripts) send(ctx context.Context, name, what string, args []any) *goredis.Cmd {
	all := make([]any, 0, 2+len(args))
	all = append(append(all, name, what), args...)
	cmd := goredis.NewCmd(ctx, all...)
	cmd.SetFirstKeyPos(3)
	_ = r.client.Process(ctx, cmd) // the command keeps its error
	return cmd
}

// load makes scripts functions of every server, where functions are what is to be
// called; instead says what to do where servers have none. Scripts that are called by
// their name are made known, so that none of the calls that are measured sends a text.
func (r scripts) load(ctx context.Context, name, instead string, of ...script) error {
	switch r.how {
	case scriptEval:
		return nil
	case scriptSHA:
		return masters(ctx, r.client, func(ctx context.Context, m *goredis.Client) error {
			for _, s := range of {
				if err := m.ScriptLoad(ctx, s.text).Err(); err != nil {
					return fmt.Errorf("make a script known: %w", err)
				}
			}
			return nil
		})
	}
	err := masters(ctx, r.client, func(ctx context.Context, m *goredis.Client) error {
		return m.FunctionLoadReplace(ctx, library(name, of...)).Err()
	})
	if err != nil && strings.Contains(err.Error(), "unknown command") {
		err = errors.New("the server has no functions") // its reply would repeat the whole library
	}
	if err != nil {
		return fault.Store(fmt.Errorf("load the functions of library %s: %w", name, err), "servers have functions from Redis 7 on, embedded: has none; use "+instead)
	}
	return nil
}

// unload removes what load made.
func (r scripts) unload(ctx context.Context, name string) error {
	if r.how != scriptFunction {
		return nil
	}
	return masters(ctx, r.client, func(ctx context.Context, m *goredis.Client) error {
		err := m.FunctionDelete(ctx, name).Err()
		if err != nil && strings.Contains(err.Error(), "Library not found") {
			err = nil
		}
		return err
	})
}

// masters calls f with a client of every server that has data of its own.
func masters(ctx context.Context, client goredis.UniversalClient, f func(context.Context, *goredis.Client) error) error {
	switch c := client.(type) {
	case *goredis.ClusterClient:
		return c.ForEachMaster(ctx, f)
	case *goredis.Client:
		return f(ctx, c)
	}
	return store.ErrUnsupported
}

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
