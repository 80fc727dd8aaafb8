package store

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// Unchecked returns the parameter of t that makes its connections encrypted without
// verifying the server, such as "insecure=1"; "" if there is none. It understands
// PostgreSQL's own sslmode, whose require means just that.
func (t Target) Unchecked() string {
	if insecure, _ := t.Bool("insecure"); insecure { // a bad value is refused elsewhere
		return "insecure=" + t.Params.Get("insecure")
	}
	if t.Params.Get("sslmode") == "require" && !t.Params.Has("ca") && !t.Params.Has("insecure") {
		return "sslmode=require"
	}
	return ""
}

// Cautions returns sentences about a target whose connection protects less than it
// seems to, for readers of the results; name is what the target is called there.
func (t Target) Cautions(name string) []string {
	var out []string
	if how := t.Unchecked(); how != "" {
		out = append(out, fmt.Sprintf("%s is encrypted, but the server's identity is not checked (%s); give the authority's certificate with ca=FILE instead", name, strings.TrimSuffix(how, "=")))
	}
	if plain, _ := t.Bool("allowFallbackToPlaintext"); plain {
		out = append(out, name+" is not encrypted where the server does not offer it (allowFallbackToPlaintext)")
	}
	return out
}

// tlsWords are the values of tls= that MySQL's drivers know besides on and off, and
// what to write here instead.
var tlsWords = map[string]string{
	"skip-verify": "write tls=1&insecure=1: encrypted, whoever the server is",
	"preferred":   "encryption that is dropped silently protects nothing; write tls=1, or tls=0",
}

// sslWords are modes of PostgreSQL that are not supported here, and why.
var sslWords = map[string]string{
	"prefer": "encryption that is dropped silently protects nothing; write verify-full, require or disable",
	"allow":  "encryption that is dropped silently protects nothing; write verify-full, require or disable",
}

// BadSSLMode returns the error for an sslmode that is not one of known.
func (t Target) BadSSLMode(known []string) error {
	mode := t.Params.Get("sslmode")
	hint, ok := sslWords[mode]
	if !ok {
		hint = fault.Suggest(mode, known)
	}
	return fault.Input(fmt.Errorf("%s: sslmode: %q is not known here", t.Scheme, mode), hint)
}
