package foreign

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

const memtierTool = "memtier_benchmark"

// Memtier reads a command line of memtier_benchmark, its options alone, or a script that
// runs it. where names the file, or what else the text is from. If a script runs it more
// than once, all but the last command must be loads.
func Memtier(where, text string) (*model.Workload, []workload.FileKey, error) {
	return memtierAt(where, text, 1)
}

func memtierAt(where, text string, line int) (*model.Workload, []workload.FileKey, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "-") { // options alone, over several lines
		text = strings.NewReplacer("\\\r\n", " \n", "\\\n", " \n").Replace(text)
		text = memtierTool + " " + strings.ReplaceAll(text, "\n", " \\\n")
	}
	commands, err := commandsOf(where, text, line)
	if err != nil {
		return nil, nil, err
	}
	var runs []*memtier
	for _, words := range commands {
		if i := slices.IndexFunc(words, isMemtier); i >= 0 {
			runs = append(runs, newMemtier(where, words[i].line, words[i+1:]))
		}
	}
	if len(runs) == 0 {
		return nil, nil, fault.Input(fmt.Errorf("%s:%d: no command of this file runs %s", where, line, memtierTool), kinds)
	}
	last := runs[len(runs)-1]
	for _, r := range runs[:len(runs)-1] {
		last.loadedBy(r)
	}
	w := last.workload()
	w.Name = "memtier"
	return w, last.notes, nil
}

// isMemtier reports whether a word is the program, or an image of it.
func isMemtier(w word) bool {
	name, _, _ := strings.Cut(path.Base(w.text), ":")
	return name == memtierTool
}

// memtier is a command line that has been read.
type memtier struct {
	notes
	where string // file and line of the option that is being read
	file  string
	line  int

	clients, threads     int64
	requests             int64
	allKeys              bool
	seconds              int64
	set, get             int64
	pipeline, multi      int64
	size                 model.Number
	ttl                  model.Number
	prefix               string
	min, max             int64
	patterns             [2]byte
	stddev, median, zipf float64
	rate                 float64
	commands             []memtierCommand
	commandPattern       bool // an option was about a command
	loads                *memtier
}

// memtierCommand is a command of --command.
type memtierCommand struct {
	words   []word
	where   string
	ratio   int64
	pattern byte
}

// memtierOption is what becomes of an option. Without do, it has no effect, for the
// reason in why, or is refused for it.
type memtierOption struct {
	plain   bool // it has no value
	refused bool
	do      func(m *memtier, v string) error
	why     string
}

const (
	ourOutput = "no effect: perfbench writes its own reports; choose them with --format"
	ourTarget = "no effect: the store is named by --target"
	ourConns  = "no effect: perfbench opens its connections once, and keeps them"
	imported  = "perfbench makes its data itself, so that every value can be checked; describe it by --data-size and --key-maximum"
)

var memtierShort = map[byte]string{
	's': "server", 'p': "port", 'S': "unix-socket", 'P': "protocol", 'u': "uri", 'a': "authenticate", 'x': "run-count", 'D': "debug",
	'o': "out-file", 'n': "requests", 'c': "clients", 't': "threads", 'd': "data-size", 'R': "random-data", 'h': "help", 'v': "version",
	'4': "ipv4", '6': "ipv6",
}

var memtierOptions = map[string]memtierOption{
	"server": {why: ourTarget, do: none}, "port": {why: ourTarget, do: none}, "unix-socket": {why: ourTarget, do: none}, "uri": {why: ourTarget, do: (*memtier).secret},
	"authenticate": {do: (*memtier).secret, why: "no effect: give user and password with --target and --password-file"},
	"tls":          {plain: true, why: "no effect: use --target rediss://…"}, "tls-skip-verify": {plain: true, why: "no effect: use insecure=1 in --target"},
	"cert": {why: "no effect: use cert= in --target"}, "key": {why: "no effect: use key= in --target"}, "cacert": {why: "no effect: use ca= in --target"},
	"sni": {why: "no effect: use servername= in --target"}, "tls-protocols": {why: "no effect: client and server agree on the version of TLS"},
	"select-db": {why: "no effect: use db= in --target"}, "cluster-mode": {plain: true, why: "no effect: use --target redis+cluster://…"},
	"ipv4": {plain: true, why: ourTarget}, "ipv6": {plain: true, why: ourTarget},
	"protocol": {do: (*memtier).protocol},

	"run-count": {do: (*memtier).runCount}, "debug": {plain: true, why: ourOutput}, "client-stats": {why: ourOutput}, "out-file": {why: ourOutput},
	"json-out-file": {why: "no effect: --format memtier writes this layout"}, "hdr-file-prefix": {why: "no effect: latency.hlog is always written"},
	"show-config": {plain: true, why: "no effect: --dry-run shows it"}, "hide-histogram": {plain: true, why: ourOutput}, "print-percentiles": {why: ourOutput},
	"print-all-runs": {plain: true, why: ourOutput}, "command-stats-breakdown": {why: ourOutput},
	"help": {plain: true, refused: true, why: "this asks for help, and runs nothing"}, "version": {plain: true, refused: true, why: "this asks for the version, and runs nothing"},
	"statsd-host": {why: "no effect: use --otlp or --metrics-addr"}, "statsd-port": {why: "no effect: use --otlp or --metrics-addr"},
	"statsd-prefix": {why: "no effect: use --otlp or --metrics-addr"}, "statsd-run-label": {why: "no effect: use --tag"}, "graphite-port": {why: "no effect: use --otlp or --metrics-addr"},

	"requests": {do: (*memtier).requestsOf}, "clients": {do: whole(1, 1e6, func(m *memtier) *int64 { return &m.clients })},
	"threads": {do: whole(1, 1e6, func(m *memtier) *int64 { return &m.threads })}, "test-time": {do: whole(1, 1e9, func(m *memtier) *int64 { return &m.seconds })},
	"ratio": {do: (*memtier).ratio}, "pipeline": {do: whole(1, 1e6, func(m *memtier) *int64 { return &m.pipeline })},
	"rate-limiting": {do: (*memtier).rateOf}, "multi-key-get": {do: whole(0, 1e6, func(m *memtier) *int64 { return &m.multi })},
	"cpu-split": {plain: true, why: "no effect: the scheduler places goroutines"}, "taskset": {why: "no effect: the scheduler places goroutines"},
	"distinct-client-seed": {plain: true, why: "no effect: all clients share one distribution, and no two calls one random number"},
	"randomize":            {plain: true, why: "no effect: use --seed"}, "reconnect-interval": {why: ourConns},
	"reconnect-on-error": {plain: true, why: ourConns}, "max-reconnect-attempts": {why: ourConns}, "reconnect-backoff-factor": {why: ourConns},
	"connection-timeout": {why: "no effect: use dial_timeout= in --target"}, "thread-conn-start-min-jitter-micros": {why: ourConns}, "thread-conn-start-max-jitter-micros": {why: ourConns},
	"clients-start": {refused: true, why: "write the steps of clients as --at, such as --at 10s:threads=100"},
	"clients-step":  {refused: true, why: "write the steps of clients as --at, such as --at 10s:threads=100"},
	"step-duration": {refused: true, why: "write the steps of clients as --at, such as --at 10s:threads=100"},

	"data-size": {do: (*memtier).dataSize}, "data-size-range": {do: (*memtier).dataSizeRange}, "data-size-list": {do: (*memtier).dataSizeList},
	"data-size-pattern": {do: (*memtier).dataSizePattern}, "random-data": {plain: true, do: none}, "expiry-range": {do: (*memtier).expiry},
	"data-offset": {refused: true, why: "perfbench writes whole values, not parts of them (SETRANGE, GETRANGE)"},
	"data-import": {refused: true, why: imported}, "generate-keys": {plain: true, refused: true, why: "it belongs to --data-import; " + imported},
	"no-expiry": {plain: true, refused: true, why: "it belongs to --data-import; " + imported}, "data-verify": {plain: true, do: none},
	"verify-only": {plain: true, refused: true, why: "perfbench verifies what is stored at the end of a run that wrote it"},

	"key-prefix":  {do: func(m *memtier, v string) error { m.prefix = v; return nil }},
	"key-minimum": {do: whole(0, math.MaxInt64/4, func(m *memtier) *int64 { return &m.min })},
	"key-maximum": {do: whole(1, math.MaxInt64/4, func(m *memtier) *int64 { return &m.max })},
	"key-pattern": {do: (*memtier).keyPattern}, "key-stddev": {do: number(math.MaxFloat64, func(m *memtier) *float64 { return &m.stddev })},
	"key-median": {do: number(math.MaxFloat64, func(m *memtier) *float64 { return &m.median })}, "key-zipf-exp": {do: number(5, func(m *memtier) *float64 { return &m.zipf })},

	"command": {do: (*memtier).command}, "command-ratio": {do: (*memtier).commandRatio}, "command-key-pattern": {do: (*memtier).commandKeys},
	"monitor-input": {refused: true, why: "what a server was asked is recorded, and played back, by perfbench capture"}, "monitor-pattern": {refused: true, why: "it belongs to --monitor-input"},
	"scan-incremental-iteration":      {plain: true, refused: true, why: "a scan of perfbench reads records from a key on, and does not iterate with a cursor"},
	"scan-incremental-max-iterations": {refused: true, why: "it belongs to --scan-incremental-iteration"},

	"wait-ratio": {do: (*memtier).wait}, "num-slaves": {why: "no effect without --wait-ratio"}, "wait-timeout": {why: "no effect without --wait-ratio"},
}

// none is of options that need no work, as what they ask for is so anyway.
func none(*memtier, string) error { return nil }

// secret refuses a password on our own command line, which is kept with the run.
func (m *memtier) secret(v string) error {
	if strings.HasPrefix(m.file, "--") && (strings.HasPrefix(v, "redis") && strings.Contains(v, "@") || !strings.Contains(v, "://")) {
		return fmt.Errorf("a password does not belong here, where it would be kept with the run; use --password-file")
	}
	return nil
}

func memtierNames() []string {
	var out []string
	for name := range memtierOptions {
		out = append(out, "--"+name)
	}
	slices.Sort(out)
	return out
}

func whole(lo, hi int64, to func(*memtier) *int64) func(*memtier, string) error {
	return func(m *memtier, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < lo || n > hi {
			return fmt.Errorf("%q is not a whole number from %d to %d", v, lo, hi)
		}
		*to(m) = n
		return nil
	}
}

func number(below float64, to func(*memtier) *float64) func(*memtier, string) error {
	return func(m *memtier, v string) error {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n > 0 && n < below) {
			if below == math.MaxFloat64 {
				return fmt.Errorf("%q is not a number above 0", v)
			}
			return fmt.Errorf("%q is not a number above 0 and below %g", v, below)
		}
		*to(m) = n
		return nil
	}
}

// newMemtier reads the options of a command.
func newMemtier(file string, line int, words []word) *memtier {
	m := &memtier{
		file: file, line: line, clients: 50, threads: 4, set: 1, get: 10, pipeline: 1,
		prefix: "memtier-", max: 10_000_000, patterns: [2]byte{'R', 'R'}, zipf: 1,
	}
	for len(words) > 0 {
		words = m.option(words)
	}
	return m
}

func (m *memtier) at(line int) string { return fmt.Sprintf("%s:%d", m.file, line) }

// option reads an option and its value, and returns the words that follow.
func (m *memtier) option(words []word) []word {
	first := words[0]
	words = words[1:]
	m.where = m.at(first.line)
	name, value, given := "", "", false
	switch {
	case strings.HasPrefix(first.text, "--") && len(first.text) > 2:
		name, value, given = strings.Cut(first.text[2:], "=")
	case strings.HasPrefix(first.text, "-") && len(first.text) > 1:
		name = memtierShort[first.text[1]]
		if value = first.text[2:]; value != "" {
			given = true
		}
		if name == "" {
			m.unknown(m.where, first.text[:2], memtierTool, memtierNames())
			return words
		}
		if memtierOptions[name].plain && given { // several letters in one word
			words = append([]word{{"-" + value, first.line}}, words...)
			given = false
		}
	default:
		m.refuse(m.where, first.text, "this is neither an option nor the value of one")
		return words
	}
	o, ok := memtierOptions[name]
	if !ok { // getopt takes the beginning of a name that no other name has
		if begin := slices.DeleteFunc(memtierNames(), func(n string) bool { return !strings.HasPrefix(n, "--"+name) }); len(begin) == 1 {
			name = begin[0][2:]
			o, ok = memtierOptions[name]
		}
	}
	key := "--" + name
	switch {
	case !ok:
		m.unknown(m.where, key, memtierTool, memtierNames())
		return words
	case o.plain && given:
		m.refuse(m.where, key, "it has no value")
		return words
	case !o.plain && !given:
		if len(words) == 0 {
			m.refuse(m.where, key, "the value is missing: the command ends here")
			return nil
		}
		value, words = words[0].text, words[1:]
	}
	m.decide(o, key, value)
	return words
}

// decide notes what becomes of an option.
func (m *memtier) decide(o memtierOption, key, value string) {
	had := len(m.notes)
	if o.do != nil {
		if err := o.do(m, value); err != nil {
			m.refuse(m.where, key, "%v", err)
			return
		}
	}
	switch {
	case len(m.notes) > had:
	case o.refused:
		m.refuse(m.where, key, "%s", o.why)
	case o.why != "":
		m.about(m.where, key, "%s", o.why)
	default:
		m.done(m.where, key)
	}
}

func (m *memtier) protocol(v string) error {
	switch v {
	case "redis", "resp2", "resp3":
		m.about(m.where, "--protocol", "no effect: use protocol=2 or protocol=3 in --target")
	case "memcache_text", "memcache_binary":
		m.about(m.where, "--protocol", "no effect: the store is that of --target, such as memcached://localhost:11211")
	default:
		return fmt.Errorf("%q is not a protocol; %s", v, fault.Suggest(v, []string{"redis", "resp2", "resp3"}))
	}
	return nil
}

func (m *memtier) runCount(v string) error {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a whole number above 0", v)
	}
	if n > 1 {
		m.about(m.where, "--run-count", "one run: use --repeat %d", n)
	}
	return nil
}

func (m *memtier) requestsOf(v string) error {
	if m.allKeys = v == "allkeys"; m.allKeys {
		return nil
	}
	return whole(1, 1e15, func(m *memtier) *int64 { return &m.requests })(m, v)
}

// pair reads two whole numbers.
func pair(v, sep string, lo int64) (a, b int64, err error) {
	left, right, ok := strings.Cut(v, sep)
	a, err1 := strconv.ParseInt(left, 10, 64)
	b, err2 := strconv.ParseInt(right, 10, 64)
	if !ok || err1 != nil || err2 != nil || a < lo || b < lo || a > 1<<40 || b > 1<<40 {
		return 0, 0, fmt.Errorf("%q is not of the form N%sN, with numbers of %d or more", v, sep, lo)
	}
	return a, b, nil
}

func (m *memtier) ratio(v string) (err error) {
	if m.set, m.get, err = pair(v, ":", 0); err == nil && m.set+m.get == 0 {
		err = fmt.Errorf("of 0:0, nothing is to be done")
	}
	if err == nil && m.set > 0 && m.get > 0 {
		m.about(m.where, "--ratio", "sets and gets are drawn in this ratio at random, and do not take turns by number")
	}
	return err
}

func (m *memtier) rateOf(v string) error {
	err := number(1e12, func(m *memtier) *float64 { return &m.rate })(m, v)
	if err == nil {
		m.about(m.where, "--rate-limiting", "so many requests a second are due for each connection, but all connections share them, and late ones are measured from when they were due")
	}
	return err
}

func (m *memtier) wait(v string) error {
	_, b, err := pair(v, ":", 0)
	if err == nil && b > 0 {
		return fmt.Errorf("perfbench sends no WAIT; a ratio of 1:0 is the same as none")
	}
	return err
}

const mostValue = 512 << 20

func (m *memtier) dataSize(v string) error {
	var n int64
	err := whole(1, mostValue, func(*memtier) *int64 { return &n })(m, v)
	if err == nil {
		m.size = model.One(n)
	}
	return err
}

func (m *memtier) dataSizeRange(v string) error {
	lo, hi, err := pair(v, "-", 1)
	if err == nil && (lo > hi || hi > mostValue) {
		err = fmt.Errorf("%q does not lead from a size to a larger one of at most %d", v, mostValue)
	}
	if err == nil {
		m.size = model.Between(lo, hi)
	}
	return err
}

func (m *memtier) dataSizeList(v string) error {
	size := model.Number{Kind: model.Weighted}
	for one := range strings.SplitSeq(v, ",") {
		n, weight, err := pair(one, ":", 1)
		if err != nil || n > mostValue {
			return fmt.Errorf("%q is not a size with a weight, such as 100:3", one)
		}
		size.Table = append(size.Table, model.Choice{Weight: float64(weight), Min: n, Max: n})
	}
	m.size = size
	return nil
}

func (m *memtier) dataSizePattern(v string) error {
	switch v {
	case "R":
	case "S":
		m.about(m.where, "--data-size-pattern", "sizes are random, and do not grow with the number of the key")
	default:
		return fmt.Errorf("%q is neither R nor S", v)
	}
	return nil
}

func (m *memtier) expiry(v string) error {
	lo, hi, err := pair(v, "-", 1)
	if err == nil && (lo > hi || hi > 1<<31) {
		err = fmt.Errorf("%q does not lead from a number of seconds to a larger one", v)
	}
	if err == nil {
		m.ttl = model.Between(lo*int64(time.Second), hi*int64(time.Second))
	}
	return err
}

const patterns = "GRSPZ"

// shared says how keys in order differ.
const shared = "all clients together go through the keys in order, each key once; a client has no part of them to itself"

func (m *memtier) keyPattern(v string) error {
	if len(v) != 3 || v[1] != ':' || strings.IndexByte(patterns, v[0]) < 0 || strings.IndexByte(patterns, v[2]) < 0 {
		return fmt.Errorf("%q is not of the form S:G with the letters G (gaussian), R (random), S (sequential), P (parallel) and Z (Zipf)", v)
	}
	if m.patterns = [2]byte{v[0], v[2]}; (v[0] == 'P') != (v[2] == 'P') {
		return fmt.Errorf("P must be both of them, as in P:P")
	}
	if strings.ContainsAny(v, "SP") {
		m.about(m.where, "--key-pattern", "%s", shared)
	}
	return nil
}

func (m *memtier) command(v string) error {
	words, err := commandsOf(m.file, v, 1)
	if err != nil || len(words) != 1 {
		return fmt.Errorf("%q is not one command of Redis", v)
	}
	for _, w := range words[0][1:] {
		if strings.Contains(w.text, "__") && !slices.Contains([]string{keyWord, dataWord}, w.text) {
			return fmt.Errorf("%q: only %s and %s, as words of their own, stand for something", w.text, keyWord, dataWord)
		}
	}
	m.commands = append(m.commands, memtierCommand{words: words[0], where: m.where, ratio: 1, pattern: 'R'})
	return nil
}

// last returns the command that an option is about.
func (m *memtier) last() (*memtierCommand, error) {
	if len(m.commands) == 0 {
		return nil, fmt.Errorf("there is no --command before it")
	}
	return &m.commands[len(m.commands)-1], nil
}

func (m *memtier) commandRatio(v string) error {
	c, err := m.last()
	if err != nil {
		return err
	}
	return whole(1, 1<<40, func(*memtier) *int64 { return &c.ratio })(m, v)
}

func (m *memtier) commandKeys(v string) error {
	c, err := m.last()
	if err != nil {
		return err
	}
	if len(v) != 1 || strings.IndexByte(patterns, v[0]) < 0 {
		return fmt.Errorf("%q is not one of the letters G, R, S, P and Z", v)
	}
	if c.pattern = v[0]; v == "S" || v == "P" {
		m.about(m.where, "--command-key-pattern", "%s", shared)
	}
	return nil
}
