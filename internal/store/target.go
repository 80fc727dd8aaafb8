package store

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// Target is a parsed --target: where a store is and how to reach it. It prints as
// Redacted does, so that no secret gets into a message by accident.
type Target struct {
	// Scheme is the URL scheme as written, in lower case: "redis", "rediss+cluster".
	Scheme string
	// Hosts are host:port pairs, the port as written or empty.
	Hosts []string
	// Path is what follows the hosts, without the slash: a keyspace, a database, a
	// sentinel's master name; for unix: and sqlite:, the file.
	Path string
	// User and Password come from the URL; the password may also come from elsewhere.
	User, Password string
	// Params are the URL parameters.
	Params url.Values
}

// form is how the part after a scheme is written.
type form int

const (
	formHosts form = iota + 1 // scheme://user:password@host:port,host:port/path
	formFile                  // scheme:PATH or scheme://user:password@/PATH
	formName                  // scheme: or scheme:NAME
)

// scheme describes how the targets of one URL scheme are written.
type scheme struct {
	form    form
	tls     bool // implies TLS
	example string
}

// schemes holds the syntax of every target. Which driver opens them does not concern
// this package.
var schemes = map[string]scheme{
	"redis":           {form: formHosts, example: "redis://localhost:6379"},
	"rediss":          {form: formHosts, tls: true, example: "rediss://localhost:6379"},
	"unix":            {form: formFile, example: "unix:///run/redis/redis.sock"},
	"redis+cluster":   {form: formHosts, example: "redis+cluster://host1:6379,host2:6379"},
	"rediss+cluster":  {form: formHosts, tls: true, example: "rediss+cluster://host1:6379,host2:6379"},
	"redis+sentinel":  {form: formHosts, example: "redis+sentinel://host1:26379,host2:26379/mymaster"},
	"rediss+sentinel": {form: formHosts, tls: true, example: "rediss+sentinel://host1:26379,host2:26379/mymaster"},
	"cassandra":       {form: formHosts, example: "cassandra://host1:9042,host2:9042/keyspace"},
	"mysql":           {form: formHosts, example: "mysql://root@localhost:3306/perfbench"},
	"mariadb":         {form: formHosts, example: "mariadb://root@localhost:3306/perfbench"},
	"postgres":        {form: formHosts, example: "postgres://postgres@localhost:5432/perfbench"},
	"postgresql":      {form: formHosts, example: "postgresql://postgres@localhost:5432/perfbench"},
	"memcached":       {form: formHosts, example: "memcached://localhost:11211"},
	"sqlite":          {form: formFile, example: "sqlite:perfbench.db"},
	"coherence":       {form: formHosts, example: "coherence://localhost:1408"},
	"dtm+http":        {form: formHosts, example: "dtm+http://localhost:36789"},
	"dtm+bench":       {form: formHosts, example: "dtm+bench://localhost:8083"},
	"amqp":            {form: formHosts, example: "amqp://localhost:5672"},
	"amqps":           {form: formHosts, tls: true, example: "amqps://localhost:5671"},
	"embedded":        {form: formName, example: "embedded:"},
	"memory":          {form: formName, example: "memory:"},
	"null":            {form: formName, example: "null:"},
	"lab":             {form: formName, example: "lab:redis"},
}

// neighbours are stores that speak the protocol of another, by the names that people give their
// URLs, with the scheme of that protocol.
var neighbours = map[string]string{
	"valkey": "redis", "valkeys": "rediss", "keydb": "redis", "dragonfly": "redis", "garnet": "redis", "memorydb": "redis", "elasticache": "redis",
	"scylla": "cassandra", "scylladb": "cassandra", "cql": "cassandra", "astra": "cassandra", "keyspaces": "cassandra",
	"tidb": "mysql", "vitess": "mysql", "percona": "mysql", "planetscale": "mysql",
	"cockroach": "postgres", "cockroachdb": "postgres", "crdb": "postgres", "yugabyte": "postgres", "yugabytedb": "postgres", "neon": "postgres", "pgbouncer": "postgres", "timescaledb": "postgres",
}

// Schemes returns the names of all known URL schemes in order.
func Schemes() []string {
	names := make([]string, 0, len(schemes))
	for s := range schemes {
		names = append(names, s)
	}
	slices.Sort(names)
	return names
}

// ParseTarget parses a --target. Errors have the code of bad input, name what is wrong,
// and never contain a password. Parameters are parsed but not checked: each driver
// knows its own, see CheckParams.
func ParseTarget(s string) (Target, error) {
	s = strings.TrimSpace(s)
	word, rest, ok := strings.Cut(s, ":")
	word = strings.ToLower(word)
	sc, known := schemes[word]
	if !ok || !known {
		return Target{}, unknownScheme(word, rest, ok)
	}
	t := Target{Scheme: word, Params: url.Values{}}
	if err := t.parse(sc, rest); err != nil {
		return Target{}, err
	}
	return t, nil
}

func unknownScheme(word, rest string, colon bool) error {
	switch _, known := schemes[word]; {
	case word == "" && !colon:
		return bad("target is empty", "for example redis://localhost:6379 or embedded:")
	case known:
		return bad(fmt.Sprintf("target %q has no colon", word), "for example "+schemes[word].example)
	case !colon && word != "" && strings.Trim(word, "0123456789") == "":
		return bad("target "+word+" is a number, not a URL", "did you mean redis://localhost:"+word+"?")
	case !colon && isName(word):
		return bad(fmt.Sprintf("target %q is not a URL", word), "did you mean redis://"+word+"?")
	case colon && isName(word) && rest != "" && strings.Trim(rest, "0123456789") == "":
		return bad("target "+word+":"+rest+" has no scheme", "did you mean redis://"+word+":"+rest+"?")
	case !colon || !isName(word):
		return bad("target is not a URL", "for example redis://localhost:6379 or embedded:")
	case neighbours[word] != "":
		as := neighbours[word]
		return bad(fmt.Sprintf("target: unknown scheme %q", word), fmt.Sprintf("such a store speaks the protocol of %s://, so write that; perfbench doctor --try says what works on it", as))
	}
	hint := fault.Suggest(word, Schemes(), fault.SeeStores+", with an example each")
	if !strings.HasPrefix(hint, "did you mean") {
		hint = "there are " + strings.Join(ofStores(), ", ") + "; " + hint
	}
	return bad(fmt.Sprintf("target: unknown scheme %q", word), hint)
}

// usual are the schemes that are named first, one of each store.
var usual = []string{"redis", "postgres", "mysql", "mariadb", "cassandra", "memcached", "sqlite", "coherence", "embedded", "memory", "null"}

// ofStores are the schemes of stores, the usual ones first: those of brokers are for what stands between.
func ofStores() []string {
	others := slices.DeleteFunc(Schemes(), func(s string) bool { return strings.HasPrefix(s, "amqp") || slices.Contains(usual, s) })
	return append(slices.Clone(usual), others...)
}

func bad(message, hint string) error { return fault.Input(errors.New(message), hint) }

// isName reports whether s could be a scheme or a host, and so may be repeated in a
// message.
func isName(s string) bool {
	return s != "" && len(s) <= 255 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._") == ""
}

func (t *Target) parse(sc scheme, rest string) error {
	body, query, _ := strings.Cut(rest, "?")
	if sc.form == formName {
		t.Path = strings.Trim(body, "/")
		if t.Path != "" && !isName(t.Path) {
			return bad(t.Scheme+": what follows the colon is not a name", "for example "+sc.example)
		}
		return t.query(query)
	}
	authority, path, slashes := "", body, false
	if after, ok := strings.CutPrefix(body, "//"); ok {
		slashes = true
		authority, path = after, ""
		if i := strings.IndexByte(after, '/'); i >= 0 {
			authority, path = after[:i], after[i:]
		}
	}
	if !slashes && sc.form == formHosts {
		return bad(t.Scheme+": // is missing after the colon", "for example "+sc.example)
	}
	at := strings.LastIndexByte(authority, '@')
	if sc.form == formHosts && (strings.Contains(path, "@") || at < 0 && strings.Contains(query, "@") && !plausibleHosts(authority)) {
		// A / or ? in a password has cut the URL short.
		return bad(t.Scheme+": user or password contains a character with a special meaning in URLs",
			"write / as %2F, ? as %3F, # as %23, @ as %40, or give the password by --password-file")
	}
	if at >= 0 {
		if err := t.userinfo(authority[:at]); err != nil {
			return err
		}
		authority = authority[at+1:]
	}
	if err := t.place(sc, authority, path); err != nil {
		return err
	}
	return t.query(query)
}

// plausibleHosts reports whether s can be a list of hosts, so that an @ further on
// belongs to a path or a parameter.
func plausibleHosts(s string) bool {
	for h := range strings.SplitSeq(s, ",") {
		if _, err := parseHost(h); err != nil {
			return false
		}
	}
	return true
}

func (t *Target) userinfo(s string) error {
	user, password, _ := strings.Cut(s, ":")
	var err error
	if t.User, err = url.PathUnescape(user); err != nil {
		return bad(t.Scheme+": a % in the user is not followed by two hex digits", "write % as %25")
	}
	if t.Password, err = url.PathUnescape(password); err != nil {
		return bad(t.Scheme+": a % in the password is not followed by two hex digits", "write % as %25")
	}
	return nil
}

// place parses hosts and path.
func (t *Target) place(sc scheme, authority, path string) error {
	if sc.form == formFile {
		if authority != "" && t.Scheme == "unix" {
			return bad(t.Scheme+": takes a path, not a host", "for example "+sc.example)
		}
		path = authority + path
	} else {
		path = strings.TrimPrefix(path, "/")
	}
	p, err := url.PathUnescape(path)
	if err != nil {
		return bad(t.Scheme+": a % in the path is not followed by two hex digits", "write % as %25")
	}
	t.Path = p
	if sc.form == formFile {
		if p == "" && t.Scheme != "sqlite" { // sqlite: then makes a file for the duration of a run
			return bad(t.Scheme+": no path", "for example "+sc.example)
		}
		return nil
	}
	for h := range strings.SplitSeq(authority, ",") {
		host, err := parseHost(h)
		if err != nil {
			return fault.Input(fmt.Errorf("%s: %w", t.Scheme, err), "for example "+sc.example)
		}
		t.Hosts = append(t.Hosts, host)
	}
	return nil
}

// parseHost reads "host", "host:port", "[v6]" or "[v6]:port".
func parseHost(s string) (string, error) {
	s = strings.TrimSpace(s)
	var host, port string
	var hasPort bool
	if strings.HasPrefix(s, "[") {
		var ok bool
		if host, port, ok = strings.Cut(s[1:], "]"); !ok {
			return "", errors.New("an IPv6 address lacks its ]")
		}
		host = strings.Replace(host, "%25", "%", 1)
		addr, _, _ := strings.Cut(host, "%")
		if ip := net.ParseIP(addr); ip == nil || !strings.Contains(addr, ":") {
			return "", errors.New("what is in [ ] is not an IPv6 address")
		}
		if port, hasPort = strings.CutPrefix(port, ":"); !hasPort && port != "" {
			return "", errors.New("only a port may follow the ] of an IPv6 address")
		}
		host = "[" + host + "]"
	} else if strings.Count(s, ":") > 1 {
		return "", errors.New("a host has more than one colon; write IPv6 addresses in [ ]")
	} else if host, port, hasPort = strings.Cut(s, ":"); host == "" {
		return "", errors.New("a host is missing")
	} else if !isName(host) {
		return "", errors.New("a host contains a character that is not allowed there")
	}
	if !hasPort {
		return host, nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("a port is not a number in 1..65535")
	}
	return host + ":" + port, nil
}

func (t *Target) query(s string) error {
	for pair := range strings.SplitSeq(s, "&") {
		if pair == "" {
			continue
		}
		k, v, _ := strings.Cut(pair, "=")
		key, err := url.QueryUnescape(k)
		if err != nil || !isName(key) {
			return bad(t.Scheme+": a parameter's name contains a character that is not allowed there",
				"parameters are written ?name=value&name=value")
		}
		val, err := url.QueryUnescape(v)
		if err != nil {
			return bad(t.Scheme+": "+key+": a % is not followed by two hex digits", "write % as %25")
		}
		if t.Params.Has(key) {
			return bad(t.Scheme+": parameter "+key+" is given twice", "")
		}
		t.Params.Set(key, val)
	}
	return nil
}

// secret reports whether the value of a parameter must not be shown.
func secret(param string) bool {
	p := strings.ToLower(param)
	return p == "key" || strings.Contains(p, "pass") || strings.Contains(p, "secret") || strings.Contains(p, "token")
}

// Masked stands in the place of a password.
const Masked = "***"

// Redacted returns the target as a URL without its secrets, fit for reports.
func (t Target) Redacted() string {
	var b strings.Builder
	b.WriteString(t.Scheme + ":")
	sc := schemes[t.Scheme]
	user := ""
	if t.User != "" || t.Password != "" {
		user = url.PathEscape(t.User)
		if t.Password != "" {
			user += ":" + Masked
		}
		user += "@"
	}
	switch {
	case sc.form == formHosts:
		b.WriteString("//" + user + strings.ReplaceAll(strings.Join(t.Hosts, ","), "%", "%25"))
		if t.Path != "" {
			b.WriteString("/" + escapePath(t.Path))
		}
	case user != "" || strings.HasPrefix(t.Path, "/"):
		b.WriteString("//" + user + escapePath(t.Path))
	default:
		b.WriteString(escapePath(t.Path))
	}
	for i, k := range slices.Sorted(keys(t.Params)) {
		sep := "&"
		if i == 0 {
			sep = "?"
		}
		v := url.QueryEscape(t.Params.Get(k))
		if secret(k) {
			v = Masked
		}
		b.WriteString(sep + url.QueryEscape(k) + "=" + v)
	}
	return b.String()
}

// nextTarget matches where the next target begins in a list of targets, which may
// themselves contain commas.
var nextTarget = regexp.MustCompile(`,\s*[a-z][a-z0-9+.-]*:`)

// SplitTargets splits a list of targets, whose hosts may be lists as well: a comma
// separates two targets if a scheme follows. Spaces around each are removed.
func SplitTargets(list string) []string {
	var out []string
	for at := nextTarget.FindStringIndex(list); at != nil; at = nextTarget.FindStringIndex(list) {
		out, list = append(out, strings.TrimSpace(list[:at[0]])), list[at[0]+1:]
	}
	return append(out, strings.TrimSpace(list))
}

// Public returns the target without its secrets, and the names of those that it had:
// "password" for the user's password, otherwise names of parameters.
func (t Target) Public() (public Target, hidden []string) {
	public = t
	public.Params = url.Values{}
	if t.Password != "" {
		public.Password = ""
		hidden = append(hidden, "password")
	}
	for _, k := range slices.Sorted(keys(t.Params)) {
		if secret(k) {
			hidden = append(hidden, k)
			continue
		}
		public.Params[k] = t.Params[k]
	}
	return public, hidden
}

func keys(v url.Values) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range v {
			if !yield(k) {
				return
			}
		}
	}
}

func escapePath(s string) string {
	return strings.ReplaceAll(url.PathEscape(s), "%2F", "/")
}

// String returns Redacted.
func (t Target) String() string { return t.Redacted() }

// GoString returns Redacted, so that %#v shows no secret either.
func (t Target) GoString() string { return t.Redacted() }

// MarshalText returns Redacted, so that no log record shows a secret.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.Redacted()), nil }
