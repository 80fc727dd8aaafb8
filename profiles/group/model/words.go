package model

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
)

// Kind is the structure that an operation works on, named by the ending of its key in
// the file: put1.map=map1.
type Kind string

// Structures. The first eight are the original's, in the order in which it looks for
// them; set, sorted set, bucket and hash are ours.
const (
	KindMap    Kind = "map"
	KindCache  Kind = "mcache"
	KindTopic  Kind = "topic"
	KindRTopic Kind = "rtopic"
	KindSTopic Kind = "stopic"
	KindList   Kind = "list"
	KindQueue  Kind = "queue"
	KindSleep  Kind = "sleep"
	KindSet    Kind = "rset"
	KindZSet   Kind = "zset"
	KindBucket Kind = "bucket"
	KindHash   Kind = "hash"
)

// Kinds are all kinds; the original's come first.
var Kinds = []Kind{
	KindMap, KindCache, KindTopic, KindRTopic, KindSTopic, KindList, KindQueue, KindSleep,
	KindSet, KindZSet, KindBucket, KindHash,
}

// OriginalKinds are those that PadoGrid for Redis knows.
var OriginalKinds = Kinds[:8]

// Topic reports whether messages are published to it.
func (k Kind) Topic() bool { return k == KindTopic || k == KindRTopic || k == KindSTopic }

// Keyed reports whether entries of the structure have keys.
func (k Kind) Keyed() bool {
	switch k {
	case KindMap, KindCache, KindSet, KindZSet, KindBucket, KindHash:
		return true
	}
	return false
}

// Many reports whether each entry is a separate structure in the store.
func (k Kind) Many() bool { return k == KindBucket || k == KindHash }

// Label returns the word used in the listing.
func (k Kind) Label() string {
	return map[Kind]string{
		KindMap: "Map", KindCache: "MapCache", KindTopic: "Topic", KindRTopic: "ReliableTopic", KindSTopic: "ShardedTopic",
		KindList: "List", KindQueue: "Queue", KindSet: "Set", KindZSet: "SortedSet", KindBucket: "Bucket", KindHash: "Hash",
	}[k]
}

// Action is what an operation does.
type Action string

// Actions, named by the words of testCase.
const (
	ActPut        Action = "put"
	ActSet        Action = "fastput"
	ActPutAll     Action = "putall"
	ActGet        Action = "get"
	ActGetAll     Action = "getall"
	ActQuery      Action = "query"
	ActRemove     Action = "remove"
	ActAdd        Action = "add"
	ActAddAll     Action = "addall"
	ActOffer      Action = "offer"
	ActPoll       Action = "poll"
	ActPeek       Action = "peek"
	ActTake       Action = "take"
	ActPublish    Action = "publish"
	ActPublishAll Action = "publishall"
	ActSleep      Action = "sleep"
)

// WordsOf lists the test cases of each structure, its default first.
var WordsOf = map[Kind][]string{
	KindMap:    {"putall", "put", "set", "fastput", "get", "getall", "query", "remove"},
	KindCache:  {"putall", "put", "set", "fastput", "get", "getall", "remove"},
	KindBucket: {"putall", "put", "set", "fastput", "get", "getall", "remove"},
	KindHash:   {"putall", "put", "set", "fastput", "get", "getall", "remove"},
	KindList:   {"add", "addall", "remove", "get"},
	KindQueue:  {"offer", "poll", "peek", "take"},
	KindTopic:  {"publishall", "publish"},
	KindRTopic: {"publishall", "publish"},
	KindSTopic: {"publishall", "publish"},
	KindSet:    {"add", "addall", "remove", "get", "getall"},
	KindZSet:   {"add", "addall", "remove", "get", "getall"},
	KindSleep:  {"sleep"},
}

// originalWords are the words that PadoGrid's parser accepts for any structure.
var originalWords = []string{
	"put", "putall", "fastput", "get", "getall", "publish", "publishall", "offer", "poll", "peek", "add", "addall", "remove",
}

// ActionOf returns the action for a word on a structure, false if there is none.
func ActionOf(k Kind, word string) (Action, bool) {
	if !slices.Contains(WordsOf[k], word) {
		return "", false
	}
	if word == "set" {
		return ActSet, true
	}
	return Action(word), true
}

// CompatAction returns what PadoGrid 1.0.2 does for a word on a structure.
func CompatAction(k Kind, word string) Action {
	if !slices.Contains(originalWords, word) {
		word = string(ActPutAll)
	}
	switch k {
	case KindMap, KindCache:
		switch a := Action(word); a {
		case ActPut, ActSet, ActGet, ActGetAll:
			return a
		}
		return ActPutAll
	case KindList:
		switch a := Action(word); a {
		case ActAddAll, ActRemove:
			return a
		}
		return ActAdd
	case KindQueue:
		switch a := Action(word); a {
		case ActPoll, ActPeek:
			return a
		}
		return ActOffer
	case KindTopic, KindRTopic, KindSTopic:
		return ActPublish
	}
	a, ok := ActionOf(k, word)
	if !ok {
		a, _ = ActionOf(k, WordsOf[k][0])
	}
	return a
}

// Writes reports whether an action stores values.
func (a Action) Writes() bool {
	switch a {
	case ActPut, ActSet, ActPutAll, ActAdd, ActAddAll, ActOffer, ActPublish, ActPublishAll:
		return true
	}
	return false
}

// Reads reports whether an action finds nothing on an empty structure.
func (a Action) Reads() bool {
	switch a {
	case ActGet, ActGetAll, ActQuery, ActPoll, ActPeek, ActTake:
		return true
	}
	return false
}

// Bulk reports whether an action covers batchSize entries.
func (a Action) Bulk() bool {
	switch a {
	case ActPutAll, ActGetAll, ActAddAll, ActPublishAll:
		return true
	}
	return false
}

// Takes reports whether an action makes a structure smaller.
func (a Action) Takes() bool { return a == ActRemove || a == ActPoll || a == ActTake }

// spaceOf returns the space of a structure.
func spaceOf(namespace string, k Kind, name string, grouped bool) store.Space {
	shape := store.Map
	if k != KindMap {
		shape = store.Shape(k)
	}
	return store.Space{Namespace: namespace, Name: name, Shape: shape, Grouped: grouped || k.Many()}
}

// RedisType returns Redis's name for the type of a structure.
func (k Kind) RedisType() string {
	switch k {
	case KindMap, KindCache, KindHash:
		return "hash"
	case KindList, KindQueue:
		return "list"
	case KindSet:
		return "set"
	case KindZSet:
		return "zset"
	case KindBucket:
		return "string"
	case KindRTopic:
		return "stream"
	}
	return ""
}

// KeyOf returns the key of a structure: "perfbench:map1", or "map1" without a
// namespace.
func KeyOf(s store.Space) string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + ":" + s.Name
}

// Timeouts returns the name of the sorted set with the times at which entries expire,
// within the namespace.
func Timeouts(s store.Space) string { return "redisson__timeout__set:{" + KeyOf(s) + "}" }

// Items splits a list at its commas and trims blanks.
func Items(text string) []string {
	var out []string
	for s := range strings.SplitSeq(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
