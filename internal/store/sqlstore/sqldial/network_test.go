package sqldial

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What was cut off has nothing to complain of when its pool closes it.
func TestSeveredConnectionsCloseWithoutAnError(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, l.Close()) }()
	var n Network
	c, err := n.dial(t.Context(), "tcp", l.Addr().String())
	require.NoError(t, err)
	n.Sever()
	require.NoError(t, c.Close())
	_, err = n.dial(t.Context(), "tcp", l.Addr().String())
	require.ErrorIs(t, err, net.ErrClosed)
}
