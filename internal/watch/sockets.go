package watch

import (
	"maps"
	"net"
	"strconv"
)

// Sockets sums the bytes of a process's TCP connections, as counted by the kernel:
// payload, without headers and retransmissions, including the loopback device. What a
// connection carried between the last call and its end is missed. One goroutine at a
// time may use it.
type Sockets struct {
	seen    map[uint64]socketOf
	in, out int64
	began   bool
	// family means that the connections of the process's children are its own, too.
	family bool
}

// Add reads how much the connections of a process have carried, and returns the sums
// since the first call. For a process that may not be inspected, its connections are
// taken to be those at addr, the host:port where it listens; addr may be empty. The
// error says why nothing is known.
func (s *Sockets) Add(pid int, addr string) (in, out int64, err error) {
	return s.add(&census{}, pid, addr)
}

// census is the connections of this machine at a moment, which the kernel takes a while
// to list: once for all processes that are sampled together.
type census struct {
	all   []socketOf
	err   error
	taken bool
}

func (c *census) connections() ([]socketOf, error) {
	if !c.taken {
		c.all, c.err = connections()
		c.taken = true
	}
	return c.all, c.err
}

func (s *Sockets) add(c *census, pid int, addr string) (in, out int64, err error) {
	all, err := c.connections()
	if err != nil {
		return s.in, s.out, err
	}
	mine, err := inodes(pid)
	if err == nil && s.family {
		for _, child := range children(pid) {
			theirs, _ := inodes(child) // one that has ended has none
			maps.Copy(mine, theirs)
		}
	}
	port := uint64(0)
	if _, text, e := net.SplitHostPort(addr); err != nil && e == nil {
		port, e = strconv.ParseUint(text, 10, 16)
		if e == nil {
			err = nil
		}
	}
	if err != nil {
		return s.in, s.out, err
	}
	now := make(map[uint64]socketOf, len(s.seen))
	for _, c := range all {
		if !mine[c.inode] && (port == 0 || c.port != uint16(port)) {
			continue
		}
		now[c.cookie] = c
		if before, known := s.seen[c.cookie]; known || s.began {
			s.in += max(c.in-before.in, 0)
			s.out += max(c.out-before.out, 0)
		}
	}
	s.seen, s.began = now, true
	return s.in, s.out, nil
}
