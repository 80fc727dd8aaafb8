package redis

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
)

// replies maps the beginnings of the servers' error replies to classes.
var replies = []struct {
	prefix string
	class  store.Class
}{
	{"WRONGTYPE", store.WrongType},
	{"OOM ", store.OutOfMemory},
	{"READONLY", store.ReadOnly},
	{"MISCONF", store.ReadOnly}, // persistence failed, so writes are refused
	{"NOAUTH", store.Refused},
	{"NOPERM", store.Refused},
	{"WRONGPASS", store.Refused},
	{"ERR invalid password", store.Refused},
	{"DENIED", store.Refused},
	{"LOADING", store.Overloaded},
	{"BUSY ", store.Overloaded},
	{"TRYAGAIN", store.Overloaded},
	{"ERR max number of clients", store.Overloaded},
	{"ERR max clients", store.Overloaded},
	{"CLUSTERDOWN", store.Unreachable},
	{"MASTERDOWN", store.Unreachable},
	{"NOREPLICAS", store.Unreachable},
	{"MOVED", store.Unreachable}, // more redirections than we follow
	{"ASK ", store.Unreachable},
	{"EXECABORT", store.Conflict},
}

// Classify returns the class of an operation's error. It is safe for use by several
// goroutines.
func (c *Conn) Classify(err error) store.Class { return Classify(err) }

// Classify returns the class of a go-redis client's error.
func Classify(err error) store.Class {
	if err == nil {
		return store.Worked
	}
	var reply goredis.Error
	var netErr net.Error
	switch {
	case errors.Is(err, goredis.Nil):
		return store.Missing
	case errors.Is(err, goredis.TxFailedErr):
		return store.Conflict
	case errors.As(err, &reply):
		return classOf(reply.Error())
	case errors.Is(err, context.Canceled):
		return store.Canceled
	case unreachable(err):
		return store.Unreachable
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, goredis.ErrPoolTimeout), errors.As(err, &netErr) && netErr.Timeout():
		return store.Timeout
	case errors.As(err, &netErr):
		return store.Unreachable
	}
	return store.Other
}

func classOf(reply string) store.Class {
	for _, r := range replies {
		if strings.HasPrefix(reply, r.prefix) {
			return r.class
		}
	}
	return store.Other
}

// unreachable reports whether err means that a connection could not be made or broke.
func unreachable(err error) bool {
	for _, e := range []error{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
		syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENOENT,
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, goredis.ErrClosed, goredis.ErrPoolExhausted,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	var op *net.OpError
	var dns *net.DNSError
	if errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "all sentinels specified in configuration are unreachable") ||
		strings.Contains(text, "cluster has no nodes") || strings.Contains(text, "cannot load cluster slots")
}
