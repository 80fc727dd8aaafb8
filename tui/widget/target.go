package widget

import (
	"net/url"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
)

// SplitSecret removes the password from a target as it is typed. Whatever is between
// the first colon after the scheme and the last @ before the parameters is treated as
// the password, so that an odd character in it never reveals the rest. The stars that
// the record of a run has in its place are none.
func SplitSecret(target string) (clean, password string) {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok {
		return target, ""
	}
	authority, params, asked := strings.Cut(rest, "?")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return target, ""
	}
	user, secret, ok := strings.Cut(authority[:at], ":")
	if !ok {
		return target, ""
	}
	clean = scheme + "://" + user + authority[at:]
	if user == "" {
		clean = scheme + "://" + authority[at+1:]
	}
	if asked {
		clean += "?" + params
	}
	if plain, err := url.PathUnescape(secret); err == nil {
		secret = plain
	}
	if secret == store.Masked {
		secret = ""
	}
	return clean, secret
}

// HideSecrets removes passwords from a target for display: that of the user, and
// parameters whose names indicate secrets.
func HideSecrets(target string) string {
	clean, _ := SplitSecret(target)
	base, params, ok := strings.Cut(clean, "?")
	if !ok {
		return clean
	}
	list := strings.Split(params, "&")
	for i, p := range list {
		if name, _, ok := strings.Cut(p, "="); ok && secretName(name) {
			list[i] = name + "=•••"
		}
	}
	return base + "?" + strings.Join(list, "&")
}

func secretName(name string) bool {
	n := strings.ToLower(name)
	return strings.Contains(n, "pass") || strings.Contains(n, "secret") || strings.Contains(n, "token")
}

// MaskTyped returns the displayed text of a target while it is typed: as many letters,
// with those of a password as dots. Before its @ is typed, what follows "user:" is
// treated as a password unless it looks like a port.
func MaskTyped(target string) string {
	shown := []rune(target)
	from := strings.Index(target, "://")
	if from < 0 {
		return target
	}
	runes := func(b int) int { return len([]rune(target[:b])) }
	dots := func(a, b int) {
		for i := runes(a); i < runes(b); i++ {
			shown[i] = '•'
		}
	}
	from += 3
	end := len(target)
	if q := strings.IndexByte(target[from:], '?'); q >= 0 {
		end = from + q
		at := end + 1
		for p := range strings.SplitSeq(target[at:], "&") {
			if name, _, ok := strings.Cut(p, "="); ok && secretName(name) {
				dots(at+len(name)+1, at+len(p))
			}
			at += len(p) + 1
		}
	}
	colon := strings.IndexByte(target[from:end], ':')
	if colon < 0 {
		return string(shown)
	}
	colon += from + 1
	if at := strings.LastIndexByte(target[from:end], '@'); at >= 0 {
		if from+at > colon {
			dots(colon, from+at)
		}
		return string(shown)
	}
	stop := end
	for i := colon; i < end; i++ {
		if c := target[i]; c == '/' || c == ',' {
			stop = i
			break
		}
	}
	if strings.Trim(target[colon:stop], "0123456789") != "" {
		dots(colon, end)
	}
	return string(shown)
}

// MaskList applies MaskTyped to each of several comma-separated targets.
func MaskList(targets string) string {
	list := strings.Split(targets, ",")
	for i, t := range list {
		list[i] = MaskTyped(t)
	}
	return strings.Join(list, ",")
}

// Local reports whether a target names no server. Such a target is pinged only on
// request, because that may create a file.
func Local(target string) bool { return !strings.Contains(target, "://") }

// DefaultTarget is what is measured if no target was given.
const DefaultTarget = "embedded:"
