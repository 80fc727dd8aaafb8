package cassandra_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// scylla stands in front of a node and refuses what ScyllaDB does: version 5 of the protocol
// and, while tablets is set, conditional writes.
type scylla struct {
	node             string
	tablets          atomic.Bool
	newer, condition atomic.Int64 // how often each was refused
}

// before returns the address of a scylla in front of a node.
func before(t *testing.T, node string, tablets bool) (*scylla, string) {
	t.Helper()
	s := &scylla{node: node}
	s.tablets.Store(tablets)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() { // ends with l
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s, l.Addr().String()
}

// serve passes on the requests of one connection, each a head of nine bytes and a body, and
// all replies.
func (s *scylla) serve(client net.Conn) {
	defer client.Close()
	node, err := net.Dial("tcp", s.node)
	if err != nil {
		return
	}
	defer node.Close()
	go func() {
		_, _ = io.Copy(client, node)
		_ = client.Close()
	}()
	head := make([]byte, 9)
	for {
		if _, err := io.ReadFull(client, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[5:]))
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		switch {
		case head[0] > 4:
			s.newer.Add(1)
			s.refuse(client, head, 0x000A, "Invalid or unsupported protocol version (5); the lowest supported version is 3 and the greatest is 4")
		case s.tablets.Load() && (bytes.Contains(body, []byte(" IF v = ?")) || bytes.Contains(body, []byte(") IF NOT EXISTS USING"))):
			s.condition.Add(1)
			s.refuse(client, head, 0x2200, "Cannot use LightWeight Transactions for table a.b: LWT is not yet supported with tablets")
		default:
			if _, err := node.Write(append(append([]byte{}, head...), body...)); err != nil {
				return
			}
		}
	}
}

// refuse answers a request with an error.
func (s *scylla) refuse(client net.Conn, head []byte, code uint32, text string) {
	out := []byte{0x84, 0, head[2], head[3], 0, 0, 0, 0, 0}
	out = binary.BigEndian.AppendUint32(out, code)
	out = append(binary.BigEndian.AppendUint16(out, uint16(len(text))), text...) //nolint:gosec // it is short
	binary.BigEndian.PutUint32(out[5:], uint32(len(out)-9))                      //nolint:gosec // it is short
	_, _ = client.Write(out)
}

func lacks(t *testing.T, c store.Conn) map[store.Ability]string {
	t.Helper()
	facts, err := storetest.As[store.Factual](t, c).Facts(t.Context())
	require.NoError(t, err)
	out := map[store.Ability]string{}
	for _, f := range facts.All {
		if f.Lacks != nil {
			out[f.Ability] = f.Lacks.Error()
		}
	}
	return out
}

// Nodes that do not speak version 5 are spoken to in version 4, unless the target says
// otherwise.
func TestAnOlderProtocol(t *testing.T) {
	tier.Full(t, inPlace)
	node := labtest.Cassandra(t).Addr()
	assert.Empty(t, lacks(t, open(t, "cassandra://"+node)))

	s, addr := before(t, node, false)
	c := open(t, "cassandra://"+addr)
	assert.Positive(t, s.newer.Load(), "the newer one is tried first")
	info, err := c.Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "v4", info.Details["protocol"])
	assert.Equal(t, map[store.Ability]string{"protocol 5": "version 4 is spoken"}, lacks(t, c))

	_, err = dial(t, storetest.With("cassandra://"+addr, labtest.Patience+"&protocol=5"))
	require.ErrorContains(t, err, "does not speak version 5")
	assert.Contains(t, fault.HintOf(err), "leave protocol= out")
}

// Without conditional writes, a lease is as exclusive as with them.
func TestConformanceWithoutConditionalWrites(t *testing.T) {
	tier.Full(t, inPlace)
	node := labtest.Cassandra(t).Addr()
	_, err := open(t, "cassandra://"+node).EnsureKeyspace(t.Context(), "scyllatest")
	require.NoError(t, err)
	s, addr := before(t, node, true)
	storetest.Run(t, func(t *testing.T) store.Conn { return open(t, "cassandra://"+addr+"/scyllatest") })
	assert.Positive(t, s.condition.Load())

	c := open(t, "cassandra://"+addr+"/scyllatest")
	_, how, err := c.Leases.Hold(t.Context(), "fact", store.Lease{Run: "r", Token: "t"}, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, store.Taken, how)
	assert.Contains(t, lacks(t, c)[store.Conditional], "LWT is not yet supported with tablets")
	require.NoError(t, c.Leases.Free(t.Context(), "fact", store.Lease{Run: "r", Token: "t"}))
	needs := []store.Need{{Ability: store.Conditional, For: "schema=cradle", Instead: "use lean"}}
	require.ErrorContains(t, store.Require(t.Context(), c, needs), "schema=cradle needs lightweight transactions, which this server lacks")
}
