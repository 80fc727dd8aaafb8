package cassandra

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// codes maps the error codes of the protocol to classes.
var codes = map[int]store.Class{
	gocql.ErrCodeUnavailable:     store.Unreachable, // too few replicas are alive
	gocql.ErrCodeOverloaded:      store.Overloaded,
	gocql.ErrCodeBootstrapping:   store.Overloaded,
	gocql.ErrCodeWriteTimeout:    store.Timeout,
	gocql.ErrCodeReadTimeout:     store.Timeout,
	gocql.ErrCodeCASWriteUnknown: store.Timeout,
	gocql.ErrCodeCredentials:     store.Refused,
	gocql.ErrCodeUnauthorized:    store.Refused,
	gocql.ErrCodeConfig:          store.Refused,
	gocql.ErrCodeAlreadyExists:   store.Conflict,
}

// Classify returns the class of an operation's error. It is safe for use by several
// goroutines.
func (c *Conn) Classify(err error) store.Class { return Classify(err) }

// Classify returns the class of a driver's error.
func Classify(err error) store.Class {
	if err == nil {
		return store.Worked
	}
	var reply gocql.RequestError
	switch {
	case errors.Is(err, gocql.ErrNotFound):
		return store.Missing
	case errors.As(err, &reply):
		return classOf(reply)
	case errors.Is(err, context.Canceled):
		return store.Canceled
	case errors.Is(err, gocql.ErrTimeoutNoResponse),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return store.Timeout
	case errors.Is(err, gocql.ErrNoStreams):
		return store.Overloaded
	case unreachable(err):
		return store.Unreachable
	}
	if netErr, ok := errors.AsType[net.Error](err); ok {
		if netErr.Timeout() {
			return store.Timeout
		}
		return store.Unreachable
	}
	return store.Other
}

func classOf(reply gocql.RequestError) store.Class {
	if class, ok := codes[reply.Code()]; ok {
		return class
	}
	text := reply.Message()
	switch {
	case reply.Code() != gocql.ErrCodeInvalid:
	case strings.Contains(text, "does not exist"), strings.Contains(text, "unconfigured table"):
		return store.Missing
	case strings.Contains(text, "Undefined column"), strings.Contains(text, "Invalid type"), strings.Contains(text, "Unknown identifier"):
		return store.WrongType
	}
	return store.Other
}

func unreachable(err error) bool {
	for _, e := range []error{
		gocql.ErrNoConnections, gocql.ErrConnectionClosed, gocql.ErrSessionClosed, gocql.ErrNoConnectionsStarted, gocql.ErrUnavailable,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	// The driver puts some causes only into the text of its messages.
	text := err.Error()
	return strings.Contains(text, "gocql: no hosts available") || strings.Contains(text, "connection closed") || strings.Contains(text, "connection refused")
}

// where returns the nodes as the target names them.
func (k *cluster) where() string { return strings.Join(k.target.Hosts, ",") }

// explain says in one sentence why the nodes cannot be used, and what to do. Much of
// what the driver knows is only in the text of its errors.
func (k *cluster) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	t := store.Trouble{Driver: "cassandra", Where: k.where(), Err: err}
	if err := t.Cancelled(ctx); err != nil {
		return err
	}
	var unknown x509.UnknownAuthorityError
	var header tls.RecordHeaderError
	switch {
	case t.Has(fault.ErrFiles.Error()), fault.OutOfFiles():
		return t.Say("cannot be reached: "+fault.ErrFiles.Error(), "")
	case t.Has("incorrect", "Bad credentials", "Cannot achieve consistency level") && t.Has("username", "credentials", "password"):
		return t.Say("the user or the password is wrong", "write them before the host, cassandra://user:password@host, or use --password-file")
	case t.Has("authentication required"):
		return t.Say("it wants a password", "write the user before the host, and give --password-file")
	case t.Has("no permission", "unauthorized"):
		return t.Say("this user may not do that: "+t.Last(), "ask for the right to create, read and write in the keyspace")
	case errors.As(err, &unknown), t.Has("unknown authority"):
		return t.Say("its certificate is signed by an authority that is not trusted here", "give the authority's certificate with ca=FILE")
	case t.Has("certificate required", "bad certificate"):
		return t.Say("it asks for a client certificate", "give cert=FILE and key=FILE")
	case errors.As(err, &header), t.Has("first record does not look like a TLS handshake"):
		return t.Say("it does not speak TLS on this port", "leave out tls=1")
	case t.Has("certificate is valid for", "certificate is not valid"):
		return t.Say("its certificate is for another name", "give the name in it with servername=NAME")
	case t.Has("connection refused", "no such host", "i/o timeout", "no response received", "network is unreachable", "connect: "):
		return t.Say("cannot be reached: "+t.Last(), "is the server running? perfbench lab up cassandra starts one")
	case t.Has("connection reset", "EOF", "connection closed"):
		return t.Say("ended the connection", "does it speak TLS only? add tls=1 and ca=FILE")
	case t.Has("unsupported protocol", "protocol version"):
		return t.Say("it does not speak version "+fmt.Sprint(k.opts.protocol)+" of the protocol", "leave protocol= out: perfbench tries 5 and then 4, which ScyllaDB and Cassandra before 4.0 speak")
	}
	return t.Unknown("is this Cassandra? perfbench lab up cassandra starts one")
}
