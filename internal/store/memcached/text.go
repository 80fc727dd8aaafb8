package memcached

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// errProtocol means that something else answered than a Memcached.
var errProtocol = errors.New("it does not answer as Memcached does")

// busy is what a server answers that is already listing its keys for another.
var errBusy = errors.New("the server is listing its keys for another")

// lines sends a command that the client does not have, over a connection of its own, and
// returns the lines of the answer.
func (v *servers) lines(ctx context.Context, addr, command string) (out []string, err error) {
	if err := v.open(ctx); err != nil {
		return nil, err
	}
	c, err := v.dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // all that was to be read has been
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	if _, err := c.Write([]byte(command + "\r\n")); err != nil {
		return nil, err
	}
	in := bufio.NewReader(c)
	for {
		if err := c.SetReadDeadline(time.Now().Add(v.limit)); err != nil {
			return nil, err
		}
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "END":
			return out, nil
		case word == "VERSION":
			return []string{rest}, nil
		case word == "BUSY":
			return nil, errBusy
		case word == "ERROR", strings.HasSuffix(word, "_ERROR"):
			return nil, fmt.Errorf("memcached: %s: %s", command, line)
		case word != "STAT" && !strings.HasPrefix(word, "key="):
			return nil, errProtocol
		}
		out = append(out, line)
	}
}

// stats returns what a server reports about itself.
func (v *servers) stats(ctx context.Context, addr, about string) (map[string]string, error) {
	lines, err := v.lines(ctx, addr, strings.TrimSpace("stats "+about))
	out := map[string]string{}
	for _, l := range lines {
		if _, rest, ok := strings.Cut(l, " "); ok {
			name, value, _ := strings.Cut(rest, " ")
			out[name] = value
		}
	}
	return out, err
}

// keys calls f with the keys of all servers that begin with a prefix and have not expired.
func (v *servers) keys(ctx context.Context, prefix string, f func(key string) error) error {
	for _, addr := range v.addrs {
		lines, err := v.dump(ctx, addr, "hash")
		if errors.Is(err, errProtocol) { // an older server does not know that
			lines, err = v.dump(ctx, addr, "all")
		}
		if err != nil {
			return fmt.Errorf("list the keys of %s: %w", addr, err)
		}
		for _, l := range lines {
			key, over := item(l)
			if over || !strings.HasPrefix(key, prefix) {
				continue
			}
			if err := f(key); err != nil {
				return err
			}
		}
	}
	return nil
}

// dump returns the list of keys of a server, by its hash table or, with "all", by its queues of
// items, which it goes on moving from one to another meanwhile, so that some can be missed.
func (v *servers) dump(ctx context.Context, addr, by string) ([]string, error) {
	for {
		lines, err := v.lines(ctx, addr, "lru_crawler metadump "+by)
		if !errors.Is(err, errBusy) {
			return lines, err
		}
		if err := store.Pause(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// item reads a line of the list of keys: "key=a%20b exp=-1 la=1700000000 …". over means that
// the item has expired.
func item(line string) (key string, over bool) {
	for word := range strings.FieldsSeq(line) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "key":
			if plain, err := url.PathUnescape(value); err == nil {
				value = plain
			}
			key = value
		case "exp":
			at, err := strconv.ParseInt(value, 10, 64)
			over = err == nil && at > 0 && at < time.Now().Unix()
		}
	}
	return key, over
}
