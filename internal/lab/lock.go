package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

var errLocked = errors.New("held by another process")

// Lock gives the caller exclusive access to the named service below dir, among all
// processes of the machine, until the returned function is called. It waits for another
// holder as long as ctx allows. The file is never deleted, because that would allow two
// holders.
func Lock(ctx context.Context, dir, name string, progress func(string)) (func(), error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	path := filepath.Join(dir, name+".lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for told := false; ; {
		err := tryLock(f)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing releases it
		}
		if !errors.Is(err, errLocked) {
			_ = f.Close() // the first error is the one that matters
			return nil, fmt.Errorf("lab: lock %s: %w", path, err)
		}
		if !told && progress != nil {
			progress("waiting for another perfbench that starts or stops " + name)
		}
		told = true
		select {
		case <-ctx.Done():
			_ = f.Close() // as above
			return nil, fmt.Errorf("lab: wait for %s: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
