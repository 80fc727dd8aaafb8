package coherence

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"strings"

	client "github.com/oracle/coherence-go-client/v2/coherence"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// breaks reports whether a session is unusable after an error.
func breaks(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, client.ErrClosed) || errors.Is(err, client.ErrDestroyed) ||
		errors.Is(err, client.ErrReleased) || errors.Is(err, errBroke) {
		return true
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled, codes.Internal:
		return true
	}
	// This is what the server says about a cache that it has lost along with everything
	// else.
	text := err.Error()
	return strings.Contains(text, "unable to find cache id") || strings.Contains(text, "unable to find queue id") ||
		strings.Contains(text, "client connection is closing")
}

// Classify returns the class of an operation's error. It is safe for use by several
// goroutines.
func (c *Conn) Classify(err error) store.Class { return Classify(err) }

// Classify returns the class of an error of the client.
func Classify(err error) store.Class {
	switch {
	case err == nil:
		return store.Worked
	case errors.Is(err, errAway), errors.Is(err, errClosed):
		return store.Unreachable
	case errors.Is(err, context.Canceled):
		return store.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return store.Timeout
	case strings.Contains(err.Error(), "OutOfMemory"): // before it goes away
		return store.OutOfMemory
	case errors.Is(err, errBroke), breaks(err):
		return store.Unreachable
	}
	switch status.Code(err) {
	case codes.DeadlineExceeded:
		return store.Timeout
	case codes.ResourceExhausted:
		return store.Overloaded
	case codes.PermissionDenied, codes.Unauthenticated:
		return store.Refused
	}
	for _, w := range words {
		if strings.Contains(err.Error(), w.part) {
			return w.class
		}
	}
	return store.Other
}

// words map parts of the server's error messages, which consist of nothing but text, to
// classes.
var words = []struct {
	part  string
	class store.Class
}{
	{"Permission", store.Refused},
	{"Security", store.Refused},
	{"RequestTimeout", store.Timeout},
	{"timed out", store.Timeout},
	{"RequestPolicy", store.Unreachable}, // no member stores data
	{"no storage-enabled", store.Unreachable},
	{"UnsupportedOperation", store.ReadOnly},
	{"ClassCast", store.WrongType},
	{"serialization", store.WrongType},
}

// where returns the hosts as the target names them.
func (ss *sessions) where() string { return strings.Join(ss.target.Hosts, ",") }

// explain says in one sentence why the server cannot be used, and what to do. Most of
// what the client knows is only in the text of its errors.
func (ss *sessions) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	t := store.Trouble{Driver: "coherence", Where: ss.where(), Err: err}
	if err := t.Cancelled(ctx); err != nil {
		return err
	}
	var unknown x509.UnknownAuthorityError
	const running = "is the server running, with its gRPC proxy? perfbench lab up coherence starts one"
	switch {
	case t.Has(fault.ErrFiles.Error()), fault.OutOfFiles():
		return t.Say("cannot be reached: "+fault.ErrFiles.Error(), "")
	case errors.Is(err, errOld):
		return t.Say("it speaks only an old version of Coherence's gRPC protocol", "use Coherence CE 24.09 or later, or 14.1.2")
	case errors.As(err, &unknown), t.Has("unknown authority"):
		return t.Say("its certificate is signed by an authority that is not trusted here", "give the authority's certificate with ca=FILE")
	case t.Has("certificate required", "bad certificate"):
		return t.Say("it asks for a client certificate", "give cert=FILE and key=FILE")
	case t.Has("first record does not look like a TLS handshake"):
		return t.Say("it does not speak TLS on this port", "leave out tls=1")
	case t.Has("certificate is valid for", "certificate is not valid", "doesn't contain any IP SANs"):
		return t.Say("its certificate is for another name", "give the name in it with servername=NAME")
	case t.Has("no such host"):
		return t.Say("there is no such host", "is the name right?")
	case t.Has("connection refused", "i/o timeout", "network is unreachable", "no route to host"):
		return t.Say("cannot be reached: "+t.Last(), running)
	case errors.Is(err, context.DeadlineExceeded):
		return t.Say("does not answer in time", running+", or give it more time with dial_timeout= or read_timeout=")
	case status.Code(err) == codes.Unavailable, t.Has("code = Unavailable", "connection reset", "broken pipe", "EOF", "server preface", "frame header", "http2"):
		if ss.tls == nil {
			return t.Say("closed the connection, or does not speak gRPC", "does it speak TLS only? add tls=1 and ca=FILE")
		}
		return t.Say("closed the connection, or does not speak gRPC", "does it want a certificate? give cert=FILE and key=FILE")
	}
	return t.Unknown("is this Coherence with a gRPC proxy? perfbench lab up coherence starts one")
}
