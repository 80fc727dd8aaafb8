package watch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// What the kernel's socket diagnosis is asked for, and where in its answers things
// are: the layouts of linux/inet_diag.h and linux/tcp.h.
const (
	netlinkSockDiag  = 4
	sockDiagByFamily = 20
	wantInfo         = 1 << (attributeInfo - 1)
	attributeInfo    = 2
	allStates        = 0xfff &^ (1 << 10) // all but those that listen

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
func connections() ([]socketOf, error) {
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
		if all, err = dump(fd, family, all); err != nil {
			return nil, fmt.Errorf("ask the kernel for connections: %w", err)
		}
	}
	return all, nil
}

// dump appends the connections of one family.
func dump(fd int, family byte, all []socketOf) ([]socketOf, error) {
	req := make([]byte, syscall.NLMSG_HDRLEN+requestSize)
	ne := binary.NativeEndian
	ne.PutUint32(req[0:], uint32(len(req)))
	ne.PutUint16(req[4:], sockDiagByFamily)
	ne.PutUint16(req[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	body := req[syscall.NLMSG_HDRLEN:]
	body[0], body[1], body[2] = family, syscall.IPPROTO_TCP, wantInfo
	ne.PutUint32(body[4:], allStates)
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

// parseSocket reads one connection; false of one that has no counts.
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

// inodes are the sockets that a process has open.
func inodes(pid int) (map[uint32]bool, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // it was only read
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	out := map[uint32]bool{}
	for _, name := range names {
		target, err := os.Readlink(dir + "/" + name)
		if err != nil {
			continue // closed meanwhile
		}
		if n, ok := strings.CutPrefix(target, "socket:["); ok {
			if inode, err := strconv.ParseUint(strings.TrimSuffix(n, "]"), 10, 32); err == nil {
				out[uint32(inode)] = true
			}
		}
	}
	return out, nil
}
