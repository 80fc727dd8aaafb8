package widget

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
)

// Whole formats a count in full with thin spaces between thousands, and abbreviated
// from ten million on.
func Whole(n int64) string {
	if n >= 10_000_000 {
		return units.Number(float64(n))
	}
	return units.Whole(n)
}

// Clock formats a moment of a run: 00:47, 1:02:03; with a minus before zero.
func Clock(d time.Duration) string { return plot.Clock(math.Floor(d.Seconds())) }

// At tells a moment of a run in a sentence.
func At(d time.Duration) string { return plot.At(math.Floor(d.Seconds())) }

// Nanos formats a latency; a dash if nothing was timed.
func Nanos(ns int64) string {
	if ns <= 0 {
		return "–"
	}
	return units.Duration(time.Duration(ns))
}

// Fit pads or cuts a line, styled or not, to exactly w cells.
func Fit(line string, w int) string {
	if w <= 0 {
		return ""
	}
	n := ansi.StringWidth(line)
	if n > w {
		line = ansi.Truncate(line, w, "…")
		n = ansi.StringWidth(line)
	}
	return line + strings.Repeat(" ", w-n)
}

// PathIn shortens a path to at most w cells by cutting its beginning, because its end
// is more informative.
func PathIn(path string, w int) string {
	if n := ansi.StringWidth(path); n > w {
		return ansi.TruncateLeft(path, n-max(w, 1)+1, "…")
	}
	return path
}

// FitRight is like Fit with the text right-aligned.
func FitRight(line string, w int) string {
	n := ansi.StringWidth(line)
	if n >= w {
		return Fit(line, w)
	}
	return strings.Repeat(" ", w-n) + line
}

// Spread puts one text at the left and one at the right of w cells; if both do not fit,
// the left one is cut.
func Spread(left, right string, w int) string {
	n := ansi.StringWidth(right)
	if n >= w {
		return Fit(right, w)
	}
	if n > 0 && ansi.StringWidth(left) >= w-n {
		left = Fit(left, w-n-1) // a gap between what is cut off and what follows
	}
	return Fit(left, w-n) + right
}

// oneLine removes line breaks from a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// NumberText formats a setting's number as short as possible.
func NumberText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Plural formats a count with its word: "1 error", "3 errors".
func Plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Whole(n) + " " + word + "s"
}

// Brief returns a text in at most w cells, cut between words if need be.
func Brief(text string, w int) string {
	if ansi.StringWidth(text) <= w {
		return text
	}
	rows := Wrap(text, max(w-2, 2))
	return strings.TrimRight(rows[0], " ,:;.") + " …"
}

// Labelled returns a label and, from column at on, a text that is wrapped beside it.
func Labelled(s *Styles, at int, label, text string, k Ink, w int) []string {
	w = s.TextWidth(w)
	var out []string
	for i, l := range Wrap(text, max(w-at, 10)) {
		lead := strings.Repeat(" ", at)
		if i == 0 {
			lead = s.Muted.On(Fit(label, at))
		}
		out = append(out, lead+k.On(l))
	}
	return out
}

// flag is how a flag of the command line is named in a text, or a whole command, in which flags stay.
var flag = regexp.MustCompile(`perfbench [a-z]+(?:[^,;:).]|[,:).]\S)*|--(set )?([a-z][a-z-]*)`)

// aside is a flag with its value in parentheses, as advice how to do what was said before it.
var aside = regexp.MustCompile(` \(--([a-z][a-z-]*)( [^ ()]+)?\)`)

// labels has what the forms of a run and of a search call their rows, by the names of the flags that
// set the same.
var labels = sync.OnceValue(func() map[string]string {
	out := map[string]string{"under": "must hold", "over": "over", "from": "from", "to": "up to"}
	for _, f := range request.Fields() {
		switch {
		case f.Form.Label != "":
			out[f.Name] = f.Form.Label
		case f.IsValue(), f.Name == "profile", f.Name == "target", f.Name == "preset", f.Name == "file":
			out[f.Name] = f.Name
		}
	}
	out["warmup"], out["out"] = "warm-up", "results"
	return out
})

// Label returns what the form of a run calls a value or a flag.
func Label(name string) string {
	if _, is := request.FieldNamed(name); is {
		return cmp.Or(labels()[name], name)
	}
	return name
}

// Unflagged returns a text without the flags of the command line, which the workbench does
// not have: it names the rows of forms, first those of its own, and puts a name of several words in
// quotes. What it has no row for is named as it is, or left out if it stands in parentheses.
func Unflagged(text string, own ...FormRow) string {
	label := func(name string) string {
		for _, r := range own {
			if r.Name == name {
				return r.Label
			}
		}
		return labels()[name]
	}
	text = aside.ReplaceAllStringFunc(text, func(f string) string {
		name := aside.FindStringSubmatch(f)[1]
		if _, is := request.FieldNamed(name); is && label(name) == "" {
			return ""
		}
		return f
	})
	text = flag.ReplaceAllStringFunc(text, func(f string) string {
		name, ours := strings.CutPrefix(strings.TrimPrefix(f, "--"), "set ")
		row := label(name)
		switch {
		case !strings.HasPrefix(f, "--"), row == "" && !ours: // a command, or another program's
			return f
		case strings.Contains(row, " "):
			return `"` + row + `"`
		}
		return cmp.Or(row, name)
	})
	return flagged.ReplaceAllString(text, "")
}

// flagged says that a value is from a flag.
var flagged = regexp.MustCompile(` \(flag( [\w-]+)?\)`)

// Sentences returns an error, and each of several joined into one, with its hint below.
func Sentences(s *Styles, err error, w int) []string {
	var out []string
	w = s.TextWidth(w)
	parts := fault.Parts(err)
	if len(parts) == 1 {
		parts = []error{err} // with the hint of the whole
	}
	for _, part := range parts {
		out = append(out, Wrap(part.Error(), w)...)
		if h := fault.HintOf(part); h != "" {
			out = append(out, MutedLines(s, h, w)...)
		}
	}
	return out
}

// MutedLines wraps a remark.
func MutedLines(s *Styles, text string, w int) []string {
	out := Wrap(text, s.TextWidth(w))
	for i, l := range out {
		out[i] = s.Muted.On(l)
	}
	return out
}

// Seconds rounds a time down to whole seconds, below zero as well.
func Seconds(d time.Duration) int { return int(math.Floor(d.Seconds())) }

// Wrap is units.Wrap, but breaks also a word that is wider than a line.
func Wrap(text string, w int) []string {
	var out []string
	for para := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, word := range units.Words(para) {
			for ansi.StringWidth(word) > max(w, 2) {
				if line != "" {
					out, line = append(out, line), ""
				}
				head := ansi.Truncate(word, max(w, 2), "")
				out, word = append(out, head), word[len(head):]
			}
			switch {
			case line == "":
				line = word
			case ansi.StringWidth(line)+1+ansi.StringWidth(word) > w:
				out, line = append(out, line), word
			default:
				line += " " + word
			}
		}
		out = append(out, line)
	}
	return out
}
