package generate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
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

// some makes a batch of n events as a generator does that has made many.
func some(t testing.TB, s *Shape, n, payload int) *Generator {
	t.Helper()
	g := New(s, 0)
	g.Next = 90_000_001 // ids of 44 characters, as after a quarter of an hour
	require.NoError(t, g.Plant(wire.StampOf(s.Born), payload, 1000, func(int64) error { return nil }))
	g.Fill(wire.StampOf(s.Born+1e9), n, payload)
	return g
}

func TestProtobufReadsWhatWeWriteAndWeReadProtobuf(t *testing.T) {
	kind := batchType(t)
	for name, change := range map[string]func(*Shape){
		"documented":  func(*Shape) {},
		"failures":    func(s *Shape) { s.Failures = 500 },
		"bare":        func(s *Shape) { s.Attached = 0 },
		"several ids": func(s *Shape) { s.Attached, s.Aliases = 3, [][]byte{[]byte("a"), []byte("bb")} },
		"random text": func(s *Shape) { s.Kind, s.Description = BodyRandom, 50 },
		"no parents":  func(s *Shape) { s.Mode, s.Roots = Mixed, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := Documented()
			change(s)
			g := some(t, s, 40, 300)
			if s.Mode == Mixed {
				g.made = 9
				g.Fill(wire.StampOf(s.Born+1e9), 40, 300)
				require.False(t, g.Batch.Parent.Set)
			}
			ours := g.Encode(nil)
			m := dynamicpb.NewMessage(kind)
			require.NoError(t, proto.Unmarshal(ours, m))
			assert.Equal(t, 40, m.Get(kind.Fields().ByName("events")).List().Len())
			theirs, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
			require.NoError(t, err)
			assert.Equal(t, theirs, ours)
			var b wire.Batch
			require.NoError(t, b.Decode(theirs))
			assert.Equal(t, g.Batch.Parent, b.Parent)
			assert.Equal(t, g.Batch.Events, b.Events)
			assert.Equal(t, g.Batch.Messages, b.Messages)
		})
	}
}

func TestDamagedBatchesAreRefused(t *testing.T) {
	g := some(t, Documented(), 3, 100)
	good := g.Encode(nil)
	var b wire.Batch
	for cut := 1; cut < len(good); cut++ {
		err := b.Decode(good[:cut])
		if err == nil { // a cut between two fields leaves a shorter batch
			assert.LessOrEqual(t, len(b.Events), 2, "cut at %d", cut)
			continue
		}
		assert.ErrorIs(t, err, wire.ErrWire)
	}
	assert.ErrorIs(t, b.Decode([]byte{0x0b}), wire.ErrWire, "a group")
	assert.ErrorIs(t, b.Decode([]byte{0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}), wire.ErrWire, "an endless length")
	assert.NoError(t, b.Decode([]byte{0x1a, 0x02, 0x0a, 0x00}), "fields that we do not use")
	assert.NoError(t, b.Decode(nil))
}

// The sizes of an event, as they were worked out from the documented run.
func TestSizesAreTheDocumentedOnes(t *testing.T) {
	for _, n := range []int{299, 400} {
		g := some(t, Documented(), n, DocumentedBody)
		events := g.Batch.Events
		assert.Len(t, events[0].ID.ID, 44)
		assert.Len(t, events[0].Body, DocumentedBody)
		assert.InEpsilon(t, 1495, float64(len(g.Encode(nil)))/float64(n), 0.01)
		content := wire.AppendContent(nil, events)
		assert.Len(t, content, wire.ContentSize(events))
		assert.InEpsilon(t, 1345, float64(len(content))/float64(n), 0.01)
		links := (&wire.Linker{}).AppendLinks(nil, &g.Batch, events)
		assert.InDelta(t, 105, float64(len(links))/float64(n), 0.5)
		c, err := wire.NewCompressor(wire.LZ4)
		require.NoError(t, err)
		small, err := c.Append(nil, content)
		require.NoError(t, err)
		assert.InDelta(t, 5.4, float64(len(content))/float64(len(small)), 0.2)
		assert.InEpsilon(t, 354, float64(len(small)+len(links))/float64(n), 0.02)
	}
}

func TestCompressibilityIsAboutWhatWasAskedFor(t *testing.T) {
	for _, size := range []int{600, DocumentedBody, 5000} {
		for _, ratio := range []float64{3, 4.5, 5.4, 6.5} {
			s := Documented()
			s.Ratio = ratio
			g := some(t, s, 300, size)
			assert.Len(t, g.Batch.Events[0].Body, size)
			content := wire.AppendContent(nil, g.Batch.Events)
			c, err := wire.NewCompressor(wire.LZ4)
			require.NoError(t, err)
			small, err := c.Append(nil, content)
			require.NoError(t, err)
			assert.InEpsilon(t, ratio, float64(len(content))/float64(len(small)), 0.05, "a body of %d bytes", size)
		}
	}
}
