package powercut

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sort"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Extended attributes of the root that are commands.
const (
	cutAttr  = "user.perfbench.cut" // "whole", "torn"
	syncAttr = "user.perfbench.sync"
	slowAttr = "user.perfbench.slow" // "50ms", "0s"
)

// magic is what statfs says of every file system in user space.
const magic = 0x65735546

// Available returns why there can be no such file system on this machine, an ErrMissing; nil if
// there can.
func Available() error {
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return missing(err.Error())
	}
	return f.Close()
}

// Serve has the file system at a folder, with what is durable in another folder, until it is
// unmounted or ctx ends. The file system is empty at first.
func Serve(ctx context.Context, folder, at string) error {
	if err := Available(); err != nil {
		return err
	}
	var st syscall.Stat_t
	if err := syscall.Stat(at, &st); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	f := &fs{RawFileSystem: fuse.NewDefaultRawFileSystem(), tree: newTree(folder, st.Mode, st.Uid, st.Gid)}
	server, err := fuse.NewServer(f, at, &fuse.MountOptions{
		FsName: "perfbench", Name: "perfbench", AllowOther: os.Geteuid() == 0, DirectMount: true,
		Options: []string{"default_permissions"}, DisableReadDirPlus: true,
		MaxWrite: 1 << 20, MaxBackground: 64, IgnoreSecurityLabels: true,
	})
	if err != nil {
		return missing(fmt.Sprintf("mount %s: %v", at, err))
	}
	done := make(chan struct{})
	go func() {
		server.Serve()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done(): // programs that still use it are no reason to wait
		return Unmount(at)
	}
}

// Mounted reports whether a folder is such a file system, also one that nobody serves any more.
func Mounted(at string) bool {
	var st unix.Statfs_t
	err := unix.Statfs(at, &st)
	return errors.Is(err, unix.ENOTCONN) || err == nil && st.Type == magic
}

// Unmount ends the file system at a folder, also one that nobody serves any more.
func Unmount(at string) error {
	if !Mounted(at) {
		return nil
	}
	if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", at, err)
	}
	return nil
}

// Cut drops what is not durable in the file system at a folder; torn drops a random part of it, by
// sectors. The programs that use it are to be killed first.
func Cut(at string, torn bool) error {
	how := "whole"
	if torn {
		how = "torn"
	}
	return command(at, cutAttr, how)
}

// Sync makes everything durable in the file system at a folder.
func Sync(at string) error { return command(at, syncAttr, "all") }

// Slow has each call that makes something durable in the file system at a folder take that much
// longer from now on; 0 ends it.
func Slow(at string, by time.Duration) error { return command(at, slowAttr, by.String()) }

// Slowed returns how much longer that takes now, as far as it is known.
func Slowed(at string) time.Duration {
	if !Mounted(at) {
		return 0
	}
	text := make([]byte, 64)
	n, err := unix.Getxattr(at, slowAttr, text)
	if err != nil {
		return 0
	}
	by, _ := time.ParseDuration(string(text[:n])) // it is ours
	return by
}

func command(at, attr, value string) error {
	if !Mounted(at) {
		return missing(at + " is none")
	}
	if err := unix.Setxattr(at, attr, []byte(value), 0); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// fs answers the kernel. A call that is not here is answered as one that there is not.
type fs struct {
	fuse.RawFileSystem
	*tree
	// slow is how many nanoseconds longer it takes to make something durable.
	slow atomic.Int64
}

func (f *fs) String() string { return "perfbench" }

// lock locks the tree and returns the node of that number.
func (f *fs) lock(ino uint64) *node {
	f.mu.Lock()
	return f.nodes[ino]
}

func (n *node) attr(out *fuse.Attr) {
	out.Ino, out.Mode, out.Size = n.ino, n.mode, uint64(max(n.size, int64(len(n.target)))) //nolint:gosec // never negative
	out.Owner.Uid, out.Owner.Gid = n.uid, n.gid
	out.Nlink, out.Blksize, out.Blocks = uint32(max(n.links, 0)), blockSize, (out.Size+Sector-1)/Sector //nolint:gosec // few
	if n.isDir() {
		out.Nlink++
	}
	out.SetTimes(&n.atime, &n.mtime, &n.ctime)
}

// found answers with a node that the kernel will know.
func found(n *node, out *fuse.EntryOut) fuse.Status {
	n.lookups++
	out.NodeId = n.ino
	n.attr(&out.Attr)
	return fuse.OK
}

func (f *fs) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	dir := f.lock(h.NodeId)
	defer f.mu.Unlock()
	if dir == nil || dir.now[name] == nil {
		return fuse.ENOENT
	}
	return found(dir.now[name], out)
}

func (f *fs) Forget(ino, lookups uint64) {
	n := f.lock(ino)
	defer f.mu.Unlock()
	if n != nil && n != f.root {
		n.lookups -= min(lookups, n.lookups)
		f.free(n)
	}
}

func (f *fs) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	n := f.lock(in.NodeId)
	defer f.mu.Unlock()
	if n == nil {
		return fuse.ENOENT
	}
	n.attr(&out.Attr)
	return fuse.OK
}

func (f *fs) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	n := f.lock(in.NodeId)
	defer f.mu.Unlock()
	if n == nil {
		return fuse.ENOENT
	}
	if mode, ok := in.GetMode(); ok {
		n.mode = n.mode&syscall.S_IFMT | mode&^syscall.S_IFMT
	}
	if uid, ok := in.GetUID(); ok {
		n.uid = uid
	}
	if gid, ok := in.GetGID(); ok {
		n.gid = gid
	}
	n.ctime = time.Now()
	if size, ok := in.GetSize(); ok {
		n.truncate(int64(size)) //nolint:gosec // the kernel's limit is that of int64
		n.mtime = n.ctime
	}
	if at, ok := in.GetATime(); ok {
		n.atime = at
	}
	if at, ok := in.GetMTime(); ok {
		n.mtime = at
	}
	n.attr(&out.Attr)
	return fuse.OK
}

// make makes a node with a name.
func (f *fs) make(h *fuse.InHeader, mode uint32, name, target string, out *fuse.EntryOut) fuse.Status {
	dir := f.lock(h.NodeId)
	defer f.mu.Unlock()
	switch {
	case dir == nil || dir.links == 0:
		return fuse.ENOENT
	case dir.now[name] != nil:
		return fuse.Status(syscall.EEXIST)
	}
	n := f.node(mode, h.Uid, h.Gid)
	n.target = target
	f.link(dir, name, n)
	return found(n, out)
}

func (f *fs) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	switch in.Mode & syscall.S_IFMT {
	case syscall.S_IFREG, syscall.S_IFSOCK, syscall.S_IFIFO:
		return f.make(&in.InHeader, in.Mode, name, "", out)
	}
	return fuse.EPERM
}

func (f *fs) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.make(&in.InHeader, in.Mode&^syscall.S_IFMT|syscall.S_IFDIR, name, "", out)
}

func (f *fs) Symlink(_ <-chan struct{}, h *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	return f.make(h, syscall.S_IFLNK|0o777, name, target, out)
}

func (f *fs) Readlink(_ <-chan struct{}, h *fuse.InHeader) ([]byte, fuse.Status) {
	n := f.lock(h.NodeId)
	defer f.mu.Unlock()
	if n == nil || n.mode&syscall.S_IFMT != syscall.S_IFLNK {
		return nil, fuse.EINVAL
	}
	return []byte(n.target), fuse.OK
}

func (f *fs) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return f.make(&in.InHeader, in.Mode&^syscall.S_IFMT|syscall.S_IFREG, name, "", &out.EntryOut)
}

func (f *fs) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	dir := f.lock(in.NodeId)
	defer f.mu.Unlock()
	n := f.nodes[in.Oldnodeid]
	switch {
	case dir == nil || dir.links == 0 || n == nil:
		return fuse.ENOENT
	case dir.now[name] != nil:
		return fuse.Status(syscall.EEXIST)
	}
	f.link(dir, name, n)
	return found(n, out)
}

func (f *fs) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	dir := f.lock(h.NodeId)
	defer f.mu.Unlock()
	switch {
	case dir == nil || dir.now[name] == nil:
		return fuse.ENOENT
	case dir.now[name].isDir():
		return fuse.Status(syscall.EISDIR)
	}
	f.unlink(dir, name)
	return fuse.OK
}

func (f *fs) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	dir := f.lock(h.NodeId)
	defer f.mu.Unlock()
	switch {
	case dir == nil || dir.now[name] == nil:
		return fuse.ENOENT
	case !dir.now[name].isDir():
		return fuse.ENOTDIR
	case len(dir.now[name].now) > 0:
		return fuse.Status(syscall.ENOTEMPTY)
	}
	f.unlink(dir, name)
	return fuse.OK
}

func (f *fs) Rename(_ <-chan struct{}, in *fuse.RenameIn, oldName, newName string) fuse.Status {
	from := f.lock(in.NodeId)
	defer f.mu.Unlock()
	to := f.nodes[in.Newdir]
	if from == nil || to == nil || from.now[oldName] == nil {
		return fuse.ENOENT
	}
	n, over := from.now[oldName], to.now[newName]
	switch {
	case in.Flags&^unix.RENAME_NOREPLACE != 0:
		return fuse.EINVAL
	case over == n:
		return fuse.OK
	case over != nil && in.Flags != 0:
		return fuse.Status(syscall.EEXIST)
	case over != nil && len(over.now) > 0:
		return fuse.Status(syscall.ENOTEMPTY)
	}
	n.lookups++ // it is without a name for a moment
	f.unlink(from, oldName)
	if over != nil {
		f.unlink(to, newName)
	}
	f.link(to, newName, n)
	n.lookups--
	return fuse.OK
}

func (f *fs) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.ENOSYS } // the kernel decides by the modes

// SetXAttr carries out a command.
func (f *fs) SetXAttr(_ <-chan struct{}, in *fuse.SetXAttrIn, attr string, value []byte) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	if in.NodeId != rootIno {
		return fuse.Status(syscall.ENOTSUP)
	}
	switch attr {
	case cutAttr:
		var r *rand.Rand
		if string(value) == "torn" {
			r = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) //nolint:gosec // no secret
		}
		return fuse.ToStatus(f.cut(r))
	case syncAttr:
		return fuse.ToStatus(f.syncAll())
	case slowAttr:
		by, err := time.ParseDuration(string(value))
		if err != nil {
			return fuse.EINVAL
		}
		f.slow.Store(int64(by))
		return fuse.OK
	}
	return fuse.Status(syscall.ENOTSUP)
}

// GetXAttr answers what a command has set.
func (f *fs) GetXAttr(_ <-chan struct{}, h *fuse.InHeader, attr string, dest []byte) (uint32, fuse.Status) {
	if h.NodeId != rootIno || attr != slowAttr {
		return 0, fuse.ENOATTR
	}
	text := time.Duration(f.slow.Load()).String()
	if len(dest) < len(text) && len(dest) > 0 {
		return 0, fuse.Status(syscall.ERANGE)
	}
	copy(dest, text)
	return uint32(len(text)), fuse.OK //nolint:gosec // a few bytes
}

// wait takes as much longer as it was told to.
func (f *fs) wait() { time.Sleep(time.Duration(f.slow.Load())) }

func (f *fs) Open(_ <-chan struct{}, in *fuse.OpenIn, _ *fuse.OpenOut) fuse.Status {
	n := f.lock(in.NodeId)
	defer f.mu.Unlock()
	if n == nil {
		return fuse.ENOENT
	}
	if in.Flags&syscall.O_TRUNC != 0 {
		n.truncate(0)
	}
	return fuse.OK
}

func (f *fs) Read(_ <-chan struct{}, in *fuse.ReadIn, b []byte) (fuse.ReadResult, fuse.Status) {
	n := f.lock(in.NodeId)
	defer f.mu.Unlock()
	if n == nil {
		return nil, fuse.ENOENT
	}
	got, err := n.read(b[:in.Size], int64(in.Offset)) //nolint:gosec // the kernel's limit is that of int64
	return fuse.ReadResultData(b[:got]), fuse.ToStatus(err)
}

func (f *fs) Write(_ <-chan struct{}, in *fuse.WriteIn, b []byte) (uint32, fuse.Status) {
	n := f.lock(in.NodeId)
	if n == nil {
		f.mu.Unlock()
		return 0, fuse.ENOENT
	}
	err := n.write(b, int64(in.Offset)) //nolint:gosec // the kernel's limit is that of int64
	n.mtime = time.Now()
	f.mu.Unlock()
	if err != nil {
		return 0, fuse.ToStatus(err)
	}
	if in.Flags&(syscall.O_SYNC|syscall.O_DSYNC) != 0 {
		if st := f.sync(in.NodeId); !st.Ok() {
			return 0, st
		}
	}
	return uint32(len(b)), fuse.OK //nolint:gosec // at most MaxWrite
}

// sync makes a file durable. It costs what it costs on the real file system, and others need
// not wait for that.
func (f *fs) sync(ino uint64) fuse.Status {
	f.wait()
	n := f.lock(ino)
	if n == nil {
		f.mu.Unlock()
		return fuse.ENOENT
	}
	file, err := f.syncFile(n)
	f.mu.Unlock()
	if err == nil && file != nil {
		if err = file.Sync(); errors.Is(err, os.ErrClosed) { // it was deleted meanwhile
			err = nil
		}
	}
	return fuse.ToStatus(err)
}

func (f *fs) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status { return f.sync(in.NodeId) }

func (f *fs) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (f *fs) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	n := f.lock(in.NodeId)
	defer f.mu.Unlock()
	switch {
	case n == nil:
		return fuse.ENOENT
	case in.Mode&^unix.FALLOC_FL_KEEP_SIZE != 0:
		return fuse.Status(syscall.ENOTSUP)
	case in.Mode == 0:
		n.truncate(max(n.size, int64(in.Offset+in.Length))) //nolint:gosec // the kernel's limit is that of int64
	}
	return fuse.OK
}

func (f *fs) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, _ *fuse.OpenOut) fuse.Status {
	defer f.mu.Unlock()
	if f.lock(in.NodeId) == nil {
		return fuse.ENOENT
	}
	return fuse.OK
}

// ReadDir lists a folder in the order of the nodes' numbers, which stays while names come and go.
func (f *fs) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	dir := f.lock(in.NodeId)
	defer f.mu.Unlock()
	if dir == nil {
		return fuse.ENOENT
	}
	names := make([]string, 0, len(dir.now))
	for name := range dir.now {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := dir.now[names[i]].ino, dir.now[names[j]].ino
		return a < b || a == b && names[i] < names[j]
	})
	for _, name := range names {
		n := dir.now[name]
		if n.ino <= in.Offset {
			continue
		}
		if !out.AddDirEntry(fuse.DirEntry{Name: name, Ino: n.ino, Mode: n.mode, Off: n.ino}) {
			break
		}
	}
	return fuse.OK
}

func (f *fs) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	f.wait()
	dir := f.lock(in.NodeId)
	defer f.mu.Unlock()
	if dir == nil {
		return fuse.ENOENT
	}
	f.syncDir(dir)
	return fuse.OK
}

func (f *fs) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	var st syscall.Statfs_t
	if err := syscall.Statfs(f.folder, &st); err != nil {
		return fuse.ToStatus(err)
	}
	out.FromStatfsT(&st)
	return fuse.OK
}
