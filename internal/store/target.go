package store

import "net/url"

// Target is a parsed --target: where a store is and how to reach it.
type Target struct {
	// Scheme is the URL scheme as written, in lower case: "redis", "rediss+cluster".
	Scheme string
	// Hosts are host:port pairs, the port as written or empty.
	Hosts []string
	// Path is what follows the hosts without the slash: a keyspace, a database, a
	// sentinel's master name; for unix: and sqlite: the file.
	Path string
	// User and Password come from the URL, or the password from elsewhere.
	User, Password string
	// Params are the URL parameters.
	Params url.Values
}
