package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote"
)

// Reach is how the coordinator of a run is reached, as it was asked for.
type Reach struct {
	tokenFile, fingerprint, authorities string
	creds, nkey, run                    string
	wait                                time.Duration
}

// Register adds the flags; wait is how long a coordinator that is not there yet is waited
// for, unless said.
func (r *Reach) Register(fs *pflag.FlagSet, wait time.Duration) {
	fs.SortFlags = false
	fs.StringVar(&r.tokenFile, "token-file", "", "`FILE` whose first line is the token that the coordinator wants")
	fs.StringVar(&r.fingerprint, "fingerprint", "", "`SHA256` of the coordinator's certificate, as the coordinator printed it")
	fs.StringVar(&r.authorities, "tls-ca", "", "`FILE` with those who may have signed the coordinator's certificate, as PEM")
	fs.StringVar(&r.run, "run", "", "`ID` of the run, where several are coordinated over one NATS")
	fs.StringVar(&r.creds, "nats-creds", "", "`FILE` with credentials for a NATS of yours")
	fs.StringVar(&r.nkey, "nats-nkey", "", "`FILE` with the seed of an NKey for a NATS of yours")
	fs.DurationVar(&r.wait, "wait", wait, "`D`: how long to wait for a coordinator that is not there yet")
}

// Options reads files and refuses what cannot be right; what names the command in errors.
func (r *Reach) Options(what, at string) (remote.JoinOptions, error) {
	o := remote.JoinOptions{URL: at, Fingerprint: r.fingerprint, Creds: r.creds, NKey: r.nkey, Run: r.run, Patience: r.wait}
	u, err := url.Parse(at)
	if err == nil && u.Fragment != "" {
		o.URL, o.Key, _ = strings.Cut(at, "#")
		if err := remote.CheckKey(o.Key); err != nil {
			return o, err
		}
	}
	switch {
	case err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls":
		return o, fault.Input(fmt.Errorf("%s: %q is not the URL of a coordinator", what, at), "write it like nats://127.0.0.1:4222")
	case u.User != nil:
		return o, fault.Input(fmt.Errorf("%s: a token in the URL can be seen by others on this machine", what), "use --token-file")
	case r.wait < 0:
		return o, fault.Field("wait", fault.Input(fmt.Errorf("wait: %s is less than nothing", r.wait), "write it like --wait 5m"))
	case r.authorities != "" && o.Fingerprint != "":
		return o, fault.Field("tls-ca", fault.Input(errors.New("tls-ca: with --fingerprint it does not matter who signed the certificate"), "leave one of them out"))
	case r.authorities != "":
		if o.Authorities, err = remote.ReadAuthorities(r.authorities); err != nil {
			return o, err
		}
	case u.Scheme == "tls" && o.Fingerprint == "":
		return o, fault.Field("fingerprint", fault.Input(errors.New("fingerprint: a tls:// coordinator is known by it, or by who signed its certificate"), "copy what the coordinator printed, or give --tls-ca FILE"))
	case o.Fingerprint != "":
		if err := remote.CheckFingerprint(o.Fingerprint); err != nil {
			return o, err
		}
	case !remote.Loopback(u.Hostname()):
		return o, fault.Input(fmt.Errorf("%s: %s is another machine, and without TLS anybody on the way could send a plan", what, u.Hostname()), "have the coordinator use --tls-self-signed, and add --fingerprint with what it printed, or --tls-cert, and add --tls-ca")
	}
	if r.tokenFile != "" {
		o.Token, err = remote.ReadToken(r.tokenFile)
	}
	return o, err
}
