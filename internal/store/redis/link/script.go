package link

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts so
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
)

// Script is a Lua script. Name is the name of its function on the server, used when
// functions are called; it is shared by the whole server and has no namespace.
type Script struct{ Name, Text, sha string }

// NewScript returns a script with the given source.
func NewScript(name, text string) Script {
	// Comments are for readers and need not be sent.
	var lines []string
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "--") {
			lines = append(lines, l)
		}
	}
	return script(name, strings.TrimSuffix(strings.Join(lines, ""), "\n"))
}

// Undeclared is the first line of a script that uses keys which its caller does not name.
// To Dragonfly, which otherwise refuses such a script, it is the permission; to others it
// is a comment.
const Undeclared = "--!df flags=allow-undeclared-keys\n"

// NewUndeclared returns a script that uses keys which its caller does not name.
func NewUndeclared(name, text string) Script {
	return script(name, Undeclared+NewScript(name, text).Text)
}

func script(name, text string) Script {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // Redis names scripts so
	return Script{name, text, hex.EncodeToString(sum[:])}
}

// The ways to call a script: by the hash of its text, with its text each time, or as a
// function of the server.
const (
	BySHA      = "evalsha"
	ByText     = "eval"
	ByFunction = "function"
)

// library returns the source of a function library with the scripts.
func library(name string, of ...Script) string {
	var b strings.Builder
	b.WriteString("#!lua name=" + name + "\n")
	for _, s := range of {
		b.WriteString("redis.register_function('" + s.Name + "', function(KEYS, ARGV)\n" + s.Text + "\nend)\n")
	}
	return b.String()
}

// Scripts runs scripts.
type Scripts struct {
	*Lines
	// How is BySHA, ByText or ByFunction.
	How string
}

// Begin begins a call of a script with a number of keys, in the way chosen by How.
func (r Scripts) Begin(q *Request, s Script, keys int64) {
	q.Reset()
	q.keyAt = 3
	switch r.How {
	case ByText:
		q.Add("EVAL")
		q.Add(s.Text)
	case ByFunction:
		q.Add("FCALL")
		q.Add(s.Name)
	default:
		q.Add("EVALSHA")
		q.Add(s.sha)
	}
	q.Num(keys)
}

// Unknown reports whether an error means that a server does not know a script called by
// its hash: it is not the same server as before, or it was restarted.
func Unknown(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT")
}

// Finish sends the call that Begin began and returns the number that it replied. If a
// server does not know the script, its text is sent.
func (r Scripts) Finish(ctx context.Context, c *Caller, s Script) (int64, error) {
	n, err := r.Do(ctx, c)
	if r.How == BySHA && Unknown(err) {
		args := c.args()
		args[0], args[1] = "EVAL", s.Text
		err = r.through(ctx, c, args) // EVAL stores the script on the very server that lacked it
		n = c.Reply.N
	}
	return n, err
}

// Run runs a script; args begin with the number of keys. If a server does not know the
// script, its text is sent.
func (r Scripts) Run(ctx context.Context, s Script, args ...any) *goredis.Cmd {
	switch r.How {
	case ByFunction:
		return r.Send(ctx, "fcall", s.Name, args)
	case BySHA:
		cmd := r.Send(ctx, "evalsha", s.sha, args)
		if !Unknown(cmd.Err()) {
			return cmd
		}
	}
	return r.Send(ctx, "eval", s.Text, args)
}

// Send calls a script in one particular way; args begin with the number of keys.
func (r Scripts) Send(ctx context.Context, name, what string, args []any) *goredis.Cmd {
	all := make([]any, 0, 2+len(args))
	all = append(append(all, name, what), args...)
	cmd := goredis.NewCmd(ctx, all...)
	cmd.SetFirstKeyPos(3)
	_ = r.servers.client.Process(ctx, cmd) // the command keeps its error
	return cmd
}

// Load makes the scripts functions of every server, if How is ByFunction; instead says
// what to do if servers do not support functions. Scripts called by hash are loaded, so
// that no measured call has to send a text.
func (r Scripts) Load(ctx context.Context, name, instead string, of ...Script) error {
	switch r.How {
	case ByText:
		return nil
	case BySHA:
		return Masters(ctx, r.servers.client, func(ctx context.Context, m Client) error {
			for _, s := range of {
				if err := m.ScriptLoad(ctx, s.Text).Err(); err != nil {
					return fmt.Errorf("make a script known: %w", err)
				}
			}
			return nil
		})
	}
	err := Masters(ctx, r.servers.client, func(ctx context.Context, m Client) error {
		return m.FunctionLoadReplace(ctx, library(name, of...)).Err()
	})
	if err != nil && strings.Contains(err.Error(), "unknown command") {
		err = errors.New("the server has no functions") // its reply would contain the whole library
	}
	if err != nil {
		return fault.Store(fmt.Errorf("load the functions of library %s: %w", name, err), "servers have functions from Redis 7 on, embedded: has none; use "+instead)
	}
	return nil
}

// Unload removes what Load created.
func (r Scripts) Unload(ctx context.Context, name string) error {
	if r.How != ByFunction {
		return nil
	}
	return Masters(ctx, r.servers.client, func(ctx context.Context, m Client) error {
		err := m.FunctionDelete(ctx, name).Err()
		if err != nil && strings.Contains(err.Error(), "Library not found") {
			err = nil
		}
		return err
	})
}
