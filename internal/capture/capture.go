// Package capture is the file of what a store was asked: a header, and one line a call. It
// knows no store; what a call means is said by the package that recorded it.
//
// A file is frames of zstd, one after the other, each with whole lines of JSON. The first
// line is the header; the last of each frame is a tally of everything up to there. Whatever
// ends the recording, the file holds all frames that were written.
package capture

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// Version is that of the format. Readers refuse another; they skip keys that they do not know.
const Version = 1

// Limits of one call. What is larger is not recorded, and counted.
const (
	// MaxText is how many bytes of an argument are recorded; of a longer one, its size.
	MaxText = 1 << 20
	// MaxLine is how many bytes a line has at most.
	MaxLine = 16 << 20
)

// Timing is how exactly a call's moment is known.
type Timing string

// The timings there are.
const (
	Exact   Timing = "exact" // to the microsecond
	Millis  Timing = "milliseconds"
	Seconds Timing = "seconds" // the second alone
	Unknown Timing = "unknown" // only the order of the calls
)

// Header says where the calls are from.
type Header struct {
	// Store is the kind of store, Server its name and version, as far as they are known.
	Store  string `json:"store"`
	Server string `json:"server,omitempty"`
	// Source is the target without secrets, or the name of a log.
	Source string `json:"source"`
	// Identity is what the server calls itself, if it does: it is the same when the server
	// is reached by another address.
	Identity string `json:"identity,omitempty"`
	// How is what the calls were read from.
	How string `json:"how"`
	// Started is the moment that calls are counted from.
	Started time.Time `json:"started"`
	Timing  Timing    `json:"timing"`
	// Sample is N if one connection of N was recorded.
	Sample int `json:"sample,omitempty"`
	// Values and Anonymised say whether values are there, and whether texts are replaced.
	Values     bool `json:"values"`
	Anonymised bool `json:"anonymised"`
	// Notes are what else there is to say about it.
	Notes []string `json:"notes,omitempty"`
}

// Tally counts what was recorded up to some moment, and what was not.
type Tally struct {
	Calls       int64 `json:"calls"`
	Connections int64 `json:"connections"`
	// Left counts calls that were not recorded, by why.
	Left map[string]int64 `json:"left,omitempty"`
	// At is how long the recording has gone on, in microseconds.
	At int64 `json:"at_us"`
	// Ended says what ended the recording; empty: it went on.
	Ended string `json:"ended,omitempty"`
	// Notes are what there is to say at the end.
	Notes []string `json:"notes,omitempty"`
}

// Call is one call. A reader uses its slices again for the next one.
type Call struct {
	// At is when, from the start.
	At time.Duration
	// Conn numbers the connections from 1; DB is the number of the database.
	Conn int64
	DB   int
	// Args begin with the command.
	Args []Arg
	// Keys are the indexes of the arguments that are keys.
	Keys []int
	// Found is what a read found, as far as the source knows.
	Found Found
	// Outcome is how it ended, as far as the source knows.
	Outcome Outcome
}

// Outcome is how a call ended.
type Outcome uint8

// The outcomes there are.
const (
	Unsaid Outcome = iota // nobody knows
	Succeeded
	Failed
)

// Found is what a read found. The zero value is that nobody knows.
type Found struct {
	Known, Hit bool
	// Size is the length of what was found.
	Size int
}

// missed stands in a file for a size where nothing was found.
const missed = -1

// Command returns the name of the command.
func (c *Call) Command() string { return c.Args[0].Text }

// Kind is how much of an argument is known.
type Kind uint8

// The kinds there are.
const (
	Text Kind = iota // all of it
	Size             // its length
	Name             // its length, and a number that is the same wherever the text is the same
	Null             // it has no value, which a store tells from an empty one
)

// Arg is an argument of a call.
type Arg struct {
	Kind Kind
	Text string
	// Size is the length in bytes, whatever the kind.
	Size int
	ID   uint64
}

// TextArg is an argument that is recorded as it is.
func TextArg(s string) Arg { return Arg{Kind: Text, Text: s, Size: len(s)} }

// append appends the argument as JSON.
func (a *Arg) append(b []byte) []byte {
	switch {
	case a.Kind == Null:
		return append(b, "null"...)
	case a.Kind == Size:
		return strconv.AppendInt(b, int64(a.Size), 10)
	case a.Kind == Name:
		b = append(b, `{"id":"`...)
		b = strconv.AppendUint(b, a.ID, 36)
		b = append(b, `","n":`...)
		return append(strconv.AppendInt(b, int64(a.Size), 10), '}')
	case !utf8.ValidString(a.Text):
		b = append(b, `{"b":"`...)
		b = base64.StdEncoding.AppendEncode(b, []byte(a.Text))
		return append(b, `"}`...)
	}
	return appendText(b, a.Text)
}

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Arg) UnmarshalJSON(data []byte) error {
	*a = Arg{}
	switch data[0] {
	case 'n':
		a.Kind = Null
		return nil
	case '"':
		err := json.Unmarshal(data, &a.Text)
		a.Size = len(a.Text)
		return err
	case '{':
		var o struct {
			B  *string `json:"b"`
			ID *string `json:"id"`
			N  int     `json:"n"`
		}
		if err := json.Unmarshal(data, &o); err != nil {
			return err
		}
		switch {
		case o.B != nil:
			text, err := base64.StdEncoding.DecodeString(*o.B)
			a.Text, a.Size = string(text), len(text)
			return err
		case o.ID != nil && o.N >= 0:
			id, err := strconv.ParseUint(*o.ID, 36, 64)
			*a = Arg{Kind: Name, ID: id, Size: o.N}
			return err
		}
		return errors.New("an argument has neither b nor id")
	}
	n, err := strconv.Atoi(string(data))
	if err != nil || n < 0 {
		return fmt.Errorf("an argument is %.20s", data)
	}
	*a = Arg{Kind: Size, Size: n}
	return nil
}

// append appends the call as a line.
func (c *Call) append(b []byte) []byte {
	b = append(b, `{"t":`...)
	b = strconv.AppendInt(b, c.At.Microseconds(), 10)
	b = append(b, `,"c":`...)
	b = strconv.AppendInt(b, c.Conn, 10)
	if c.DB != 0 {
		b = append(b, `,"d":`...)
		b = strconv.AppendInt(b, int64(c.DB), 10)
	}
	b = append(b, `,"a":[`...)
	for i := range c.Args {
		if i > 0 {
			b = append(b, ',')
		}
		b = c.Args[i].append(b)
	}
	b = append(b, ']')
	if len(c.Keys) > 0 {
		b = append(b, `,"k":[`...)
		for i, k := range c.Keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(k), 10)
		}
		b = append(b, ']')
	}
	if c.Found.Known {
		size := missed
		if c.Found.Hit {
			size = c.Found.Size
		}
		b = append(b, `,"h":`...)
		b = strconv.AppendInt(b, int64(size), 10)
	}
	switch c.Outcome {
	case Succeeded:
		b = append(b, `,"f":0`...)
	case Failed:
		b = append(b, `,"f":1`...)
	}
	return append(b, "}\n"...)
}

// line is any line of a file.
type line struct {
	Version int     `json:"perfbench_capture"`
	Header  *Header `json:"header"`
	Tally   *Tally  `json:"tally"`
	T       int64   `json:"t"`
	C       int64   `json:"c"`
	D       int     `json:"d"`
	A       []Arg   `json:"a"`
	K       []int   `json:"k"`
	H       *int    `json:"h"`
	F       *int    `json:"f"`
}

// outcome returns how the call ended.
func (l *line) outcome() Outcome {
	switch {
	case l.F == nil:
		return Unsaid
	case *l.F == 0:
		return Succeeded
	}
	return Failed
}

// found returns what the call found.
func (l *line) found() Found {
	switch {
	case l.H == nil:
		return Found{}
	case *l.H == missed:
		return Found{Known: true}
	}
	return Found{Known: true, Hit: true, Size: *l.H}
}

// check says what is wrong with a line that should be a call.
func (l *line) check() error {
	switch {
	case len(l.A) == 0 || l.A[0].Kind != Text || l.A[0].Text == "":
		return errors.New("it has no command")
	case l.T < 0 || l.T > int64(1<<53):
		return errors.New("t is no time")
	case l.C < 1:
		return errors.New("c is no number of a connection")
	case l.D < 0:
		return errors.New("d is no number of a database")
	case l.H != nil && *l.H < missed:
		return errors.New("h is no size of what was found")
	}
	if l.F != nil && *l.F != 0 && *l.F != 1 {
		return errors.New("f is neither 0 nor 1")
	}
	for _, k := range l.K {
		if k < 1 || k >= len(l.A) || l.A[k].Kind != Text {
			return fmt.Errorf("argument %d is no key", k)
		}
	}
	return nil
}
