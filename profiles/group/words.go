package group

import (
	"strings"

	"slices"

	"github.com/perfbench/perfbench/internal/store"
)

// kind is the structure that an operation works on, by the ending of its key in
// the file: put1.map=map1.
type kind string

// Structures. The first eight are the original's, in the order in which it looks
// for them; set, sorted set, bucket and hash are ours.
const (
	kindMap    kind = "map"
	kindCache  kind = "mcache"
	kindTopic  kind = "topic"
	kindRTopic kind = "rtopic"
	kindSTopic kind = "stopic"
	kindList   kind = "list"
	kindQueue  kind = "queue"
	kindSleep  kind = "sleep"
	kindSet    kind = "rset"
	kindZSet   kind = "zset"
	kindBucket kind = "bucket"
	kindHash   kind = "hash"
)

var kinds = []kind{
	kindMap, kindCache, kindTopic, kindRTopic, kindSTopic, kindList, kindQueue, kindSleep,
	kindSet, kindZSet, kindBucket, kindHash,
}

// originalKinds are those that PadoGrid for Redis knows.
var originalKinds = kinds[:8]

func (k kind) topic() bool { return k == kindTopic || k == kindRTopic || k == kindSTopic }

// keyed says that entries of the structure have keys.
func (k kind) keyed() bool {
	switch k {
	case kindMap, kindCache, kindSet, kindZSet, kindBucket, kindHash:
		return true
	}
	return false
}

// many says that each entry is a structure of its own in the store.
func (k kind) many() bool { return k == kindBucket || k == kindHash }

// label is the word of the documented listing.
func (k kind) label() string {
	return map[kind]string{
		kindMap: "Map", kindCache: "MapCache", kindTopic: "Topic", kindRTopic: "ReliableTopic", kindSTopic: "ShardedTopic",
		kindList: "List", kindQueue: "Queue", kindSet: "Set", kindZSet: "SortedSet", kindBucket: "Bucket", kindHash: "Hash",
	}[k]
}

// action is what an operation does.
type action string

// Actions, by the words of testCase.
const (
	actPut        action = "put"
	actSet        action = "fastput"
	actPutAll     action = "putall"
	actGet        action = "get"
	actGetAll     action = "getall"
	actQuery      action = "query"
	actRemove     action = "remove"
	actAdd        action = "add"
	actAddAll     action = "addall"
	actOffer      action = "offer"
	actPoll       action = "poll"
	actPeek       action = "peek"
	actTake       action = "take"
	actPublish    action = "publish"
	actPublishAll action = "publishall"
	actSleep      action = "sleep"
)

// wordsOf lists the test cases of each structure, its default first.
var wordsOf = map[kind][]string{
	kindMap:    {"putall", "put", "set", "fastput", "get", "getall", "query", "remove"},
	kindCache:  {"putall", "put", "set", "fastput", "get", "getall", "remove"},
	kindBucket: {"putall", "put", "set", "fastput", "get", "getall", "remove"},
	kindHash:   {"putall", "put", "set", "fastput", "get", "getall", "remove"},
	kindList:   {"add", "addall", "remove", "get"},
	kindQueue:  {"offer", "poll", "peek", "take"},
	kindTopic:  {"publishall", "publish"},
	kindRTopic: {"publishall", "publish"},
	kindSTopic: {"publishall", "publish"},
	kindSet:    {"add", "addall", "remove", "get", "getall"},
	kindZSet:   {"add", "addall", "remove", "get", "getall"},
	kindSleep:  {"sleep"},
}

// originalWords are those that PadoGrid's parser knows, for any structure.
var originalWords = []string{
	"put", "putall", "fastput", "get", "getall", "publish", "publishall", "offer", "poll", "peek", "add", "addall", "remove",
}

// actionOf returns the action of a word on a structure, false when it has none.
func actionOf(k kind, word string) (action, bool) {
	if !slices.Contains(wordsOf[k], word) {
		return "", false
	}
	if word == "set" {
		return actSet, true
	}
	return action(word), true
}

// compatAction returns what PadoGrid 1.0.2 does for a word on a structure.
func compatAction(k kind, word string) action {
	if !slices.Contains(originalWords, word) {
		word = string(actPutAll)
	}
	switch k {
	case kindMap, kindCache:
		switch a := action(word); a {
		case actPut, actSet, actGet, actGetAll:
			return a
		}
		return actPutAll
	case kindList:
		switch a := action(word); a {
		case actAddAll, actRemove:
			return a
		}
		return actAdd
	case kindQueue:
		switch a := action(word); a {
		case actPoll, actPeek:
			return a
		}
		return actOffer
	case kindTopic, kindRTopic, kindSTopic:
		return actPublish
	}
	a, ok := actionOf(k, word)
	if !ok {
		a, _ = actionOf(k, wordsOf[k][0])
	}
	return a
}

// writes says that an action stores values.
func (a action) writes() bool {
	switch a {
	case actPut, actSet, actPutAll, actAdd, actAddAll, actOffer, actPublish, actPublishAll:
		return true
	}
	return false
}

// reads says that an action finds nothing on an empty structure.
func (a action) reads() bool {
	switch a {
	case actGet, actGetAll, actQuery, actPoll, actPeek, actTake:
		return true
	}
	return false
}

// bulk says that an action is about batchSize entries.
func (a action) bulk() bool {
	switch a {
	case actPutAll, actGetAll, actAddAll, actPublishAll:
		return true
	}
	return false
}

// takes says that an action makes a structure smaller.
func (a action) takes() bool { return a == actRemove || a == actPoll || a == actTake }

// spaceOf returns where a structure is kept.
func spaceOf(namespace string, k kind, name string, grouped bool) store.Space {
	shape := store.Map
	if k != kindMap {
		shape = store.Shape(k)
	}
	return store.Space{Namespace: namespace, Name: name, Shape: shape, Grouped: grouped || k.many()}
}

// redisType is what Redis calls a structure.
func (k kind) redisType() string {
	switch k {
	case kindMap, kindCache, kindHash:
		return "hash"
	case kindList, kindQueue:
		return "list"
	case kindSet:
		return "set"
	case kindZSet:
		return "zset"
	case kindBucket:
		return "string"
	case kindRTopic:
		return "stream"
	}
	return ""
}

// keyOf is the key of a structure: "perfbench:map1", without a namespace "map1".
func keyOf(s store.Space) string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + ":" + s.Name
}

// timeouts is the name of the sorted set of times at which entries expire, within
// the namespace.
func timeouts(s store.Space) string { return "redisson__timeout__set:{" + keyOf(s) + "}" }

// items cuts a list at its commas, blanks dropped.
func items(text string) []string {
	var out []string
	for s := range strings.SplitSeq(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
