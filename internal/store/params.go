package store

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
)

// NetworkParams are the URL parameters that every driver of a networked store
// understands. TLSConfig, Timeouts and Connections read them.
var NetworkParams = []string{
	"tls", "ca", "cert", "key", "servername", "insecure",
	"dial_timeout", "read_timeout", "write_timeout", "connections",
}

// CheckParams refuses parameters of t that are not among known, naming the closest
// valid one. The error has the code of bad input.
func CheckParams(t Target, known []string) error {
	var errs []error
	for _, k := range slices.Sorted(keys(t.Params)) {
		if slices.Contains(known, k) {
			continue
		}
		hint := "this target takes no parameters"
		switch l := strings.ToLower(k); {
		case l == "password" || l == "user" || l == "username":
			hint = "write them before the host: " + t.Scheme + "://user:password@host"
		case len(known) > 0:
			hint = fault.Suggest(k, known, fault.SeeStores)
		}
		errs = append(errs, fault.Hint(fmt.Errorf("%s: unknown parameter %q", t.Scheme, k), hint))
	}
	if len(errs) == 1 {
		return fault.Code(errs[0], fault.CodeInput)
	}
	return fault.Code(errors.Join(errs...), fault.CodeInput)
}

func (t Target) badParam(name, want, hint string) error {
	shown := strconv.Quote(t.Params.Get(name))
	if secret(name) {
		shown = "its value"
	}
	return fault.Input(fmt.Errorf("%s: %s: %s is not %s", t.Scheme, name, shown, want), hint)
}

// Bool reads a parameter that is on or off; false if it is not given.
func (t Target) Bool(name string) (bool, error) {
	if !t.Params.Has(name) {
		return false, nil
	}
	switch strings.ToLower(t.Params.Get(name)) {
	case "1", "true", "on", "yes", "":
		return true, nil
	case "0", "false", "off", "no":
		return false, nil
	}
	hint := ""
	if name == "tls" {
		hint = tlsWords[strings.ToLower(t.Params.Get(name))]
	}
	return false, t.badParam(name, "1 or 0", hint)
}

// Int reads a whole number in [lo, hi]; def if it is not given.
func (t Target) Int(name string, def, lo, hi int) (int, error) {
	if !t.Params.Has(name) {
		return def, nil
	}
	n, err := strconv.Atoi(t.Params.Get(name))
	if err != nil || n < lo || n > hi {
		return 0, t.badParam(name, fmt.Sprintf("a whole number in %d..%d", lo, hi), "")
	}
	return n, nil
}

// Duration reads a duration above 0; 0 if it is not given.
func (t Target) Duration(name string) (time.Duration, error) {
	if !t.Params.Has(name) {
		return 0, nil
	}
	d, err := time.ParseDuration(t.Params.Get(name))
	if err != nil || d <= 0 {
		return 0, t.badParam(name, "a duration above 0", "write it with its unit: 500ms, 5s, 1m")
	}
	return d, nil
}

// TimeoutSet holds the timeouts of a target. 0 means not given.
type TimeoutSet struct {
	Dial, Read, Write time.Duration
}

// Timeouts reads dial_timeout, read_timeout and write_timeout.
func Timeouts(t Target) (TimeoutSet, error) {
	dial, err1 := t.Duration("dial_timeout")
	read, err2 := t.Duration("read_timeout")
	write, err3 := t.Duration("write_timeout")
	return TimeoutSet{dial, read, write}, errors.Join(err1, err2, err3)
}

// Pipelining is the parameter of drivers whose calls share connections unless it is off.
const Pipelining = "pipelining"

// Pipelines reports whether a target lets calls share connections, each sent before the one ahead of it
// has its answer.
func Pipelines(t Target) bool {
	on, _ := t.Bool(Pipelining) // a driver checks that it is a boolean
	return on || !t.Params.Has(Pipelining)
}

// Connections reads connections=, the size of the pool; 0 if it is not given.
func Connections(t Target) (int, error) { return t.Int("connections", 0, 1, 65536) }

// TLSConfig returns the TLS configuration for a target, nil if the connection is not
// encrypted. It reads the files and names one that is missing. The server name is left
// empty unless servername= is given: it is that of each host.
func TLSConfig(t Target) (*tls.Config, error) {
	on := schemes[t.Scheme].tls
	if t.Params.Has("tls") {
		given, err := t.Bool("tls")
		if err != nil {
			return nil, err
		}
		if on && !given {
			return nil, fault.Input(fmt.Errorf("%s: tls=0 contradicts the scheme", t.Scheme), "leave it out, or use the scheme without TLS")
		}
		on = given
	}
	insecure, err := t.Bool("insecure")
	if err != nil {
		return nil, err
	}
	if !on {
		for _, p := range []string{"ca", "cert", "key", "servername", "insecure"} {
			if t.Params.Has(p) {
				return nil, fault.Input(fmt.Errorf("%s: %s has no meaning without TLS", t.Scheme, p), "add tls=1")
			}
		}
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.Params.Get("servername"), InsecureSkipVerify: insecure}
	if t.Params.Has("ca") {
		if c.RootCAs, err = authorities(t); err != nil {
			return nil, err
		}
	}
	if t.Params.Has("cert") || t.Params.Has("key") {
		pair, err := keyPair(t)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func (t Target) readFile(name string) ([]byte, error) {
	path := t.Params.Get(name)
	data, err := infile.Read(infile.Certificate, path)
	if err == nil {
		return data, nil
	}
	if name == "key" && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		// Somebody may have put the key itself where its file belongs.
		return nil, fault.Input(fmt.Errorf("%s: key: cannot be read as a file", t.Scheme), "key= takes the path of a PEM file")
	}
	if name == "key" && len(path) > 255 {
		return nil, fault.Input(fmt.Errorf("%s: key: there is no such file", t.Scheme), "key= takes the path of a PEM file")
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return nil, fault.Input(fmt.Errorf("%s: %s: %s: %w", t.Scheme, name, path, err), name+"= takes the path of a PEM file")
}

func authorities(t Target) (*x509.CertPool, error) {
	pem, err := t.readFile("ca")
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fault.Input(fmt.Errorf("%s: ca: %s holds no certificate", t.Scheme, t.Params.Get("ca")), "it takes a PEM file with -----BEGIN CERTIFICATE-----")
	}
	return pool, nil
}

func keyPair(t Target) (tls.Certificate, error) {
	if t.Params.Get("cert") == "" || t.Params.Get("key") == "" {
		return tls.Certificate{}, fault.Input(fmt.Errorf("%s: cert and key belong together", t.Scheme), "give both: cert=client.crt&key=client.key")
	}
	cert, err1 := t.readFile("cert")
	key, err2 := t.readFile("key")
	if err := errors.Join(err1, err2); err != nil {
		return tls.Certificate{}, fault.Code(err, fault.CodeInput)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fault.Input(fmt.Errorf("%s: cert and key: %w", t.Scheme, err), "both must be PEM files, and the key must belong to the certificate")
	}
	return pair, nil
}

// HostPort returns a host of a target in the form that dialers take, with its own port
// or, if it has none, with port.
func HostPort(host string, port int) string {
	h, p, err := net.SplitHostPort(host)
	if err != nil {
		h, p = strings.Trim(host, "[]"), strconv.Itoa(port)
	}
	return net.JoinHostPort(h, p)
}
