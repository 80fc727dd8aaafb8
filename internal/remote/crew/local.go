package crew

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// Change is what somebody beside the one who began a run changes of it.
type Change struct {
	// By names who does, for the log of changes.
	By string
	// Track is its index, or workload.AllTracks; From and To are its settings, or the totals,
	// as they were seen and as they are to be. Only what differs is changed.
	Track    int
	From, To workload.Settings
	// Mark is a note to be kept with the moment of the run MarkAt, nil: the present one; empty: none.
	Mark   string
	MarkAt *time.Duration
}

// question is what is asked of a run: how it is, or a change.
type question struct{ Change *Change }

// reply says how the run is, or why it was not changed.
type reply struct {
	View    []byte
	Refused string
}

// longestQuestion bounds what is read of a question, in bytes; patienceHere is how long both
// sides wait for each other; mostAtOnce is how many questions are answered at a time, so that
// those who ask cannot take the run's files; the next connection is awaited after noFile when
// the system gives none.
const (
	longestQuestion = 64 << 10
	patienceHere    = 2 * time.Second
	mostAtOnce      = 16
	noFile          = 200 * time.Millisecond
)

// Local lets the user who began a run watch and change it from other processes of this
// machine, through a socket in the run's folder that only its owner may open.
type Local struct {
	listener net.Listener
	path     string
	patience time.Duration
	display  display
	do       func(Change) error
	turning  sync.Mutex // one change after the other: each is held against what the last left
	places   chan struct{}
	open     context.Context // until Close
	shut     context.CancelFunc
	all      sync.WaitGroup
}

// Listen opens the socket of a run whose folder is dir. show says how the run is, do changes it; any
// goroutine may call them. Close must follow.
func Listen(dir string, show func() *View, do func(Change) error) (*Local, error) {
	l, err := bind(dir)
	if err != nil {
		return nil, err
	}
	return serve(l, filepath.Join(dir, rundir.SocketFile), patienceHere, show, do), nil
}

// bind makes the socket in a folder that only its owner may enter, and moves it to its place once
// nobody else may open it. One that a killed process left there is replaced.
func bind(dir string) (*net.UnixListener, error) {
	private, err := os.MkdirTemp(dir, ".sock")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(private) }()
	var l *net.UnixListener
	if err := reach(private, func(short string) (err error) {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	}); err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // as it knows the file by another path
	made := filepath.Join(private, rundir.SocketFile)
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, filepath.Join(dir, rundir.SocketFile))); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// serve answers who connects to l, each for as long as patience at most.
func serve(l net.Listener, path string, patience time.Duration, show func() *View, do func(Change) error) *Local {
	s := &Local{listener: l, path: path, patience: patience, do: do, places: make(chan struct{}, mostAtOnce)}
	s.open, s.shut = context.WithCancel(context.Background())
	s.display.set(show)
	s.all.Go(fault.Guarded(s.accept))
	return s
}

// longestPath is how many bytes the path of a socket may have on every system (104 on macOS
// and the BSDs, 108 on Linux and Windows, with a zero at the end).
const longestPath = 103

// reach calls do with a path of the socket in a folder that is short enough for the system:
// its own, or one by a link that is gone afterwards.
func reach(dir string, do func(path string) error) error {
	path := filepath.Join(dir, rundir.SocketFile)
	if len(path) > longestPath {
		folder, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		by, err := os.MkdirTemp(linksIn(), "pb")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(by) }()
		link := filepath.Join(by, "r")
		if err := os.Symlink(folder, link); err != nil {
			return err
		}
		path = filepath.Join(link, rundir.SocketFile)
	}
	return do(path)
}

// linksIn is the folder for short links: that of temporary files unless its own path is too long.
func linksIn() string {
	const link = "/pb4294967295/r/" + rundir.SocketFile
	if dir := os.TempDir(); runtime.GOOS == "windows" || len(dir)+len(link) <= longestPath {
		return dir
	}
	return "/tmp"
}

// dial opens a connection to the socket of a run.
func dial(ctx context.Context, dir string) (c net.Conn, err error) {
	err = reach(dir, func(short string) (err error) {
		c, err = (&net.Dialer{Timeout: patienceHere}).DialContext(ctx, "unix", short)
		return err
	})
	return c, err
}

// accept answers until the socket is closed.
func (s *Local) accept() {
	for s.open.Err() == nil {
		c, err := s.listener.Accept()
		if err != nil { // closed, or this process has as many files as it may
			select {
			case <-s.open.Done():
			case <-time.After(noFile):
			}
			continue
		}
		select {
		case s.places <- struct{}{}:
			s.all.Go(fault.Guarded(func() { s.answer(c) }))
		case <-s.open.Done():
			_ = c.Close()
		}
	}
}

// answer answers one question. Who is slow to ask or to listen keeps no run from ending.
func (s *Local) answer(c net.Conn) {
	defer func() { <-s.places }()
	hangUp := context.AfterFunc(s.open, func() { _ = c.Close() })
	defer func() {
		if hangUp() {
			_ = c.Close()
		}
	}()
	_ = c.SetDeadline(time.Now().Add(s.patience))
	var q question
	if err := gob.NewDecoder(io.LimitReader(c, longestQuestion)).Decode(&q); err != nil {
		return
	}
	var a reply
	if q.Change == nil {
		a.View = s.display.show()
	} else {
		q.Change.Mark = infile.Clean(q.Change.Mark)
		s.turning.Lock()
		err := s.do(*q.Change)
		s.turning.Unlock()
		if err != nil {
			a.Refused = err.Error()
		}
	}
	_ = gob.NewEncoder(c).Encode(&a) // whoever asked may have gone
}

// Close closes the socket and removes it. A nil Local has none.
func (s *Local) Close() {
	if s == nil {
		return
	}
	s.shut()
	_ = s.listener.Close()
	_ = os.Remove(s.path)
	s.all.Wait()
}

// LocalWatcher watches a run through the socket in its folder. Any goroutine may use it.
type LocalWatcher struct {
	dir string

	mu   sync.Mutex
	seen *View // the last answer
}

// Reach says why the run of a folder cannot be watched through it; nil: it can. Errors are of input.
func Reach(dir string) error {
	c, err := dial(context.Background(), dir)
	if err == nil {
		return c.Close()
	}
	return unreached(dir, err, rundir.Alive(dir))
}

// unreached says what an error means that came of connecting to the run of a folder.
func unreached(dir string, err error, alive bool) error {
	path := filepath.Join(dir, rundir.SocketFile)
	refuse := func(why, hint string) error {
		return fault.Input(fmt.Errorf("the run in %s cannot be watched: %s", dir, why), hint)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return refuse("only the user who began it may open "+path, "watch it as that user")
	case errors.Is(err, fs.ErrNotExist) && !alive:
		return refuse("it has ended, or does not measure yet", "runs are watched while they go; perfbench report shows one that has ended, and h in perfbench tui all")
	case errors.Is(err, fs.ErrNotExist):
		return refuse("it goes on, and has no "+path+": it does not measure yet, or its folder is on a file system without sockets", "try again when it measures, or keep runs on a local disk with --out")
	case !alive: // a socket that nobody answers at is what a killed process left
		return refuse("its process was killed", "perfbench report shows what it came to")
	}
	return refuse(err.Error(), "")
}

// WatchLocal watches the run of a folder.
func WatchLocal(dir string) *LocalWatcher { return &LocalWatcher{dir: dir} }

// ask asks one question.
func (w *LocalWatcher) ask(ctx context.Context, q question) (a reply, err error) {
	c, err := dial(ctx, w.dir)
	if err != nil {
		return a, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(patienceHere))
	if err := gob.NewEncoder(c).Encode(&q); err != nil {
		return a, err
	}
	if err := gob.NewDecoder(io.LimitReader(c, most)).Decode(&a); err != nil {
		return a, fmt.Errorf("ask the run in %s: %w", w.dir, err)
	}
	return a, nil
}

// Ask asks how the run is; once it has ended, its folder says what came of it.
func (w *LocalWatcher) Ask(ctx context.Context) ([]byte, error) {
	a, err := w.ask(ctx, question{})
	if err != nil {
		return w.ended(err)
	}
	v, err := ReadView(a.View)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = v
	return a.View, nil
}

// ended is the last view of a run that has no socket any more; the error is why, if it goes on.
func (w *LocalWatcher) ended(why error) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil || rundir.Alive(w.dir) {
		return nil, why
	}
	f, err := rundir.Load(w.dir)
	if err != nil {
		return nil, err
	}
	last := *w.seen
	last.Progress = Progress{Stage: Ended}
	last.Came = &Came{Dir: w.dir}
	if f.Run.EndedBy == "interrupt" {
		last.Came.Err, last.Came.Code = "interrupted", 130
	}
	last.Came.Run, _ = json.Marshal(f.Run) // as in its file
	return last.Pack(), nil
}

// Change changes the run. An error says why it was not.
func (w *LocalWatcher) Change(ctx context.Context, c Change) error {
	a, err := w.ask(ctx, question{Change: &c})
	if err == nil && a.Refused != "" {
		return fault.Code(errors.New(infile.Clean(a.Refused)), fault.CodeInput)
	}
	return err
}

// Last brings nothing: Ask says when the run has ended.
func (*LocalWatcher) Last() <-chan []byte { return nil }

// Close ends the watch. The run goes on.
func (*LocalWatcher) Close() {}

// Watcher watches a run, of this machine or of another.
type Watcher interface {
	// Ask asks how the run is, as View.Pack tells it.
	Ask(ctx context.Context) ([]byte, error)
	// Last brings what came of the run, once, when it has ended; nil: Ask says it.
	Last() <-chan []byte
	// Close ends the watch. The run goes on.
	Close()
}

var (
	_ Watcher = (*LocalWatcher)(nil)
	_ Watcher = (*remote.Watcher)(nil)
)
