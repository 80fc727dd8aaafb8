package powercut

import (
	"maps"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"
)

const rootIno = 1

// node is a file, a folder or a symbolic link.
type node struct {
	ino                 uint64
	mode, uid, gid      uint32
	atime, mtime, ctime time.Time
	content                              // of a file
	target              string           // of a symbolic link
	now                 map[string]*node // of a folder: its names,
	synced              map[string]*node // and those that it has after a cut
	// links counts the names that it has, durableLinks those after a cut, and lookups what the kernel knows.
	links, durableLinks int
	lookups             uint64
	// parent and name are where it was named last; was and wasName where a cut leaves it.
	parent, was   *node
	name, wasName string
}

func (n *node) isDir() bool { return n.mode&syscall.S_IFMT == syscall.S_IFDIR }

// tree is the whole file system.
type tree struct {
	folder string
	mu     sync.Mutex // of everything below
	nodes  map[uint64]*node
	last   uint64
	root   *node
}

func newTree(folder string, mode, uid, gid uint32) *tree {
	t := &tree{folder: folder, nodes: map[uint64]*node{}}
	t.root = t.node(mode, uid, gid)
	t.root.links, t.root.durableLinks = 1, 1
	return t
}

// node returns a new one without a name.
func (t *tree) node(mode, uid, gid uint32) *node {
	t.last++
	at := time.Now()
	n := &node{ino: t.last, mode: mode, uid: uid, gid: gid, atime: at, mtime: at, ctime: at}
	n.path = contentPath(t.folder, n.ino)
	if n.isDir() {
		n.now, n.synced = map[string]*node{}, map[string]*node{}
	}
	t.nodes[n.ino] = n
	return n
}

// link gives a node a name, which no other has.
func (t *tree) link(dir *node, name string, n *node) {
	dir.now[name] = n
	n.links++
	n.parent, n.name = dir, name
	dir.mtime = time.Now()
	n.ctime = dir.mtime
}

// unlink takes a name away.
func (t *tree) unlink(dir *node, name string) {
	n := dir.now[name]
	delete(dir.now, name)
	n.links--
	dir.mtime = time.Now()
	n.ctime = dir.mtime
	t.free(n)
}

// free deletes a node that nobody can reach any more, neither now nor after a cut.
func (t *tree) free(n *node) {
	if n.links > 0 || n.durableLinks > 0 || n.lookups > 0 {
		return
	}
	delete(t.nodes, n.ino)
	for _, child := range n.synced {
		child.durableLinks--
		t.free(child)
	}
	n.remove()
}

// keep makes a name durable. If it is the new one of a node that was renamed, its old one goes.
func (t *tree) keep(dir *node, name string, n *node) {
	old := dir.synced[name]
	if old == n {
		return
	}
	dir.synced[name] = n
	n.durableLinks++
	if n.was != nil && n.was.synced[n.wasName] == n && n.was.now[n.wasName] != n {
		delete(n.was.synced, n.wasName)
		n.durableLinks--
	}
	n.was, n.wasName = dir, name
	if old != nil {
		t.lose(old)
	}
}

// lose takes a durable name away from a node. If it has another by now, that becomes durable.
func (t *tree) lose(n *node) {
	n.durableLinks--
	t.reach(n)
	t.free(n)
}

// reach makes durable the way to a node that would not be found after a cut.
func (t *tree) reach(n *node) {
	for n != t.root && n.durableLinks == 0 && n.parent != nil && n.parent.now[n.name] == n {
		t.keep(n.parent, n.name, n)
		n = n.parent
	}
}

// syncDir makes the names in a folder durable.
func (t *tree) syncDir(dir *node) {
	t.reach(dir)
	for name, n := range dir.now {
		t.keep(dir, name, n)
	}
	for name, n := range maps.Clone(dir.synced) {
		if dir.now[name] == nil && dir.synced[name] == n {
			delete(dir.synced, name)
			t.lose(n)
		}
	}
}

// syncFile makes what a file contains durable. The file that is returned is to be synced itself.
func (t *tree) syncFile(n *node) (*os.File, error) {
	t.reach(n)
	return n.sync()
}

// syncAll makes everything durable.
func (t *tree) syncAll() error {
	for ino, n := range maps.Clone(t.nodes) {
		if t.nodes[ino] != n { // a folder that was made durable had its last name
			continue
		}
		if n.isDir() {
			t.syncDir(n)
		} else if _, err := n.sync(); err != nil {
			return err
		}
	}
	return nil
}

// cut drops what is not durable; r tears it at sectors.
func (t *tree) cut(r *rand.Rand) error {
	for _, n := range t.nodes {
		n.links, n.durableLinks = 0, 0
	}
	t.root.links, t.root.durableLinks = 1, 1
	t.restore(t.root)
	for _, n := range maps.Clone(t.nodes) {
		if n.durableLinks == 0 {
			n.now, n.synced = nil, nil
			if n.isDir() { // the kernel may still ask about it
				n.now, n.synced = map[string]*node{}, map[string]*node{}
			}
			t.free(n)
			continue
		}
		if err := n.cut(r); err != nil {
			return err
		}
	}
	return nil
}

// restore gives a folder and those in it the names that are durable.
func (t *tree) restore(dir *node) {
	dir.now = maps.Clone(dir.synced)
	for name, n := range dir.synced {
		n.links++
		n.durableLinks++
		n.parent, n.was, n.name, n.wasName = dir, dir, name, name
		if n.isDir() && n.links == 1 {
			t.restore(n)
		}
	}
}
