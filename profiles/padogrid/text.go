// Package padogrid holds what the profiles modelled on PadoGrid's perf_test share: its
// number and time formats, the layout of its result texts, the keys it writes, and its
// loop. It knows no profile and no store.
package padogrid

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Number formats v with at most that many decimals, rounded half up on the exact binary
// value, without trailing zeros: 39.0625 with three is "39.063". Infinity is "∞", and
// NaN "NaN".
func Number(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	}
	s := new(big.Rat).SetFloat64(v).FloatString(decimals)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// Time formats a moment as in the result texts, in t's own zone.
func Time(t time.Time) string { return t.Format("Mon Jan 02 15:04:05 MST 2006") }

// FileName returns the name of a result text: program is "ingestion" or "tx" with the
// map and the key prefix, or "group" with the group and no prefix. The timestamp is in
// start's own zone.
func FileName(program, name, product string, start time.Time, prefix string) string {
	s := fmt.Sprintf("%s-%s-%s-%s", program, name, product, start.Format("060102-150405"))
	if program != "group" {
		s += "_" + prefix
	}
	return strings.Map(fileRune, s) + ".txt"
}

// fileRune replaces characters that a file name should not contain: a prefix may be any
// text.
func fileRune(r rune) rune {
	if r == '/' || r == '\\' || unicode.IsControl(r) {
		return '_'
	}
	return r
}

// Writer builds a result text. The zero value is an empty text; a Writer belongs to one
// goroutine.
type Writer struct{ b strings.Builder }

const stars = "******************************************"

// Banner writes the title between two rows of asterisks, and an empty line.
func (w *Writer) Banner(title string) {
	w.Line(stars)
	w.Line(title)
	w.Line(stars)
	w.Line("")
}

// Line writes a line as it is.
func (w *Writer) Line(s string) {
	w.b.WriteString(s)
	w.b.WriteByte('\n')
}

// Field writes a label, right-aligned in width columns, and its value.
func (w *Writer) Field(width int, label, value string) {
	w.Line(fmt.Sprintf("%*s: %s", width, label, value))
}

// Int writes a label and a whole number.
func (w *Writer) Int(width int, label string, n int64) {
	w.Field(width, label, strconv.FormatInt(n, 10))
}

// Number writes a label and a number with that many decimals.
func (w *Writer) Number(width int, label string, v float64, decimals int) {
	w.Field(width, label, Number(v, decimals))
}

// Threads writes the block of thread times in milliseconds, thread 1 first.
func (w *Writer) Threads(ms []int64) {
	w.Line("Time unit: msec")
	for i, v := range ms {
		w.Line(fmt.Sprintf("   Thread %d: %d", i+1, v))
	}
	w.Line("")
}

// Start writes when the work began, between empty lines.
func (w *Writer) Start(t time.Time) { w.at("Start Time: ", t) }

// Stop writes when the work ended, between empty lines: the end of the text.
func (w *Writer) Stop(t time.Time) { w.at("Stop Time: ", t) }

func (w *Writer) at(label string, t time.Time) {
	w.Line("")
	w.Line(label + Time(t))
	w.Line("")
}

// Bytes returns the text.
func (w *Writer) Bytes() []byte { return []byte(w.b.String()) }

// Max returns the largest of the thread times, 0 if there are none.
func Max(ms []int64) int64 {
	var m int64
	for _, v := range ms {
		m = max(m, v)
	}
	return m
}

// PerSecond returns n per second over ms milliseconds, as the originals calculate it:
// infinite for no time, NaN for nothing in no time.
func PerSecond(n float64, ms int64) float64 { return n / float64(ms) * 1000 }
