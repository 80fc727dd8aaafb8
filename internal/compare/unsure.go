package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// Policy is what a comparison used as a gate does with figures of which it is unsure.
type Policy string

// The policies: an unsure figure passes, passes with a warning, or fails as a worse one
// does.
const (
	Pass Policy = "pass"
	Warn Policy = "warn"
	Fail Policy = "fail"
)

// Policies are all policies, the usual one first.
var Policies = []string{string(Pass), string(Warn), string(Fail)}

// ParsePolicy parses a policy; nothing is Pass. Errors have the code of bad input.
func ParsePolicy(text string) (Policy, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Pass, nil
	}
	if !slices.Contains(Policies, text) {
		return Pass, fault.Field("unsure", fault.Input(fmt.Errorf("unsure: %q is not one of %s", text, strings.Join(Policies, ", ")), "write it like --unsure warn"))
	}
	return Policy(text), nil
}

// Unsures returns the figures of all calls that may be worse by more than the tolerance,
// or not: there is too little to tell. Processor time is none: a single run a side never
// tells.
func (c *Comparison) Unsures() []Finding {
	if len(c.Parts) == 0 {
		return nil
	}
	var out []Finding
	for _, f := range c.Parts[0].Findings {
		if f.Verdict == Unsure && !f.Held && f.Figure != ClientCPU && f.Figure != StoreCPU {
			out = append(out, f)
		}
	}
	return out
}

// Warnings returns a sentence for each figure of which the comparison is unsure, if its
// policy is to warn of them.
func (c *Comparison) Warnings() []string {
	if c.Unsure != Warn {
		return nil
	}
	return c.unsure()
}

// unsure returns a sentence for each figure of which the comparison is unsure, or why it compares none.
func (c *Comparison) unsure() (out []string) {
	for _, why := range []string{unlike(c.A, c.B), otherLoad(c.A, c.B)} {
		if why != "" {
			out = append(out, why)
		}
	}
	for _, f := range c.Unsures() {
		text := f.Sentence(c.Unit(nil))
		if power := f.PowerText(); power != "" {
			text += "; " + power
		}
		out = append(out, text)
	}
	return out
}
