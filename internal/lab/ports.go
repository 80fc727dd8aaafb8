package lab

import (
	"errors"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"sync"
)

// Ports are taken from below the range that systems use for outgoing connections (32768
// and up), or a client under load might take them; the cluster bus, 10000 above, stays
// below that range, too.
const (
	lowestPort  = 12000
	highestPort = 22500
)

// FreePorts returns n loopback ports on which nobody listens, nor on those offset above
// if offset is not 0. On Linux no other call in any process gets them as long as this
// process lives, whether or not a server is listening. They are not protected against
// other programs: whoever binds one must be ready to find it taken.
func FreePorts(n, offset int) ([]int, error) {
	var ports []int
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close() // it was only there to reserve the port
		}
	}()
	hold := func(port int) bool {
		l, err := net.Listen("tcp", Addr(port)) //nolint:noctx // on the loopback, at once
		if err == nil {
			held = append(held, l)
		}
		return err == nil && reserve(port)
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

// reserved are the marks of the ports given to this process, which stay open until it
// ends.
var reserved struct {
	sync.Mutex
	marks []net.Listener
}

// reserve marks a port as ours, unless another process has it: by the name of a socket,
// which the system removes with our process.
func reserve(port int) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	l, err := net.Listen("unix", "@perfbench-port-"+strconv.Itoa(port)) //nolint:noctx // at once
	if err != nil {
		return false
	}
	reserved.Lock()
	defer reserved.Unlock()
	reserved.marks = append(reserved.marks, l)
	return true
}

// Addr returns a loopback address.
func Addr(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// freePorts returns n ports for the servers of a service, those on offset above being free as well:
// the ones that they had before, if they are started anew.
func (h *host) freePorts(n, offset int) ([]int, error) {
	if len(h.opts.ports) == n {
		return h.opts.ports, nil
	}
	return FreePorts(n, offset)
}

// freePort returns the requested port, or a free one.
func (h *host) freePort() (int, error) {
	if h.opts.Port != 0 {
		return h.opts.Port, nil
	}
	ports, err := h.freePorts(1, 0)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}
