package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// files is a whole store: each entry is a file in one folder.
var files = store.Driver{
	Name: "files", Title: "Files", Schemes: []string{"files"}, Example: "files:data",
	Open: store.Opens(func(_ context.Context, t store.Target, _ store.OpenOptions) (folder, error) {
		root, err := os.OpenRoot(t.Path)
		if err != nil {
			return folder{}, fault.Store(fmt.Errorf("files: %w", err), "name a folder that is there")
		}
		return folder{root}, nil
	}),
}

// folder is an open connection. Any goroutine may call it.
type folder struct{ root *os.Root }

// Info tells who the store is, and what makes its figures incomparable.
func (f folder) Info(context.Context) (store.Info, error) {
	return store.Info{Name: "files", Topology: "in process", Warnings: []string{"no write waits for the disk"}}, nil
}

// Classify puts an error in its class, which reports count by.
func (f folder) Classify(err error) store.Class {
	switch {
	case err == nil:
		return store.Worked
	case errors.Is(err, context.Canceled):
		return store.Canceled
	case errors.Is(err, fs.ErrPermission):
		return store.Refused
	case errors.Is(err, fs.ErrClosed):
		return store.Unreachable
	}
	return store.Other
}

// Close lets go of the folder.
func (f folder) Close() error { return f.root.Close() }

// Set makes it a store.Setter.
func (f folder) Set(_ context.Context, s store.Space, key, val []byte) error {
	return f.root.WriteFile(name(s, key), val, 0o600)
}

// Get makes it a store.Getter.
func (f folder) Get(_ context.Context, s store.Space, key, buf []byte) ([]byte, bool, error) {
	val, err := f.root.ReadFile(name(s, key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return append(buf[:0], val...), err == nil, err
}

// name is the file of an entry, whatever bytes its key has.
func name(s store.Space, key []byte) string {
	return fmt.Sprintf("%x.%x.%x", s.Namespace, s.Name, key)
}

// The example of docs/internals.md keeps what it was given, and offers nothing that it has not.
func TestTheExampleStoreKeeps(t *testing.T) {
	ctx, s := t.Context(), store.Space{Namespace: "ns", Name: "a", Shape: store.Map}
	dir := t.TempDir()
	c, err := files.Open(ctx, store.Target{Scheme: "files", Path: dir}, store.OpenOptions{})
	require.NoError(t, err)
	db, err := store.As[interface {
		store.Setter
		store.Getter
	}](c)
	require.NoError(t, err)
	require.NoError(t, db.Set(ctx, s, []byte("../k"), []byte("v")))
	val, ok, err := db.Get(ctx, s, []byte("../k"), nil)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, "v", string(val))
	_, ok, err = db.Get(ctx, s, []byte("none"), nil)
	require.NoError(t, err)
	assert.False(t, ok)
	_, err = store.As[store.BatchPutter](c)
	require.ErrorIs(t, err, store.ErrUnsupported)
	require.NoError(t, c.Close())
	assert.Equal(t, store.Unreachable, c.Classify(db.Set(ctx, s, []byte("k"), nil)))

	_, err = files.Open(ctx, store.Target{Scheme: "files", Path: filepath.Join(dir, "none")}, store.OpenOptions{})
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
}
