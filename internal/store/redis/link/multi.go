package link

import (
	"bufio"
	"bytes"
	"context"
	"errors"

	goredis "github.com/redis/go-redis/v9"
)

// Multi begins a transaction: the commands added with Next, up to Exec, are executed
// atomically.
func (q *Request) Multi() {
	q.Reset()
	q.Add("MULTI")
}

// Exec ends a transaction, which is sent to the server of the first key of its last
// command. Its replies are the last ones; they may be preceded by the replies that
// confirm the queueing of commands.
func (q *Request) Exec() {
	q.where = append(q.where[:0], q.key()...)
	q.Next("EXEC")
}

// transact makes go-redis carry out a transaction that came to the wrong server, where
// none of it was executed.
func (l *Lines) transact(ctx context.Context, c *Caller) error {
	all, err := c.commands()
	if err != nil {
		return err
	}
	cmds, err := l.servers.client.TxPipelined(ctx, func(p goredis.Pipeliner) error {
		for _, args := range all[1 : len(all)-1] { // go-redis sends MULTI and EXEC itself
			p.Do(ctx, args...)
		}
		return nil
	})
	if err != nil && !errors.Is(err, goredis.Nil) {
		return err
	}
	replies := make([]any, len(cmds))
	for i, cmd := range cmds {
		if cmd, ok := cmd.(*goredis.Cmd); ok {
			replies[i] = cmd.Val()
		}
	}
	c.Reply.convert(replies)
	return nil
}

// commands returns the commands of a request that has been sent, each as its arguments.
func (q *Request) commands() ([][]any, error) {
	in, r := bufio.NewReader(bytes.NewReader(q.out[q.from:])), Reply{Keep: true}
	all := make([][]any, q.count)
	for i := range all {
		if err := r.readAll(in, 1); err != nil { // requests are encoded like replies
			return nil, err
		}
		for j := range r.Len() {
			arg, _ := r.At(j)
			all[i] = append(all[i], bytes.Clone(arg))
		}
	}
	return all, nil
}
