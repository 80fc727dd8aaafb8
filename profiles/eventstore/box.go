package eventstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// read reads the files of --file: boxes of th2, with or without their Kubernetes
// wrapper, one file for the woodpecker and one for the estore, or YAML of names and
// values. Errors have the code of bad input and name the line.
func read(files []workload.File) (workload.Values, workload.Found, error) {
	return values.Files(files, func(f workload.File) ([]workload.Value, workload.Found, error) {
		top, err := yaml.Form{}.First(f.Path, f.Data)
		switch {
		case err != nil:
			return nil, workload.Found{}, err
		case top.Kind() == yaml.Nothing:
			return nil, workload.Found{Warnings: []string{f.Path + ": is empty"}}, nil
		case !isBox(top):
			vs, err := values.OwnYAML(f, params(), "threads", "rate", "payload", "batch")
			return vs, workload.Found{}, err
		}
		b := &boxFile{path: f.Path}
		b.top(top)
		b.schedule()
		b.named()
		if len(b.idle) > 0 {
			b.warn("%s: keys without effect here: %s", f.Path, strings.Join(b.idle, ", "))
		}
		return b.vs, b.found, top.Err()
	})
}

// isBox reports whether a document is from th2: it has one of the keys that our own
// files do not have.
func isBox(top yaml.Node) bool {
	for key := range top.Pairs() {
		switch key.Text() {
		case "apiVersion", "kind", "spec", "customConfig", "generatorSettings", "eventGeneratorSettings", "cradleManager", "mqRouter",
			"maxBatchSize", "useTransportMode", "generators", "store", "steps", "persisotrTerminationTimeout", "cradleConfig", "event", "transport":
			return true
		}
	}
	return false
}

// boxFile is a th2 file being read.
type boxFile struct {
	path    string
	vs      []workload.Value
	found   workload.Found
	threads int64 // of both kinds: the higher number counts
	// idle names the keys that are known but have no effect, with their lines.
	idle   []string
	steps  yaml.Node
	name   yaml.Node
	cycles yaml.Node
}

// boxKey says what a key of th2 means: the parameter that it sets, and how its text is
// converted.
type boxKey struct {
	to   string // parameter; "" means that the key has no effect, which is reported
	as   func(string) (string, error)
	note string // why it has no effect
}

func millis(s string) (string, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return "", errors.New("not a number of milliseconds")
	}
	return strconv.FormatInt(n, 10) + "ms", nil
}

func lower(s string) (string, error) { return strings.ToLower(s), nil }

// modes are the values of useTransportMode; only the first one generates events, and
// boxes for an older core have a boolean.
var modes = []string{generate.EventMode, "MESSAGE_MODE", "MESSAGE_TRANSPORT_MODE", "EVENT_TRANSPORT_MODE", "true", "false"}

// mode accepts every mode: events are generated in any case.
func mode(s string) (string, error) {
	if !slices.Contains(modes, s) {
		return "", fmt.Errorf("not a mode: one of %s", strings.Join(modes[:4], ", "))
	}
	return s, nil
}

var (
	generatorKeys = map[string]boxKey{
		"tickRate": {to: "tickRate"}, "maxBatchSize": {to: "batch"}, "useTransportMode": {as: mode},
		"maxOutputQueueSize": {note: "a generator here never holds back more than one batch"},
	}
	eventKeys = map[string]boxKey{
		"bookName": {to: "bookName"}, "scope": {to: "scope"}, "generationMode": {to: "generationMode"}, "treeDepth": {to: "treeDepth"}, "childCount": {to: "childCount"},
		"failureRate": {to: "failureRate"}, "descriptionLength": {to: "descriptionLength"}, "bodyDataLength": {to: "bodyDataLength"},
	}
	estoreKeys = map[string]boxKey{
		"maxTaskCount": {to: "maxTaskCount"}, "maxTaskDataSize": {to: "maxTaskDataSize"}, "maxRetryCount": {to: "maxRetryCount"},
		"retryDelayBase": {to: "retryDelayBase", as: millis}, "processingThreads": {to: "processingThreads"},
		"persisotrTerminationTimeout": {note: "the parameter drain says how long the end may take"},
	}
	cradleKeys = map[string]boxKey{
		"timeout": {to: "timeout", as: millis}, "resultPageSize": {to: "resultPageSize"}, "composingServiceThreads": {to: "processingThreads"},
		"counterPersistenceInterval": {to: "counterPersistenceInterval", as: millis}, "maxUncompressedTestEventSize": {to: "compressOver"},
		"compressionType": {to: "compression", as: lower}, "maxTestEventBatchSize": {to: "maxTestEventBatchSize"},
		"cradleMaxEventBatchSize": {to: "maxTestEventBatchSize"}, "pageSize": {}, "prepareStorage": {}, "bookRefreshIntervalMillis": {},
		"maxUncompressedMessageBatchSize": {to: "maxUncompressedMessageBatchSize"}, "eventBatchDurationMillis": {}, "eventBatchDurationCacheSize": {}, "scopesCacheSize": {},
		"pageScopesCacheSize": {}, "maxParallelQueries": {}, "cradleMaxMessageBatchSize": {}, "storeIndividualMessageSessions": {},
		"keyspaceReplicationFactor": {note: "replication= in the target sets it"},
	}
	routerKeys = map[string]boxKey{
		"prefetchCount": {to: "prefetchCount"}, "connectionCloseTimeout": {}, "maxRecoveryAttempts": {}, "minConnectionRecoveryTimeout": {},
		"maxConnectionRecoveryTimeout": {}, "workingThreads": {}, "confirmationTimeout": {}, "connectionTimeout": {}, "subscriberName": {},
	}
	// The keys of our own combined file.
	ownKeys       = map[string]boxKey{"bodyKind": {to: "bodyKind"}, "bodyBytes": {to: "payload"}, "attachedMessages": {to: "attachedMessages"}, "compressibility": {to: "compressibility"}}
	compatKeys    = map[string]boxKey{"th2": {to: "compat"}}
	transportKeys = map[string]boxKey{"kind": {note: "the parameter via sets it"}, "via": {to: "via"}}
	// original has the values of the woodpecker's keys if the file does not give them.
	original = map[string]string{"treeDepth": "3", "childCount": "2", "failureRate": "5", "descriptionLength": "200", "bookName": "default_book", "scope": "default_scope"}
	// wrapper are keys around the boxes, which only show that this is a box.
	wrapper = []string{"apiVersion", "kind"}
	// aside are keys of boxes that do not concern the load.
	aside = []string{
		"imageName", "imageVersion", "type", "pins", "extendedSettings", "prometheus", "loggingConfig", "versionRange",
		"grpcRouter", "params", "name", "disabled", "bookConfig",
	}
)

// pairs calls f for each key of a mapping.
func (b *boxFile) pairs(n yaml.Node, what string, f func(k, v yaml.Node)) {
	if !n.IsMapping() && !n.IsNull() {
		n.Fail("", "%s is not a mapping", what)
	}
	for k, v := range n.Pairs() {
		f(k, v)
	}
}

func (b *boxFile) warn(format string, args ...any) {
	b.found.Warnings = append(b.found.Warnings, fmt.Sprintf(format, args...))
}

// ignores notes a key that has no effect, and tells the user why.
func (b *boxFile) ignores(k yaml.Node, why string) {
	b.key(k, yaml.Node{}, workload.FileKey{State: workload.KeyIgnored, Text: why})
	b.warn("%s: %s %s", k.Where(), k.Text(), why)
}

// key notes what became of a key, whose value may be nothing.
func (b *boxFile) key(k, v yaml.Node, became workload.FileKey) {
	became.Key, became.Where = k.Text(), k.Where()
	if v.Kind() == yaml.Scalar {
		became.Value = v.Text()
	}
	b.found.Keys = append(b.found.Keys, became)
}

// sleeps notes a key that is known but has no effect.
func (b *boxFile) sleeps(k yaml.Node) {
	b.key(k, yaml.Node{}, workload.FileKey{State: workload.KeyIgnored, Text: "has no effect here"})
	b.idle = append(b.idle, fmt.Sprintf("%s (line %d)", k.Text(), k.Line()))
}

func (b *boxFile) set(n yaml.Node, name, text string) {
	for i := range b.vs {
		if b.vs[i].Name == name { // if two keys set the same parameter
			b.vs[i].Text, b.vs[i].Where = text, n.Where()
			return
		}
	}
	v := n.Value(name, workload.OriginFile)
	v.Text = text
	b.vs = append(b.vs, v)
}

// top reads a whole document, or what is below spec.
func (b *boxFile) top(n yaml.Node) {
	b.pairs(n, "the file", func(k, v yaml.Node) {
		switch name := k.Text(); {
		case name == "metadata":
			b.metadata(v)
		case name == "spec", name == "store":
			b.top(v)
		case name == "customConfig":
			b.custom(v)
		case name == "generators":
			b.generators(v)
		case name == "cradleManager", name == "cradleConfig":
			b.section(v, name, cradleKeys)
		case name == "mqRouter":
			b.section(v, name, routerKeys)
		case name == "generatorSettings":
			b.generatorSettings(v)
		case name == "eventGeneratorSettings":
			b.events(v)
		case name == "messageGeneratorSettings":
			b.messages(k)
		case name == "event":
			b.section(v, name, ownKeys)
		case name == "compat":
			b.section(v, name, compatKeys)
		case name == "transport":
			b.section(v, name, transportKeys)
		case name == "schema":
			b.setKey(k, v, boxKey{to: "schema"})
		case name == "steps":
			b.key(k, v, workload.FileKey{State: workload.KeyRead})
			b.steps = v
		case name == "cycles":
			b.key(k, v, workload.FileKey{State: workload.KeyRead})
			b.cycles = v
		case known(name):
			b.one(k, v)
		case slices.Contains(aside, name), name == "profile" && v.Text() != report.Profile:
			b.sleeps(k)
		case name != "profile" && !slices.Contains(wrapper, name):
			b.ignores(k, "is unknown and has no effect"+near(name, aside))
		}
	})
}

// metadata reads the name of a box, which documents repeat.
func (b *boxFile) metadata(n yaml.Node) {
	b.pairs(n, "metadata", func(k, v yaml.Node) {
		if k.Text() != "name" || v.Kind() != yaml.Scalar {
			b.sleeps(k)
			return
		}
		b.key(k, v, workload.FileKey{State: workload.KeyRead})
		b.name = v
	})
}

// named sets the name of the box that the file turned out to be.
func (b *boxFile) named() {
	if b.name.Kind() != yaml.Scalar {
		return
	}
	name := "woodpeckerName"
	if slices.ContainsFunc(b.vs, func(v workload.Value) bool {
		return slices.ContainsFunc([]map[string]boxKey{estoreKeys, cradleKeys, routerKeys}, func(keys map[string]boxKey) bool {
			return slices.ContainsFunc(slices.Collect(maps.Values(keys)), func(k boxKey) bool { return k.to == v.Name })
		})
	}) {
		name = "estoreName"
	}
	b.set(b.name, name, b.name.Text())
}

func known(name string) bool {
	_, a := generatorKeys[name]
	_, c := estoreKeys[name]
	return a || c
}

func near(name string, words []string) string {
	if s := fault.Nearest(name, words); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}

// custom reads a customConfig, of a woodpecker or of an estore.
func (b *boxFile) custom(n yaml.Node) {
	b.pairs(n, "customConfig", func(k, v yaml.Node) {
		switch name := k.Text(); {
		case name == "generatorSettings":
			b.generatorSettings(v)
		case known(name):
			b.one(k, v)
		default:
			var words []string
			for w := range generatorKeys {
				words = append(words, w)
			}
			for w := range estoreKeys {
				words = append(words, w)
			}
			slices.Sort(words)
			b.ignores(k, "is unknown and has no effect"+near(name, words))
		}
	})
}

// one reads a key of a customConfig.
func (b *boxFile) one(k, v yaml.Node) {
	d, ok := generatorKeys[k.Text()]
	if !ok {
		d = estoreKeys[k.Text()]
	}
	b.setKey(k, v, d)
}

func (b *boxFile) generatorSettings(n yaml.Node) {
	b.pairs(n, "generatorSettings", func(k, v yaml.Node) {
		switch k.Text() {
		case "eventGeneratorSettings":
			b.events(v)
		case "messageGeneratorSettings":
			b.messages(k)
		default:
			b.ignores(k, "is unknown and has no effect"+near(k.Text(), []string{"eventGeneratorSettings", "messageGeneratorSettings"}))
		}
	})
}

// events reads the settings of the event generator; missing ones are as in the
// original.
func (b *boxFile) events(n yaml.Node) {
	b.section(n, "eventGeneratorSettings", eventKeys)
	for _, name := range []string{"bookName", "scope", "treeDepth", "childCount", "failureRate", "descriptionLength"} {
		if !slices.ContainsFunc(b.vs, func(v workload.Value) bool { return v.Name == name }) {
			b.vs = append(b.vs, workload.Value{Name: name, Text: original[name], Origin: workload.OriginFile, Where: b.path + " (the original's default)"})
		}
	}
}

// messages has no effect, as in the original when it generates events.
func (b *boxFile) messages(k yaml.Node) {
	b.ignores(k, "has no effect: events are made, no messages")
}

// generators reads the corresponding block of our own combined file.
func (b *boxFile) generators(n yaml.Node) {
	b.pairs(n, "generators", func(k, v yaml.Node) {
		switch k.Text() {
		case "count":
			b.setKey(k, v, boxKey{to: "threads"})
		case "customConfig":
			b.custom(v)
		default:
			b.ignores(k, "is unknown and has no effect"+near(k.Text(), []string{"count", "customConfig"}))
		}
	})
}

// section reads a mapping with known keys.
func (b *boxFile) section(n yaml.Node, what string, keys map[string]boxKey) {
	b.pairs(n, what, func(k, v yaml.Node) {
		d, ok := keys[k.Text()]
		if !ok {
			var words []string
			for w := range keys {
				words = append(words, w)
			}
			slices.Sort(words)
			b.ignores(k, "is unknown in "+what+" and has no effect"+near(k.Text(), words))
			return
		}
		b.setKey(k, v, d)
	})
}

// setKey sets the parameter that a key stands for.
func (b *boxFile) setKey(k, v yaml.Node, d boxKey) {
	if d.to == "" && d.as == nil && d.note == "" {
		b.sleeps(k)
		return
	}
	if v.Kind() != yaml.Scalar {
		v.Fail("", "%s is not a single value", k.Text())
		return
	}
	text := v.Text()
	if d.as != nil {
		var err error
		if text, err = d.as(text); err != nil {
			v.Fail("", "%s: %q is %v", k.Text(), v.Text(), err)
			return
		}
	}
	became := workload.FileKey{State: workload.KeyRead}
	if k.Text() == "useTransportMode" && text != generate.EventMode {
		became.State, became.Text = workload.KeyApproximated, text+" makes no batches of events in the original; here it does"
		b.warn("%s: useTransportMode: %s", k.Where(), became.Text)
	}
	if d.note != "" {
		b.ignores(k, "has no effect; "+d.note)
		return
	}
	b.key(k, v, became)
	switch {
	case d.to == "processingThreads": // two kinds of threads there are one kind here
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			v.Fail("", "%s: %q is not a whole number", k.Text(), text)
			return
		}
		b.threads = max(b.threads, n)
		b.set(v, d.to, strconv.FormatInt(b.threads, 10))
	case d.to != "":
		b.set(v, d.to, text)
	}
}
