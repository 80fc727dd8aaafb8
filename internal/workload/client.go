package workload

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/units"
)

// Client is what callers of the store do when it does not answer in time, or fails. The zero
// value waits as long as the store's driver does and tries nothing again.
type Client struct {
	// Deadline is how long an attempt may take before it is given up; 0: no limit.
	Deadline time.Duration
	// Retries is how many more attempts there may be after one that failed.
	Retries int
	// Backoff is the longest pause before the first of them; the longest doubles from one to the
	// next, up to MostBackoff. How long a pause is, from none up to that, is drawn by lot.
	Backoff time.Duration
	// Budget is how many retries there may be over time, as a share of the iterations; 0: any
	// number.
	Budget float64
}

// MostBackoff is the longest pause before an attempt.
const MostBackoff = 10 * time.Second

// mostRetries is the highest number of retries.
const mostRetries = 100

// ClientHelp says what can be asked for.
const ClientHelp = "what callers do when the store is slow or fails: deadline=50ms,retries=3,backoff=10ms,budget=10%; by default they wait, and try nothing again"

// Patient reports whether callers wait and try nothing again.
func (c Client) Patient() bool { return c.Deadline == 0 && c.Retries == 0 }

// ParseClient reads a client as users type it.
func ParseClient(text string) (c Client, err error) {
	if strings.TrimSpace(text) == "" {
		return c, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		bad := func(want string) (Client, error) { return Client{}, fmt.Errorf("%s: %q is not %s", name, value, want) }
		switch name {
		case "deadline", "backoff":
			d, err := time.ParseDuration(value)
			if err != nil || d < 10*time.Microsecond || d > time.Hour {
				return bad("a time from 10us to 1h, such as 50ms")
			}
			if name == "deadline" {
				c.Deadline = d
			} else if c.Backoff = d; d > MostBackoff {
				return bad("a time up to " + units.Typed(MostBackoff))
			}
		case "retries":
			if c.Retries, err = strconv.Atoi(value); err != nil || c.Retries < 0 || c.Retries > mostRetries {
				return bad(fmt.Sprintf("a number from 0 to %d", mostRetries))
			}
		case "budget":
			share, found := strings.CutSuffix(value, "%")
			if c.Budget, err = units.ParseNumber(share); err != nil || !found || c.Budget <= 0 || c.Budget > 100*mostRetries {
				return bad("a share of the calls, such as 10%")
			}
			c.Budget /= 100
		default:
			return Client{}, fmt.Errorf("%q is not deadline, retries, backoff or budget, such as deadline=50ms,retries=3,backoff=10ms,budget=10%%", name)
		}
	}
	if c.Retries == 0 && (c.Backoff > 0 || c.Budget > 0) {
		return Client{}, errors.New("backoff and budget are of retries, and there are none: add retries=3")
	}
	return c, nil
}

// String writes a client as users type it; empty: a patient one.
func (c Client) String() string {
	var parts []string
	add := func(given bool, text string) {
		if given {
			parts = append(parts, text)
		}
	}
	add(c.Deadline > 0, "deadline="+c.Deadline.String())
	add(c.Retries > 0, fmt.Sprintf("retries=%d", c.Retries))
	add(c.Backoff > 0, "backoff="+c.Backoff.String())
	add(c.Budget > 0, "budget="+plain(100*c.Budget)+"%")
	return strings.Join(parts, ",")
}

// Pause is how long to wait before a retry, by its number from 0 and a number from 0 up to 1
// drawn by lot.
func (c Client) Pause(retry int, drawn float64) time.Duration {
	most := min(float64(c.Backoff)*math.Pow(2, float64(retry)), float64(MostBackoff))
	return time.Duration(most * drawn)
}
