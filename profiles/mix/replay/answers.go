package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/units"
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
	kind uint8
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
	r *Recording
	// prefix begins the keys of the run, which errors may name.
	prefix string
	// vague are the keys whose answers depend on more than the order of their calls.
	vague map[uint64]bool

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
func keepAnswers(path string, r *Recording, prefix, server string, begins beginning) (*answers, error) {
	f, err := os.OpenFile(path+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("keep-answers: %w", err), "")
	}
	a := &answers{r: r, prefix: prefix, path: path, file: f, out: bufio.NewWriterSize(f, 1<<20)}
	top, err := json.Marshal(answersHeader{r.answersOf(), server, r.Items, begins})
	if err == nil {
		_, err = a.out.WriteString(answersMagic + string(top) + "\n")
	}
	return a, err
}

// expectAnswers reads a file of answers. Errors have the code of bad input.
func expectAnswers(path string, r *Recording, prefix string, begins beginning) (*answers, error) {
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
	a := &answers{r: r, prefix: prefix, by: map[string]*workload.AnswersTo{}}
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
		a.expected[number] = answer{b[8], binary.LittleEndian.Uint32(b[9:]), binary.LittleEndian.Uint64(b[13:])}
	}
	a.found.Server = a.of.Server
	return a, nil
}

// findVague goes through the capture for the keys whose answers depend on more than the order of
// their calls.
func (a *answers) findVague(ended <-chan struct{}) error {
	if a.r.Items > mostAnswers {
		return fault.Input(fmt.Errorf("answers: %s are more than can be compared", units.Plural(a.r.Items, "call")), fmt.Sprintf("capture fewer, up to %d", mostAnswers))
	}
	a.vague = map[uint64]bool{}
	long := 10*a.r.Length + 2*time.Minute // a replay at a tenth of the speed takes less
	return a.r.items(ended, func(i *item, args []capture.Arg) error {
		several, first := false, uint64(0)
		for _, p := range i.calls {
			for _, k := range p.keys {
				key := keyOf(args[p.from+k].Text, p.db)
				several, first = several || first != 0 && key != first, key
			}
		}
		for _, p := range i.calls {
			words := args[p.from:p.to]
			if !several && !drawn[words[0].Text] && !expires(words, long.Milliseconds()) {
				continue
			}
			for _, k := range p.keys {
				a.vague[keyOf(words[k].Text, p.db)] = true
			}
		}
		if len(a.vague) > maxKeys {
			return fault.Input(fmt.Errorf("answers: more than %d keys are named together with others, or expire", maxKeys), "capture for a shorter time")
		}
		return nil
	})
}

func keyOf(key string, db int) uint64 { return hash(key) ^ uint64(db)*0x9e3779b97f4a7c15 }

var (
	// drawn are commands after which a key holds what chance or the clock decides.
	drawn = set("SPOP XADD XREADGROUP XCLAIM XAUTOCLAIM XGROUP|CREATE")
	// passing are commands whose answers chance, the clock or the inside of a server decides.
	passing = set("TTL PTTL EXPIRETIME PEXPIRETIME HTTL HPTTL HEXPIRETIME HPEXPIRETIME OBJECT MEMORY SRANDMEMBER SPOP HRANDFIELD ZRANDMEMBER XADD XINFO XPENDING " +
		"XREADGROUP XCLAIM XAUTOCLAIM HSCAN SSCAN ZSCAN DUMP GEOSEARCH GEORADIUS GEORADIUS_RO GEORADIUSBYMEMBER GEORADIUSBYMEMBER_RO")
	// unordered are commands that answer with members in any order, paired those with pairs.
	unordered = set("SMEMBERS HKEYS HVALS SINTER SUNION SDIFF")
	paired    = set("HGETALL")
)

// encoding is what OBJECT is asked whose answer does not pass.
const encoding = "ENCODING"

// expires reports whether a call makes a key expire within so many ms.
func expires(words []capture.Arg, within int64) bool {
	span := func(a *capture.Arg, unit int64) bool {
		n := int64(0)
		_, err := fmt.Sscan(a.Text, &n)
		return err != nil || n < within/unit
	}
	switch name := words[0].Text; name {
	case "EXPIRE", "SETEX", "HEXPIRE":
		return len(words) > 2 && span(&words[2], 1000)
	case "PEXPIRE", "PSETEX", "HPEXPIRE":
		return len(words) > 2 && span(&words[2], 1)
	case "SET", "GETEX", "HGETEX", "HSETEX":
		for i := 2; i+1 < len(words); i++ {
			switch {
			case i == 2 && name == "SET":
			case strings.EqualFold(words[i].Text, "EX"):
				return span(&words[i+1], 1000)
			case strings.EqualFold(words[i].Text, "PX"):
				return span(&words[i+1], 1)
			}
		}
	}
	return false
}

// answer returns what is kept of an answer, and whether only its kind can be compared.
func (a *answers) answer(words []capture.Arg, keys []int, db int, r *link.Reply, err error) (answer, bool) {
	name := words[0].Text
	vague := passing[name] && !(name == "OBJECT" && len(words) > 1 && strings.EqualFold(words[1].Text, encoding))
	for _, k := range keys {
		vague = vague || a.vague[keyOf(words[k].Text, db)]
	}
	if err != nil {
		h, text := fnv.New64a(), strings.ReplaceAll(err.Error(), a.prefix, "")
		_, _ = io.WriteString(h, text) // never fails
		return answer{anError, uint32(min(int64(len(text)), math.MaxUint32)), h.Sum64()}, vague
	}
	n := r.Len()
	out := answer{kind: aValue, size: uint32(n)}
	var one []byte
	step := 1
	if paired[name] {
		step = 2
	}
	for i := 0; i < n; i += step {
		h := fnv.New64a()
		for j := i; j < min(i+step, n); j++ {
			text, there := r.At(j)
			if j == 0 {
				one = text
			}
			if n == 1 && !there {
				return answer{kind: nothing}, vague
			}
			_, _ = h.Write(binary.AppendVarint(nil, int64(len(text))<<1|int64(map[bool]int{true: 1}[there]))) // never fails
			_, _ = h.Write(text)
		}
		if paired[name] || unordered[name] {
			out.hash += h.Sum64() // in any order
		} else {
			out.hash = out.hash*0x100000001b3 ^ h.Sum64()
		}
	}
	if n == 1 {
		out.size = uint32(min(int64(len(one)), math.MaxUint32))
	}
	return out, vague
}

// record takes the answer to a call, by its number in the recording.
func (a *answers) record(number int64, words []capture.Arg, keys []int, db int, r *link.Reply, err error) {
	if _, is := errors.AsType[interface {
		error
		RedisError()
	}](err); err != nil && !is {
		return // no answer came
	}
	got, vague := a.answer(words, keys, db, r, err)
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
	by := a.by[words[0].Text]
	if by == nil {
		by = &workload.AnswersTo{Command: words[0].Text}
		a.by[by.Command] = by
	}
	by.Compared++
	a.found.Compared++
	if vague {
		a.found.Kinds++
	}
	if want.kind == got.kind && (vague || want == got) {
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
		a.found.Examples = append(a.found.Examples, example(number, words, keys, want, got, r, err))
	}
}

// example describes an answer that differs.
func example(number int64, words []capture.Arg, keys []int, want, got answer, r *link.Reply, err error) string {
	var call []string
	for i, w := range words[:min(len(words), 3)] {
		if w.Kind == capture.Text && (i < 2 || slices.Contains(keys, i)) {
			call = append(call, short([]byte(w.Text)))
		}
	}
	describe := func(a answer) string {
		if a.kind == aValue {
			return fmt.Sprintf("a value of size %d", a.size)
		}
		return kindWords[a.kind]
	}
	now := describe(got)
	switch {
	case err != nil:
		now = "the error " + short([]byte(err.Error()))
	case got.kind == aValue && r.Len() == 1:
		text, _ := r.At(0)
		now = short(text)
	}
	was := describe(want)
	if want.kind == aValue && got.kind == aValue && want.size == got.size {
		was = "another of that size"
	}
	return fmt.Sprintf("call %d, %s: %s; before, %s", number+1, strings.Join(call, " "), now, was)
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
