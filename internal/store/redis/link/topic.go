package link

import (
	"context"

	"github.com/perfbench/perfbench/internal/store"
)

// Topic is a topic to publish to, without memory.
type Topic struct {
	sender
	command string
}

// NewTopic returns the topic with a name; sharded means that it belongs to one shard of
// a cluster.
func NewTopic(lines *Lines, name string, sharded bool) *Topic {
	t := &Topic{sender{lines: lines, key: name}, "PUBLISH"}
	if sharded {
		t.command = "SPUBLISH"
	}
	return t
}

// Publish publishes the values of entries, sent together.
func (t *Topic) Publish(ctx context.Context, es []store.Entry) error {
	if len(es) == 1 {
		t.begin(t.command).Bytes(es[0].Val)
		_, err := t.do(ctx)
		return err
	}
	return t.each(ctx, len(es), func(c *Caller, i int) {
		c.Command(t.command)
		c.Add(t.key)
		c.Bytes(es[i].Val)
	})
}

// reliable appends a message to a stream and returns how many subscribers there are, as
// Redisson's reliable topic does.
var reliable = NewScript("reliable", `
if ARGV[2] ~= '0' then
	redis.call('xadd', KEYS[1], 'maxlen', '~', ARGV[2], '*', 'm', ARGV[1])
else
	redis.call('xadd', KEYS[1], '*', 'm', ARGV[1])
end
return redis.call('zcard', KEYS[2])`)

// Reliable is a topic that keeps its messages, in a stream.
type Reliable struct {
	sender
	run  Scripts
	trim int64
	// known means that the servers have been given the script.
	known bool
}

// NewReliable returns the topic with a name, which keeps about trim messages; 0: all.
func NewReliable(lines *Lines, name string, trim int64) *Reliable {
	return &Reliable{sender: sender{lines: lines, key: name}, run: Scripts{Lines: lines, How: BySHA}, trim: trim}
}

func (t *Reliable) message(c *Caller, val []byte) {
	t.run.Begin(&c.Request, reliable, 2)
	c.Add(t.key)
	c.Add("{", t.key, "}:subscribers")
	c.Bytes(val)
	c.Num(t.trim)
}

// Publish publishes the values of entries, sent together.
func (t *Reliable) Publish(ctx context.Context, es []store.Entry) error {
	if len(es) == 1 {
		t.message(&t.at, es[0].Val)
		_, err := t.run.Finish(ctx, &t.at, reliable)
		return err
	}
	if !t.known { // calls sent together cannot fall back on the script's text
		if err := t.run.Load(ctx, "", "", reliable); err != nil {
			return err
		}
		t.known = true
	}
	err := t.each(ctx, len(es), func(c *Caller, i int) { t.message(c, es[i].Val) })
	if Unknown(err) {
		t.known = false
	}
	return err
}
