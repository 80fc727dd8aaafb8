package eventstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// field describes a field of the documented messages.
type field struct {
	name   string
	number int32
	kind   descriptorpb.FieldDescriptorProto_Type
	of     string // message type
	many   bool
}

const (
	pbText   = descriptorpb.FieldDescriptorProto_TYPE_STRING
	pbRaw    = descriptorpb.FieldDescriptorProto_TYPE_BYTES
	pbLong   = descriptorpb.FieldDescriptorProto_TYPE_INT64
	pbShort  = descriptorpb.FieldDescriptorProto_TYPE_INT32
	pbNested = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
)

var documented = map[string][]field{
	"Timestamp":    {{"seconds", 1, pbLong, "", false}, {"nanos", 2, pbShort, "", false}},
	"EventID":      {{"id", 1, pbText, "", false}, {"book_name", 2, pbText, "", false}, {"scope", 3, pbText, "", false}, {"start_timestamp", 4, pbNested, "Timestamp", false}},
	"ConnectionID": {{"session_alias", 1, pbText, "", false}, {"session_group", 2, pbText, "", false}},
	"MessageID": {
		{"connection_id", 1, pbNested, "ConnectionID", false},
		{"direction", 2, pbShort, "", false},
		{"sequence", 3, pbLong, "", false},
		{"subsequence", 4, descriptorpb.FieldDescriptorProto_TYPE_UINT32, "", true},
		{"book_name", 5, pbText, "", false},
		{"timestamp", 6, pbNested, "Timestamp", false},
	},
	"Event": {
		{"id", 1, pbNested, "EventID", false},
		{"parent_id", 2, pbNested, "EventID", false},
		{"end_timestamp", 4, pbNested, "Timestamp", false},
		{"status", 5, pbShort, "", false},
		{"name", 6, pbText, "", false},
		{"type", 7, pbText, "", false},
		{"body", 8, pbRaw, "", false},
		{"attached_message_ids", 9, pbNested, "MessageID", true},
	},
	"EventBatch": {{"parent_event_id", 1, pbNested, "EventID", false}, {"events", 2, pbNested, "Event", true}},
}

// batchType is EventBatch as protobuf's own library knows it.
func batchType(t *testing.T) protoreflect.MessageDescriptor {
	t.Helper()
	file := &descriptorpb.FileDescriptorProto{Name: new("common.proto"), Syntax: new("proto3")}
	for name, fields := range documented {
		m := &descriptorpb.DescriptorProto{Name: new(name)}
		for _, f := range fields {
			label := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
			if f.many {
				label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
			}
			d := &descriptorpb.FieldDescriptorProto{Name: new(f.name), Number: new(f.number), Type: f.kind.Enum(), Label: label.Enum()}
			if f.of != "" {
				d.TypeName = new("." + f.of)
			}
			m.Field = append(m.Field, d)
		}
		file.MessageType = append(file.MessageType, m)
	}
	fd, err := protodesc.NewFile(file, nil)
	require.NoError(t, err)
	return fd.Messages().ByName("EventBatch")
}

// testShape is the documented shape of events.
func testShape() *shape {
	return &shape{
		seed: 7, book: []byte("estore_perf_test_01"), scope: []byte("qa_session_01"), kind: bodyTable, ratio: 5.4, attached: 1,
		aliases: [][]byte{[]byte("raw-session-alias_1")}, group: []byte("raw-group_1"), mode: modeSingleRoot,
		born: 1_790_000_000_123_456_789, sequenceOfAlias0: 1_790_000_000_123_000_000,
	}
}

// some makes a batch of n events as a generator does that has made many.
func some(t testing.TB, s *shape, n, payload int) *generator {
	t.Helper()
	g := newGenerator(s, 0)
	g.next = 90_000_001 // ids of 44 characters, as after a quarter of an hour
	require.NoError(t, g.plant(stampOf(s.born), payload, 1000, func(int64) error { return nil }))
	g.fill(stampOf(s.born+1e9), n, payload)
	return g
}

func TestProtobufReadsWhatWeWriteAndWeReadProtobuf(t *testing.T) {
	kind := batchType(t)
	for name, change := range map[string]func(*shape){
		"documented":  func(*shape) {},
		"failures":    func(s *shape) { s.failures = 500 },
		"bare":        func(s *shape) { s.attached = 0 },
		"several ids": func(s *shape) { s.attached, s.aliases = 3, [][]byte{[]byte("a"), []byte("bb")} },
		"random text": func(s *shape) { s.kind, s.description = bodyRandom, 50 },
		"no parents":  func(s *shape) { s.mode, s.roots = modeMixed, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := testShape()
			change(s)
			g := some(t, s, 40, 300)
			if s.mode == modeMixed {
				g.made = 9
				g.fill(stampOf(s.born+1e9), 40, 300)
				require.False(t, g.b.parent.set)
			}
			ours := g.b.encode(nil)
			m := dynamicpb.NewMessage(kind)
			require.NoError(t, proto.Unmarshal(ours, m))
			assert.Equal(t, 40, m.Get(kind.Fields().ByName("events")).List().Len())
			theirs, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
			require.NoError(t, err)
			assert.Equal(t, theirs, ours)
			var b batch
			require.NoError(t, b.decode(theirs))
			assert.Equal(t, g.b.parent, b.parent)
			assert.Equal(t, g.b.events, b.events)
			assert.Equal(t, g.b.messages, b.messages)
		})
	}
}

func TestDamagedBatchesAreRefused(t *testing.T) {
	g := some(t, testShape(), 3, 100)
	good := g.b.encode(nil)
	var b batch
	for cut := 1; cut < len(good); cut++ {
		err := b.decode(good[:cut])
		if err == nil { // a cut between two fields leaves a shorter batch
			assert.LessOrEqual(t, len(b.events), 2, "cut at %d", cut)
			continue
		}
		assert.ErrorIs(t, err, errWire)
	}
	assert.ErrorIs(t, b.decode([]byte{0x0b}), errWire, "a group")
	assert.ErrorIs(t, b.decode([]byte{0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}), errWire, "an endless length")
	assert.NoError(t, b.decode([]byte{0x1a, 0x02, 0x0a, 0x00}), "fields that we do not use")
	assert.NoError(t, b.decode(nil))
}

// The sizes of an event, as they were worked out from the documented run.
func TestSizesAreTheDocumentedOnes(t *testing.T) {
	for _, n := range []int{299, 400} {
		g := some(t, testShape(), n, documentedBody)
		events := g.b.events
		assert.Len(t, events[0].id.id, 44)
		assert.Len(t, events[0].body, documentedBody)
		assert.InEpsilon(t, 1495, float64(len(g.b.encode(nil)))/float64(n), 0.01)
		content := appendContent(nil, events)
		assert.Len(t, content, contentSize(events))
		assert.InEpsilon(t, 1345, float64(len(content))/float64(n), 0.01)
		links := (&linker{}).appendLinks(nil, &g.b, events)
		assert.InDelta(t, 105, float64(len(links))/float64(n), 0.5)
		c, err := newCompressor(codecLZ4)
		require.NoError(t, err)
		small, err := c.append(nil, content)
		require.NoError(t, err)
		assert.InDelta(t, 5.4, float64(len(content))/float64(len(small)), 0.2)
		assert.InEpsilon(t, 354, float64(len(small)+len(links))/float64(n), 0.02)
	}
}

func TestCompressibilityIsAboutWhatWasAskedFor(t *testing.T) {
	for _, size := range []int{600, documentedBody, 5000} {
		for _, ratio := range []float64{3, 4.5, 5.4, 6.5} {
			s := testShape()
			s.ratio = ratio
			g := some(t, s, 300, size)
			assert.Len(t, g.b.events[0].body, size)
			content := appendContent(nil, g.b.events)
			c, err := newCompressor(codecLZ4)
			require.NoError(t, err)
			small, err := c.append(nil, content)
			require.NoError(t, err)
			assert.InEpsilon(t, ratio, float64(len(content))/float64(len(small)), 0.05, "a body of %d bytes", size)
		}
	}
}
