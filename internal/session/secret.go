package session

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// secret is the password of a target, which a driver may have put into a text.
type secret string

// secret returns the password to be hidden.
func (p *Prepared) secret() secret { return secret(p.Target.Password) }

// Mask returns s, a text from a store, without the target's password.
func (p *Prepared) Mask(s string) string { return p.secret().mask(s) }

// minSecret is the shortest password that is masked in texts from elsewhere: masking
// "a" would make every message unreadable.
const minSecret = 4

// mask hides the password in a text, but not where it is a part of a longer word: "test" is not
// cut out of "latest".
func (w secret) mask(s string) string {
	if len(w) < minSecret {
		return s
	}
	var b strings.Builder
	for {
		at := strings.Index(s, string(w))
		if at < 0 {
			return b.String() + s
		}
		end := at + len(w)
		if within(s, at) || within(s, end) {
			_, n := utf8.DecodeRuneInString(s[at:])
			b.WriteString(s[:at+n])
			s = s[at+n:]
			continue
		}
		b.WriteString(s[:at] + "***")
		s = s[end:]
	}
}

// within reports whether a place is between two letters or digits.
func within(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at:])
	return ofWord(before) && ofWord(after)
}

func ofWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// hide returns err with the password masked in its message. If a limit of this process
// caused the error, a hint says how to raise it.
func (w secret) hide(err error) error {
	if hint := fault.LimitHint(err, self.FileLimit()); hint != "" {
		err = fault.Hint(err, hint)
	}
	if err == nil || w.mask(err.Error()) == err.Error() {
		return err
	}
	return fault.Code(fault.Hint(errors.New(w.mask(err.Error())), w.mask(fault.HintOf(err))), fault.CodeOf(err))
}
