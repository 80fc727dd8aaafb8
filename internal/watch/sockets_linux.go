package watch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// The parameters of the kernel's socket diagnosis, and offsets in its answers: the
// layouts of linux/inet_diag.h and linux/tcp.h.
const (
	netlinkSockDiag  = 4
	sockDiagByFamily = 20
	wantInfo         = 1 << (attributeInfo - 1)
	attributeInfo    = 2
	listens          = 1 << 10
	waits            = 1 << 6 // closed ones have no owner and no counters, and there may be thousands
	connects         = 0xfff &^ (listens | waits)

	requestSize   = 56
	messageSize   = 72
	portAt        = 4
	cookieAt      = 44
	inodeAt       = 68
	attributeHead = 4
	ackedAt       = 120
	receivedAt    = 128
	infoNeeded    = receivedAt + 8
)

// socketOf is one TCP connection.
type socketOf struct {
	cookie  uint64 // of the socket, never used again
	inode   uint32
	port    uint16 // on its side
	in, out int64  // bytes of content so far
}

// connections lists the TCP connections of this machine, or of this network
// namespace.
func connections() ([]socketOf, error) { return sockets(connects) }

// sockets lists the TCP sockets in the given states.
func sockets(states uint32) ([]socketOf, error) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return nil, fmt.Errorf("ask the kernel for connections: %w", err)
	}
	defer func() { _ = syscall.Close(fd) }() // it was only read from
	limit := syscall.Timeval{Sec: 2}
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit); err != nil {
		return nil, fmt.Errorf("ask the kernel for connections: %w", err)
	}
	var all []socketOf
	for _, family := range []byte{syscall.AF_INET, syscall.AF_INET6} {
		if all, err = dump(fd, family, states, all); err != nil {
			return nil, fmt.Errorf("ask the kernel for connections: %w", err)
		}
	}
	return all, nil
}

// dump appends the sockets of one address family.
func dump(fd int, family byte, states uint32, all []socketOf) ([]socketOf, error) {
	req := make([]byte, syscall.NLMSG_HDRLEN+requestSize)
	ne := binary.NativeEndian
	ne.PutUint32(req[0:], uint32(len(req)))
	ne.PutUint16(req[4:], sockDiagByFamily)
	ne.PutUint16(req[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	body := req[syscall.NLMSG_HDRLEN:]
	body[0], body[1], body[2] = family, syscall.IPPROTO_TCP, wantInfo
	ne.PutUint32(body[4:], states)
	if err := syscall.Sendto(fd, req, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return nil, err
	}
	buf := make([]byte, 1<<16)
	for {
		n, _, err := syscall.Recvfrom(fd, buf, 0)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			switch m.Header.Type {
			case syscall.NLMSG_DONE:
				return all, nil
			case syscall.NLMSG_ERROR:
				return nil, errors.New("it does not tell")
			case sockDiagByFamily:
				if s, ok := parseSocket(m.Data); ok {
					all = append(all, s)
				}
			}
		}
	}
}

// parseSocket parses one connection; false if it has no counters.
func parseSocket(b []byte) (s socketOf, ok bool) {
	if len(b) < messageSize {
		return s, false
	}
	ne := binary.NativeEndian
	s.port = binary.BigEndian.Uint16(b[portAt:])
	s.cookie, s.inode = ne.Uint64(b[cookieAt:]), ne.Uint32(b[inodeAt:])
	for b = b[messageSize:]; len(b) >= attributeHead; {
		size, kind := int(ne.Uint16(b)), ne.Uint16(b[2:])
		if size < attributeHead || size > len(b) {
			return s, false
		}
		if info := b[attributeHead:size]; kind == attributeInfo && len(info) >= infoNeeded {
			s.out, s.in = int64(ne.Uint64(info[ackedAt:])), int64(ne.Uint64(info[receivedAt:]))
			return s, true
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return s, false
}

// inodes returns the sockets that a process has open.
func inodes(pid int) (map[uint32]bool, error) {
	out := map[uint32]bool{}
	err := eachSocket(pid, func(inode uint32) bool {
		out[inode] = true
		return true
	})
	return out, err
}

// eachSocket calls yield for the sockets that a process has open, until it returns
// false.
func eachSocket(pid int, yield func(inode uint32) bool) error {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	names, err := entries(dir)
	for _, name := range names {
		target, err := os.Readlink(dir + "/" + name)
		if err != nil {
			continue // closed in the meantime
		}
		if n, ok := strings.CutPrefix(target, "socket:["); ok {
			if inode, err := strconv.ParseUint(strings.TrimSuffix(n, "]"), 10, 32); err == nil && !yield(uint32(inode)) {
				break
			}
		}
	}
	return err
}

// owners maps the inode of a listening socket to the process that was last seen to have
// it open.
var owners sync.Map

// listener finds the process that listens at a port, or the first process of such a
// family; 0 if no such process is visible. It returns an error if the kernel does not
// tell. To avoid inspecting most processes of a machine, it tries the previous owner
// first, and then new processes.
func listener(port uint16) (pid int, err error) {
	all, err := sockets(listens)
	if err != nil {
		return 0, err
	}
	at := map[uint32]bool{}
	for _, s := range all {
		if s.port == port {
			at[s.inode] = true
		}
	}
	for inode := range at {
		if pid, ok := owners.Load(inode); ok && has(pid.(int), at) {
			return pid.(int), nil
		}
	}
	if len(at) == 0 {
		return 0, nil
	}
	names, err := entries("/proc")
	if err != nil {
		return 0, err
	}
	var pids []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			pids = append(pids, n)
		}
	}
	slices.Sort(pids)
	for _, pid := range slices.Backward(pids) {
		if !has(pid, at) {
			continue
		}
		for s, ok := StatOf(pid); ok && has(s.Parent, at); s, ok = StatOf(pid) {
			pid = s.Parent
		}
		for inode := range at {
			owners.Store(inode, pid)
		}
		return pid, nil
	}
	return 0, nil
}

// has reports whether a process has any of the given sockets open.
func has(pid int, some map[uint32]bool) (found bool) {
	_ = eachSocket(pid, func(inode uint32) bool { // a process that may not be inspected has none
		found = some[inode]
		return !found
	})
	return found
}
