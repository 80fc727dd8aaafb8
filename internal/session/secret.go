package session

import (
	"errors"
	"strings"

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

// mask hides the password in a text.
func (w secret) mask(s string) string {
	if len(w) < minSecret {
		return s
	}
	return strings.ReplaceAll(s, string(w), "***")
}

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
