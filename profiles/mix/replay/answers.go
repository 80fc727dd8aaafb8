package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/workload"
)

// How answers are compared
//
// The answers of two replays of a capture are put side by side call by call. They are the same
// on the same server only where the order of the calls decides them, so the calls of each key
// keep their order, and an answer counts as the same if it is of the same kind wherever
// something else has a hand in it: the time, chance, or the order of calls that name several
// keys.

const (
	// answersMagic begins a file of answers; the header follows as a line of JSON, and then
	// one record for each call.
	answersMagic = "perfbench answers 1\n"
	recordSize   = 8 + 1 + 4 + 8
	// mostAnswers is how many calls can be compared, in 16 bytes of memory each.
	mostAnswers = 1 << 26
	// maxExamples is how many answers that differ are kept as examples.
	maxExamples = 10
)

// Kinds of answers.
const (
	noAnswer = iota // the call was not made, or no answer came
	aValue
	nothing
	anError
)

var kindWords = [...]string{"no answer", "a value", "nothing", "an error"}

// answer is what is kept of one.
type answer struct {
	// vague means that more than the order of the calls decides it, so that only its kind is
	// compared. It is not kept.
	vague bool
	kind  uint8
	// size is the length of a text, or the number of several.
	size uint32
	hash uint64
}

// answersHeader says what the answers are of.
type answersHeader struct {
	Capture answersOf `json:"capture"`
	Server  string    `json:"server"`
	Calls   int64     `json:"calls"`
	Begins  beginning `json:"begins"`
}

// answersOf tells captures apart.
type answersOf struct {
	Source  string `json:"source"`
	Started int64  `json:"started_us"`
	Items   int64  `json:"items"`
}

func (r *Recording) answersOf() answersOf {
	return answersOf{r.Header.Source, r.Header.Started.UnixMicro(), r.Items}
}

// answers keeps the answers of a run in a file, or compares them with those in one. Its methods
// may be called from any goroutine.
type answers struct {
	r        *Recording
	mu       sync.Mutex
	path     string // of the file that is being written
	file     *os.File
	out      *bufio.Writer
	failed   error
	expected []answer // nil: they are kept
	of       answersHeader
	found    workload.Answers
	by       map[string]*workload.AnswersTo
}

// keepAnswers begins a file of answers. It is there once finish has been called.
func keepAnswers(path string, r *Recording, server string, begins beginning) (*answers, error) {
	f, err := os.OpenFile(path+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("keep-answers: %w", err), "")
	}
	a := &answers{r: r, path: path, file: f, out: bufio.NewWriterSize(f, 1<<20)}
	top, err := json.Marshal(answersHeader{r.answersOf(), server, r.Items, begins})
	if err == nil {
		_, err = a.out.WriteString(answersMagic + string(top) + "\n")
	}
	return a, err
}

// expectAnswers reads a file of answers. Errors have the code of bad input.
func expectAnswers(path string, r *Recording, begins beginning) (*answers, error) {
	bad := func(why string) (*answers, error) {
		return nil, fault.Input(fmt.Errorf("expect-answers: %s %s", path, why), "a replay with --keep-answers FILE makes one")
	}
	f, err := infile.Open(infile.Recorded, path)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("expect-answers: %w", err), "a replay with --keep-answers FILE makes one")
	}
	defer f.Close() //nolint:errcheck // it was only read
	in := bufio.NewReaderSize(f, 1<<20)
	magic := make([]byte, len(answersMagic))
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != answersMagic {
		return bad("has no answers")
	}
	a := &answers{r: r, by: map[string]*workload.AnswersTo{}}
	top, err := in.ReadSlice('\n')
	if err != nil || json.Unmarshal(top, &a.of) != nil {
		return bad("has no header")
	}
	switch {
	case a.of.Capture != r.answersOf():
		return bad("has the answers to another capture")
	case a.of.Begins != begins:
		return bad("is of a replay that began with other data (load or snapshot)")
	}
	a.expected = make([]answer, r.Items)
	var b [recordSize]byte
	for {
		_, err := io.ReadFull(in, b[:])
		if errors.Is(err, io.EOF) {
			break
		}
		number := binary.LittleEndian.Uint64(b[:])
		if err != nil || number >= uint64(len(a.expected)) || b[8] > anError {
			return bad("is damaged")
		}
		a.expected[number] = answer{kind: b[8], size: binary.LittleEndian.Uint32(b[9:]), hash: binary.LittleEndian.Uint64(b[13:])}
	}
	a.found.Server = a.of.Server
	return a, nil
}

// plain is the answer as it is kept.
func (a answer) plain() answer {
	a.vague = false
	return a
}

// record takes the answer to a call, by its number in the recording; describe says of an example
// which call it is, and what it was answered.
func (a *answers) record(number int64, command string, got answer, describe func() (call, now string)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.expected == nil {
		var b [recordSize]byte
		binary.LittleEndian.PutUint64(b[:], uint64(number))
		b[8] = got.kind
		binary.LittleEndian.PutUint32(b[9:], got.size)
		binary.LittleEndian.PutUint64(b[13:], got.hash)
		if _, err := a.out.Write(b[:]); a.failed == nil {
			a.failed = err
		}
		return
	}
	want := a.expected[number]
	if want.kind == noAnswer {
		return // the earlier replay did not come to it
	}
	by := a.by[command]
	if by == nil {
		by = &workload.AnswersTo{Command: command}
		a.by[by.Command] = by
	}
	by.Compared++
	a.found.Compared++
	if got.vague {
		a.found.Kinds++
	}
	if want.kind == got.kind && (got.vague || want == got.plain()) {
		return
	}
	by.Differ++
	a.found.Differ++
	switch {
	case got.kind == anError && want.kind != anError:
		a.found.NewErrors++
	case want.kind == anError && got.kind != anError:
		a.found.GoneErrors++
	}
	if len(a.found.Examples) < maxExamples {
		a.found.Examples = append(a.found.Examples, a.example(number, want, got, describe))
	}
}

// example describes an answer that differs.
func (a *answers) example(number int64, want, got answer, describe func() (call, now string)) string {
	call, now := describe()
	if now == "" {
		now = got.words(a.r.talk)
	}
	was := want.words(a.r.talk)
	if want.kind == aValue && got.kind == aValue && want.size == got.size {
		was = "another of that size"
		if a.r.talk.size != nil {
			was = "as many, but others"
		}
	}
	return fmt.Sprintf("call %d, %s: %s; before, %s", number+1, call, now, was)
}

// words describe an answer of which nothing more is known.
func (a answer) words(l *language) string {
	switch {
	case a.kind != aValue:
	case l.size != nil:
		return l.size(a.size)
	default:
		return fmt.Sprintf("a value of size %d", a.size)
	}
	return kindWords[a.kind]
}

// short is a text that is fit to be shown.
func short(b []byte) string {
	const most = 60
	more := ""
	if len(b) > most {
		b, more = b[:most], "…"
	}
	return fmt.Sprintf("%q%s", bytes.ToValidUTF8(b, []byte("?")), more)
}

// finish ends the comparison, or has the file take its place.
func (a *answers) finish(whole bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return nil
	}
	err := errors.Join(a.failed, a.out.Flush(), a.file.Sync(), a.file.Close())
	a.file = nil
	switch {
	case err != nil:
		err = fmt.Errorf("keep-answers: %w", err)
	case whole:
		return os.Rename(a.path+".part", a.path)
	}
	return errors.Join(err, os.Remove(a.path+".part"))
}

// result is what was found so far; nil: answers are kept and not compared.
func (a *answers) result() *workload.Answers {
	if a == nil || a.expected == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.found
	out.Examples, out.Commands = slices.Clone(out.Examples), nil
	for _, by := range a.by {
		if by.Differ > 0 {
			out.Commands = append(out.Commands, *by)
		}
	}
	slices.SortFunc(out.Commands, func(x, y workload.AnswersTo) int {
		return cmp.Or(cmp.Compare(y.Differ, x.Differ), cmp.Compare(x.Command, y.Command))
	})
	return &out
}
