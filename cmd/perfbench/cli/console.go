package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"
	"text/tabwriter"
	"unicode"
)

// Output remembers that a write has failed, so that no caller needs to look. A
// reader that has gone, as head does, is no failure: what follows is dropped.
type Stream struct {
	// W is where everything goes.
	W io.Writer
	// Err is the first failure.
	Err  error
	gone bool
}

// Write writes b, and returns what W said unless its reader has gone.
func (o *Stream) Write(b []byte) (int, error) {
	if o.gone {
		return len(b), nil
	}
	n, err := o.W.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		o.gone = true
		return len(b), nil
	}
	if err != nil && o.Err == nil {
		o.Err = err
	}
	return n, err
}

// Unwrapped returns the writer below the one that notes errors: the screen needs
// the terminal itself, to ask it for its size.
func Unwrapped(w io.Writer) io.Writer {
	if o, ok := w.(*Stream); ok {
		return o.W
	}
	return w
}

// Printable takes control characters out of what a server or a file may have put
// into a message. The thin space of long numbers is none.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && r != '\u2009' && !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// Plain is text without control characters, and with plain without symbols.
func Plain(text string, plain bool) string {
	text = Printable(text)
	if plain {
		text = symbols.Replace(bullets.ReplaceAllString(text, "$1"))
	}
	return text
}

// bullets begin the lines of a list.
var bullets = regexp.MustCompile(`(?m)^( *)· `)

var symbols = strings.NewReplacer(" · ", ", ", "→", "to", "–", "none", "µ", "u", " %", " percent", "×", "x", "±", "+-", "…", "...", "\u2009", "")

// Table writes rows in columns.
func Table(w io.Writer, fill func(row func(cells ...string))) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fill(func(cells ...string) {
		for i, c := range cells {
			if i > 0 {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprint(t, Printable(c))
		}
		fmt.Fprintln(t)
	})
	_ = t.Flush() // an unwritable stdout shows up elsewhere
}

// JSON writes a value as JSON that a person can read.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
