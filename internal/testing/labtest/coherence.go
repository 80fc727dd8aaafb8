package labtest

import "testing"

// Coherence returns a running Coherence CE member with its gRPC proxy, which is the
// [Common] one: each test must use its own namespace.
func Coherence(t testing.TB) *Server {
	t.Helper()
	return Common(t, "coherence")
}

// CoherenceTLS starts a private member whose gRPC proxy speaks TLS only.
func CoherenceTLS(t testing.TB, o TLSOptions) *TLSServer {
	t.Helper()
	return startTLS(t, "coherence", o)
}
