package powercut_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/perfbench/perfbench/internal/lab/powercut"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// The file system is served by a process of its own: who touches a page of a mapped file waits for
// it without leaving its processor to others.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := powercut.Serve(ctx, os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// mount returns a folder that is such a file system, until the test ends.
func mount(t *testing.T) string {
	t.Helper()
	if err := powercut.Available(); err != nil {
		t.Skipf("power cuts are not tested: %v", err)
	}
	base := t.TempDir()
	folder, at := filepath.Join(base, "durable"), filepath.Join(base, "data")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.Mkdir(at, 0o700))
	var said bytes.Buffer
	cmd := exec.Command(os.Args[0], "serve", folder, at)
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		assert.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, <-ended, said.String())
		assert.False(t, powercut.Mounted(at))
	})
	for !powercut.Mounted(at) {
		select {
		case err := <-ended:
			ended <- err
			t.Skipf("power cuts are not tested: %v: %s", err, said.String())
		default:
		}
	}
	return at
}

func write(t *testing.T, f *os.File, b []byte, off int64) {
	t.Helper()
	_, err := f.WriteAt(b, off)
	require.NoError(t, err)
}

func syncDir(t *testing.T, path string) {
	t.Helper()
	d, err := os.Open(path)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Sync())
}

// all returns the files below a folder, by their paths.
func all(t *testing.T, at string) map[string]string {
	t.Helper()
	got := map[string]string{}
	require.NoError(t, filepath.Walk(at, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		got[path[len(at)+1:]] = string(b)
		return err
	}))
	return got
}

func TestOnlyWhatWasSyncedSurvivesACut(t *testing.T) {
	at := mount(t)
	path := func(name string) string { return filepath.Join(at, name) }
	put := func(name, text string, flags int, sync func(*os.File) error) {
		f, err := os.OpenFile(path(name), os.O_CREATE|os.O_WRONLY|flags, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		if sync != nil {
			require.NoError(t, sync(f))
		}
		require.NoError(t, f.Close())
	}
	fsync := (*os.File).Sync
	put("not", "x", 0, nil)
	put("fsync", "kept", 0, fsync)
	put("fdatasync", "kept", 0, func(f *os.File) error { return unix.Fdatasync(int(f.Fd())) })
	put("o_sync", "kept", os.O_SYNC, nil)
	put("o_dsync", "kept", unix.O_DSYNC, nil)
	put("appended", "one ", os.O_APPEND, fsync)
	put("appended", "two", os.O_APPEND, nil)
	require.Equal(t, "one two", all(t, at)["appended"], "it is there until the cut")
	put("shortened", "long text", 0, fsync)
	require.NoError(t, os.Truncate(path("shortened"), 4))
	put("deleted", "kept", 0, fsync)
	put("deleted durably", "x", 0, fsync)
	require.NoError(t, os.Remove(path("deleted durably")))
	put("renamed", "kept", 0, fsync)
	require.NoError(t, os.MkdirAll(path("a/b"), 0o700))
	put("a/b/new", "kept", 0, fsync)
	put("a/b/empty", "", 0, nil)
	syncDir(t, path("a/b"))
	require.NoError(t, os.MkdirAll(path("other"), 0o700))
	put("moved", "kept", 0, fsync)
	syncDir(t, at)
	require.NoError(t, os.Rename(path("moved"), path("other/moved")))
	syncDir(t, at) // the folder that it left
	require.NoError(t, os.Rename(path("renamed"), path("renamed later")))
	require.NoError(t, os.Remove(path("deleted")))
	require.NoError(t, os.Remove(path("a/b/new")))
	put("written over", "kept", 0, fsync)
	put("new version", "x", 0, fsync)
	require.NoError(t, os.Rename(path("new version"), path("written over")))
	require.NoError(t, powercut.Cut(at, false))

	assert.Equal(t, map[string]string{
		"fsync": "kept", "fdatasync": "kept", "o_sync": "kept", "o_dsync": "kept", "appended": "one ", "shortened": "long text",
		"not":     "", // its folder was synced
		"deleted": "kept", "renamed": "kept", "a/b/new": "kept", "a/b/empty": "", "other/moved": "kept",
		"written over": "kept", "new version": "x",
	}, all(t, at))
}

// Files whose last name goes with the folder that is made durable may not have been written whole.
func TestAllIsSyncedWhatNamesHaveGoneWithIt(t *testing.T) {
	at := mount(t)
	path := func(i int) string { return filepath.Join(at, strconv.Itoa(i)) }
	for i := range 30 {
		f, err := os.Create(path(i))
		require.NoError(t, err)
		write(t, f, []byte("kept"), 0)
		require.NoError(t, f.Sync())
		require.NoError(t, f.Close())
	}
	syncDir(t, at)
	for i := range 29 {
		require.NoError(t, os.WriteFile(path(i), []byte("not synced"), 0o600))
		require.NoError(t, os.Remove(path(i)))
	}
	require.NoError(t, powercut.Sync(at))
	require.NoError(t, powercut.Cut(at, false))
	assert.Equal(t, map[string]string{"29": "kept"}, all(t, at))
}

// program writes files of one folder and knows what a cut must leave of them.
type program struct {
	t            *testing.T
	r            *rand.Rand
	at           string
	now, durable map[string]*file
}

// file is what a file contains, and what it contains after a cut. If it was shortened since it was
// synced, short is what is left of durable.
type file struct{ now, durable, short []byte }

func (p *program) open(name string, flags int) *os.File {
	f, err := os.OpenFile(filepath.Join(p.at, name), os.O_RDWR|flags, 0o600)
	require.NoError(p.t, err)
	return f
}

// synced is what fsync of a file makes durable: a new file can be found, too.
func (p *program) synced(name string) {
	f := p.now[name]
	f.durable = bytes.Clone(f.now)
	f.short = f.durable
	p.found(name)
}

// found makes durable the name of a file that has no durable one. If that was the name of a file
// that is called otherwise by now, so is the new one of that.
func (p *program) found(name string) {
	f := p.now[name]
	if _, ok := nameOf(p.durable, f); ok {
		return
	}
	old := p.durable[name]
	p.durable[name] = f
	if other, ok := nameOf(p.now, old); ok {
		p.found(other)
	}
}

func nameOf(files map[string]*file, f *file) (string, bool) {
	for name, other := range files {
		if other == f {
			return name, true
		}
	}
	return "", false
}

// put writes random bytes, at most n, somewhere in a file or at its end.
func (p *program) put(f *file, n, aligned int) (b []byte, off int) {
	b = make([]byte, (1+p.r.IntN(n))*aligned)
	for i := range b {
		b[i] = byte(1 + p.r.IntN(255))
	}
	off = p.r.IntN(len(f.now)/aligned+1) * aligned
	f.now = append(f.now, make([]byte, max(0, off+len(b)-len(f.now)))...)
	copy(f.now[off:], b)
	return b, off
}

// step does one thing of those that servers do.
func (p *program) step() {
	names := slices.Sorted(maps.Keys(p.now))
	if len(names) == 0 || len(names) < 6 && p.r.IntN(4) == 0 {
		name := fmt.Sprintf("f%d", p.r.IntN(20))
		if p.now[name] == nil {
			p.now[name] = &file{}
			require.NoError(p.t, p.open(name, os.O_CREATE|os.O_EXCL).Close())
		}
		return
	}
	name := names[p.r.IntN(len(names))]
	f := p.now[name]
	flags, what := 0, p.r.IntN(10)
	switch what {
	case 0:
		flags = os.O_SYNC
	case 1:
		flags = unix.O_DSYNC
	case 2:
		flags = unix.O_DIRECT
	}
	h := p.open(name, flags)
	switch what {
	case 0, 1:
		b, off := p.put(f, 9000, 1)
		write(p.t, h, b, int64(off))
		p.synced(name)
	case 2:
		b, off := p.put(f, 2, 4096)
		page, err := unix.Mmap(-1, 0, len(b), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		require.NoError(p.t, err)
		copy(page, b)
		write(p.t, h, page, int64(off))
		require.NoError(p.t, unix.Munmap(page))
	case 3, 4:
		b, off := p.put(f, 9000, 1)
		write(p.t, h, b, int64(off))
	case 5:
		require.NoError(p.t, h.Sync())
		p.synced(name)
	case 6:
		size := p.r.IntN(2*len(f.now) + 1)
		require.NoError(p.t, h.Truncate(int64(size)))
		f.short = f.short[:min(size, len(f.short))]
		f.now = append(bytes.Clone(f.now[:min(size, len(f.now))]), make([]byte, max(0, size-len(f.now)))...)
	case 7:
		if len(f.now) > 0 {
			m, err := unix.Mmap(int(h.Fd()), 0, len(f.now), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			require.NoError(p.t, err)
			i := p.r.IntN(len(m))
			m[i]++
			f.now[i]++
			if p.r.IntN(2) == 0 {
				require.NoError(p.t, unix.Msync(m, unix.MS_SYNC))
				p.synced(name)
			}
			require.NoError(p.t, unix.Munmap(m))
		}
	case 8:
		if to := fmt.Sprintf("f%d", p.r.IntN(20)); p.r.IntN(3) > 0 {
			require.NoError(p.t, os.Rename(filepath.Join(p.at, name), filepath.Join(p.at, to)))
			delete(p.now, name)
			p.now[to] = f
		} else {
			require.NoError(p.t, os.Remove(filepath.Join(p.at, name)))
			delete(p.now, name)
		}
	case 9:
		if p.r.IntN(2) == 0 {
			syncDir(p.t, p.at)
			p.durable = maps.Clone(p.now)
		}
	}
	require.NoError(p.t, h.Close())
}

// check compares what a cut has left with what it must have left.
func (p *program) check(torn bool) {
	left := all(p.t, p.at)
	require.ElementsMatch(p.t, slices.Collect(maps.Keys(p.durable)), slices.Collect(maps.Keys(left)))
	for name, text := range left {
		f, got := p.durable[name], []byte(text)
		if !torn {
			require.True(p.t, bytes.Equal(f.durable, got), "%s: %d bytes of which not all are those that were synced", name, len(got))
		} else {
			require.Contains(p.t, []int{len(f.now), len(f.durable)}, len(got), name)
			for at := 0; at < len(got); at += powercut.Sector {
				s := sector(got, at)
				require.True(p.t, bytes.Equal(s, sector(f.durable, at)) || bytes.Equal(s, sector(f.now, at)) || bytes.Equal(s, sector(f.short, at)) ||
					at+powercut.Sector > min(len(f.now), len(f.durable)), "%s: the sector at %d is neither old nor new", name, at)
			}
		}
		p.now[name], p.durable[name] = f, f
		f.now, f.durable = got, bytes.Clone(got)
		f.short = f.durable
	}
	p.now = maps.Clone(p.durable)
}

// sector returns a sector of a file, with zeros after its end.
func sector(b []byte, at int) []byte {
	s := make([]byte, powercut.Sector)
	copy(s, b[min(at, len(b)):])
	return s
}

func TestAProgramFindsWhatItSynced(t *testing.T) { findsWhatItSynced(t, 40) }

func TestProofThatAProgramFindsWhatItSyncedAfter200Cuts(t *testing.T) {
	tier.Proof(t, "TestAProgramFindsWhatItSynced cuts forty times")
	findsWhatItSynced(t, 200)
}

func findsWhatItSynced(t *testing.T, cuts int) {
	t.Helper()
	at := mount(t)
	p := &program{t: t, r: rand.New(rand.NewPCG(7, 35)), at: at, now: map[string]*file{}, durable: map[string]*file{}}
	for cut := range cuts {
		for range 5 + p.r.IntN(40) {
			p.step()
		}
		torn := cut%2 == 1
		require.NoError(t, powercut.Cut(at, torn))
		p.check(torn)
	}
}

func TestACutIsRefusedWhereThereIsNoSuchFileSystem(t *testing.T) {
	require.ErrorIs(t, powercut.Cut(t.TempDir(), false), powercut.ErrMissing)
	require.ErrorIs(t, powercut.Sync(t.TempDir()), powercut.ErrMissing)
	require.NoError(t, powercut.Unmount(t.TempDir()))
}
