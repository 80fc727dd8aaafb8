package proc

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range from which systems serve outgoing
// connections (32768 and up), or a client under load would snatch them; with the
// cluster bus at 10000 above, that one stays below, too.
const (
	lowestPort  = 12000
	highestPort = 22500
)

// FreePorts returns n loopback ports that nobody listens on, nor on those offset
// above when offset is not 0. They are free now: whoever binds one must be ready
// to find it taken.
func FreePorts(n, offset int) ([]int, error) {
	var ports []int
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close() // it was only there to keep the port
		}
	}()
	hold := func(port int) bool {
		l, err := net.Listen("tcp", Addr(port)) //nolint:noctx // on the loopback, at once
		if err == nil {
			held = append(held, l)
		}
		return err == nil
	}
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if hold(port) && (offset == 0 || hold(port+offset)) {
			ports = append(ports, port)
		}
		if len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("no free port on 127.0.0.1")
}

// Addr is a loopback address.
func Addr(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
