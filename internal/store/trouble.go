package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// Trouble helps a driver to say in one sentence why servers cannot be used, and what to
// do.
type Trouble struct {
	// Driver and Where name the store: "cassandra", and its hosts as in the target.
	Driver, Where string
	Err           error
}

// Cancelled returns the error for a user who did not want to wait; nil if nobody gave
// up.
func (t Trouble) Cancelled(ctx context.Context) error {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %s: %w", t.Driver, t.Where, err) // not the store's fault
	}
	return nil
}

// Has reports whether the text of the error, where some clients put most of what they
// know, contains any of these parts.
func (t Trouble) Has(parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(t.Err.Error(), p) {
			return true
		}
	}
	return false
}

// Last returns what follows the last colon in the text of the error.
func (t Trouble) Last() string {
	text := strings.TrimRight(t.Err.Error(), `"`)
	if i := strings.LastIndex(text, ": "); i >= 0 {
		return text[i+2:]
	}
	return text
}

// Say returns an error with what is wrong and a hint at what to do.
func (t Trouble) Say(what, hint string) error {
	return fault.Store(fault.Sentence(t.Driver+": "+t.Where+": "+what, t.Err), hint)
}

// Unknown returns the error unchanged, with a hint at what to try.
func (t Trouble) Unknown(hint string) error {
	return fault.Store(fmt.Errorf("%s: %s: %w", t.Driver, t.Where, t.Err), hint)
}

// SayTLS says what is wrong with the certificates of a TLS handshake, and what to do;
// empty if nothing is.
func SayTLS(err error) (what, hint string) {
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the server's certificate is for another name: " + e.Error(), "give the name in the certificate with servername=NAME"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the server's certificate is signed by an authority that is not trusted here",
			"give the authority's certificate with ca=FILE, or insecure=1 to trust anyone"
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return "the server's certificate is not valid: " + e.Error(), "check its dates and what it may be used for"
	}
	text := err.Error()
	if _, ok := errors.AsType[tls.AlertError](err); ok || strings.Contains(text, "remote error: tls:") {
		return "the server ended the TLS handshake: " + text[strings.LastIndex(text, "tls: ")+len("tls: "):],
			"does it want a client certificate? give cert=FILE and key=FILE"
	}
	return "", ""
}

// Scrub returns err without the target's secrets. The chain of causes is kept unless it
// contains a secret.
func (t Target) Scrub(err error) error {
	text := err.Error()
	clean := text
	for _, s := range []string{t.Password, t.Params.Get("sentinel_password")} {
		if len(s) >= 4 { // otherwise every message would be unreadable
			clean = strings.ReplaceAll(clean, s, "***")
		}
	}
	if clean == text {
		return err
	}
	return errors.New(clean)
}

// PasswordHint says how to give the password that a server wants, on a command line.
const PasswordHint = "use --password-file, or user:password@ before the host"
