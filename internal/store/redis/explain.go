package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// isItRunning asks whether there is a server, and says how to find out.
func (v *servers) isItRunning(err error) string {
	return "is the server running? try  " + v.cli(err) + " ping,  or  --target embedded:  to go without one"
}

// cli is redis-cli as it reaches the server that an error is about, or else the target's first. User
// and password are left out.
func (v *servers) cli(err error) string {
	if v.target.Scheme == "unix" {
		return "redis-cli -s " + v.target.Path
	}
	addr := ""
	if len(v.target.Hosts) > 0 {
		addr = v.target.Hosts[0]
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil && v.place(err) != "" {
		addr = op.Addr.String()
	}
	host, port, split := net.SplitHostPort(addr)
	if split != nil {
		host, port = addr, ""
	}
	out := "redis-cli"
	if host != "" && host != "localhost" && host != "127.0.0.1" && host != "::1" {
		out += " -h " + host
	}
	if port != "" && port != "6379" {
		out += " -p " + port
	} else if port == "" && v.mode == sentinel {
		out += " -p 26379"
	}
	if v.tls != nil {
		out += " --tls"
	}
	return out
}

// explain says in one sentence why the servers cannot be used, and what to do.
func (v *servers) explain(ctx context.Context, err error) error {
	t := store.Trouble{Driver: "redis", Where: v.where(), Err: v.target.Scrub(err)}
	if err := t.Cancelled(ctx); err != nil {
		return err
	}
	for _, f := range []func(error) (string, string){
		v.sayTLS,
		func(err error) (string, string) { return v.saySentinel(ctx, err) },
		v.sayReply,
		func(err error) (string, string) { return v.sayPlain(ctx, err) },
		v.sayNetwork,
	} {
		if what, hint := f(t.Err); what != "" {
			return t.Say(what, hint)
		}
	}
	return t.Unknown(v.isItRunning(t.Err))
}

// sayTLS explains a failed TLS handshake.
func (v *servers) sayTLS(err error) (what, hint string) {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return noTLS, noTLSHint
	}
	return store.SayTLS(err)
}

// noTLS is what to say about a server that does not speak TLS.
const noTLS, noTLSHint = "the server does not speak TLS on this port", "use the scheme without TLS, or the server's TLS port"

// sayPlain finds out whether a TLS handshake got no answer because the server took it
// for an unfinished command, in which case it answers an unencrypted PING.
func (v *servers) sayPlain(ctx context.Context, err error) (what, hint string) {
	if v.tls == nil || v.target.Scheme == "unix" || ctx.Err() != nil || !timedOut(err) {
		return "", ""
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	port := 6379
	if v.mode == sentinel {
		port = 26379
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", store.HostPort(v.target.Hosts[0], port))
	if err != nil {
		return "", ""
	}
	defer conn.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end)
	}
	reply := make([]byte, 1)
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return "", ""
	}
	if _, err := io.ReadFull(conn, reply); err != nil || reply[0] != '+' && reply[0] != '-' {
		return "", ""
	}
	return noTLS, noTLSHint
}

// timedOut reports whether err means that something took too long.
func timedOut(err error) bool {
	text := err.Error()
	return Classify(err) == store.Timeout || strings.Contains(text, "i/o timeout") ||
		strings.Contains(text, "deadline exceeded") || strings.Contains(text, "handshake timed out")
}

// sayReply explains what the server itself answered.
func (v *servers) sayReply(err error) (what, hint string) {
	var reply goredis.Error
	if !errors.As(err, &reply) || errors.Is(err, goredis.Nil) {
		return "", ""
	}
	text := reply.Error()
	has := func(s string) bool { return strings.HasPrefix(text, s) }
	switch {
	case has("NOAUTH") && v.mode == sentinel && v.target.Password != "" && v.target.Params.Get("sentinel_password") == "":
		return "a password is wanted", "if the sentinels want one too, give it with sentinel_password="
	case has("NOAUTH") && v.target.Password != "":
		return "the server wants a user and a password, and none were given", "write user:password@ before the host"
	case has("NOAUTH"):
		return "the server wants a password, and none was given", store.PasswordHint
	case has("WRONGPASS"), has("ERR invalid password"):
		who := "the password is wrong"
		if v.target.User != "" {
			who = fmt.Sprintf("the user %q does not exist, is disabled, or has another password", v.target.User)
		}
		return who, "check user and password; a % or @ in them is written %25 or %40 in a URL"
	case strings.Contains(text, "AUTH") && strings.Contains(text, "without any password configured"):
		return "a password was given and the server has none", "leave out the password"
	case has("NOPERM"):
		return "the user may not do this: " + text, "grant it with ACL SETUSER"
	case has("LOADING"):
		return "the server is still loading its data", "wait until  " + v.cli(err) + " ping  answers PONG"
	case has("ERR max number of clients"), has("ERR max clients"):
		return "the server has no connection left for us", "raise its maxclients, or lower connections="
	case has("CLUSTERDOWN"):
		return "the cluster is down: " + strings.TrimPrefix(text, "CLUSTERDOWN "), "look at  " + v.cli(err) + " cluster info"
	case has("DENIED"):
		return "the server is in protected mode and takes only local connections", "set a password or bind on the server"
	case has("ERR DB index"), has("ERR invalid DB index"):
		return fmt.Sprintf("there is no database %d", link.ServerOf(v.client).DB), "the server's setting  databases  says how many there are"
	case has("MISCONF"), has("READONLY"), has("OOM"):
		return text, ""
	}
	return "the server answered: " + text, ""
}

// saySentinel explains why no master was found.
func (v *servers) saySentinel(ctx context.Context, err error) (what, hint string) {
	if v.mode != sentinel || !strings.Contains(err.Error(), "all sentinels") {
		return "", ""
	}
	if strings.Contains(err.Error(), "unknown command") {
		return "the server there keeps data and is not a sentinel", "did you mean " + v.scheme("") + "://" + v.target.Hosts[0] + "?"
	}
	if !errors.Is(err, goredis.Nil) {
		return "", ""
	}
	names := v.masterNames(ctx)
	if len(names) == 0 {
		return fmt.Sprintf("the sentinels know no master named %q, nor any other", v.target.Path),
			"SENTINEL MONITOR makes a master known"
	}
	return fmt.Sprintf("the sentinels know no master named %q", v.target.Path), "they know: " + strings.Join(names, ", ")
}

// sayNetwork explains why there is no connection, or none to a Redis server.
func (v *servers) sayNetwork(err error) (what, hint string) {
	var dns *net.DNSError
	text := err.Error()
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("the host name %q cannot be resolved", dns.Name), "check its spelling, or give an address"
	case errors.Is(err, syscall.ECONNREFUSED):
		return v.place(err) + "connection refused", v.isItRunning(err)
	case errors.Is(err, syscall.ENOENT):
		return "there is no such socket", "is the server running? its setting  unixsocket  names the path"
	case errors.Is(err, syscall.EACCES):
		return "the socket may not be opened by this user", "the server's setting  unixsocketperm  says who may"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return v.place(err) + "no route to the host", "is it reachable from here?"
	case strings.HasPrefix(text, "redis: invalid"), strings.HasPrefix(text, "redis: can't parse"),
		strings.Contains(text, "redis: unexpected"), strings.Contains(text, "malformed"), strings.Contains(text, "redis: unknown"):
		return "the server there does not speak the protocol of Redis", "is this the right port?"
	case (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) && v.tls == nil:
		return "the server closed the connection at once", "is it a Redis? if it expects TLS: " + v.tlsTarget()
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return "the server closed the connection at once", "does it speak TLS on this port, and want a client certificate? give cert=FILE and key=FILE"
	case timedOut(err):
		return v.place(err) + "no answer in time", "is it the right host and port, and no firewall between? dial_timeout= and read_timeout= give it longer"
	}
	return "", ""
}

// place names the address that could not be reached if it is not the target's own, as
// with the nodes of a cluster.
func (v *servers) place(err error) string {
	var op *net.OpError
	if v.mode == standalone || !errors.As(err, &op) || op.Addr == nil || op.Addr.String() == v.where() {
		return ""
	}
	return op.Addr.String() + ": "
}

// tlsTarget is the target with TLS, without user and password.
func (v *servers) tlsTarget() string {
	if v.target.Scheme == "unix" {
		return "add tls=1"
	}
	t := strings.Replace(v.target.Scheme, "redis", "rediss", 1) + "://" + v.where()
	if v.mode == sentinel {
		t += "/" + v.target.Path
	}
	return t
}
