package compare

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// Worse returns the figures of all calls that are worse by more than the tolerance.
func (c *Comparison) Worse() []Finding {
	if len(c.Parts) == 0 {
		return nil
	}
	var out []Finding
	for _, f := range c.Parts[0].Findings {
		if f.Verdict == Worse && f.beyond(c.Tolerance) {
			out = append(out, f)
		}
	}
	return out
}

// Err is the result of using a comparison as a gate: nil, or an error with a sentence
// for each figure that is worse by more than the tolerance, or unsure where that fails,
// and the exit code of a missed threshold; that of a failed verification if a run of either side
// failed it.
func (c *Comparison) Err() error {
	var errs []error
	for _, why := range c.Failures() {
		errs = append(errs, fault.Code(errors.New(why), fault.CodeVerification))
	}
	for _, f := range c.Worse() {
		errs = append(errs, fault.Code(errors.New(f.Sentence(c.Unit(nil))), fault.CodeThreshold))
	}
	if c.Unsure == Fail {
		for _, text := range c.unsure() {
			errs = append(errs, fault.Code(errors.New(text), fault.CodeThreshold))
		}
	}
	return errors.Join(errs...)
}

// Failures says which side had runs that failed verification: their figures are none.
func (c *Comparison) Failures() []string {
	return append(failures("A", c.A), failures("B", c.B)...)
}

// ParseTolerance parses a tolerance as users type it: "5%", "5". Errors have the code
// of bad input.
func ParseTolerance(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")), 64)
	if err != nil || math.IsNaN(v) || v <= 0 || v > 1000 {
		return 0, fault.Field("tolerance", fault.Input(fmt.Errorf("tolerance: %q is not a percentage above 0 %% and up to 1000 %%", text), "write it like --tolerance 5%"))
	}
	return v / 100, nil
}
