package traffic

import (
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
)

// longest is the longest time to live that is believed.
const longest = 100 * 365 * 24 * time.Hour

// ttl returns the time to live that a call sets; 0: none.
func ttl(name string, c *capture.Call, now time.Time) time.Duration {
	at := func(i int) string {
		if i < len(c.Args) && c.Args[i].Kind == capture.Text {
			return c.Args[i].Text
		}
		return ""
	}
	switch name {
	case "SETEX", "EXPIRE":
		return span("EX", at(2), now)
	case "PSETEX", "PEXPIRE":
		return span("PX", at(2), now)
	case "EXPIREAT":
		return span("EXAT", at(2), now)
	case "PEXPIREAT":
		return span("PXAT", at(2), now)
	case "SET", "GETEX":
		for i := 2; i+1 < len(c.Args); i++ {
			if d := span(strings.ToUpper(at(i)), at(i+1), now); d > 0 && (i > 2 || name == "GETEX") {
				return d
			}
		}
	}
	return 0
}

// span reads a time to live by the word in front of it.
func span(word, number string, now time.Time) time.Duration {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 {
		return 0
	}
	unit := time.Millisecond
	if word == "EX" || word == "EXAT" {
		unit = time.Second
	}
	if n > int64(1<<62)/int64(unit) {
		return 0
	}
	d := time.Duration(n) * unit
	switch word {
	case "EX", "PX":
	case "EXAT", "PXAT":
		d -= time.Duration(now.UnixNano())
	default:
		return 0
	}
	if d < 0 || d > longest {
		return 0
	}
	return d
}
