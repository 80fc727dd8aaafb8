package powercut

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

// blockSize is how much of a file is kept in memory together.
const blockSize = 4096

// content is what a file contains: what is durable in a file of the real folder, and the changes
// since in memory.
type content struct {
	path string
	file *os.File // open since the first use
	// size and durable are how long it is now and after a cut; below valid, what is not in dirty is
	// in the file.
	size, durable, valid int64
	dirty                map[int64][]byte // whole blocks, by number
}

func (c *content) open() error {
	if c.file != nil {
		return nil
	}
	f, err := os.OpenFile(c.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	c.file = f
	return nil
}

// block fills b, at most a block, from the offset at within block n.
func (c *content) block(b []byte, n, at int64) error {
	if d, ok := c.dirty[n]; ok {
		copy(b, d[at:])
		return nil
	}
	clear(b)
	from := n*blockSize + at
	if c.valid <= from {
		return nil
	}
	if err := c.open(); err != nil {
		return err
	}
	if _, err := c.file.ReadAt(b[:min(int64(len(b)), c.valid-from)], from); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// read fills b from an offset and returns how much there is.
func (c *content) read(b []byte, off int64) (int, error) {
	if off >= c.size {
		return 0, nil
	}
	b = b[:min(int64(len(b)), c.size-off)]
	for done := 0; done < len(b); {
		at := off + int64(done)
		n, in := at/blockSize, at%blockSize
		part := b[done:min(len(b), done+int(blockSize-in))]
		if err := c.block(part, n, in); err != nil {
			return done, err
		}
		done += len(part)
	}
	return len(b), nil
}

// write keeps b in memory.
func (c *content) write(b []byte, off int64) error {
	for done := 0; done < len(b); {
		at := off + int64(done)
		n, in := at/blockSize, at%blockSize
		d, ok := c.dirty[n]
		if !ok {
			d = make([]byte, blockSize)
			if err := c.block(d, n, 0); err != nil {
				return err
			}
			if c.dirty == nil {
				c.dirty = map[int64][]byte{}
			}
			c.dirty[n] = d
		}
		done += copy(d[in:], b[done:])
	}
	c.size = max(c.size, off+int64(len(b)))
	return nil
}

// truncate changes the size, in memory.
func (c *content) truncate(size int64) {
	if size < c.size {
		for n, d := range c.dirty {
			switch from := n * blockSize; {
			case from >= size:
				delete(c.dirty, n)
			case from+blockSize > size:
				clear(d[size-from:])
			}
		}
		c.valid = min(c.valid, size)
	}
	c.size = size
}

// sync writes what is in memory to the file and returns the file if it has changed.
func (c *content) sync() (*os.File, error) {
	if len(c.dirty) == 0 && c.size == c.durable && c.valid == c.durable {
		return nil, nil
	}
	if err := c.open(); err != nil {
		return nil, err
	}
	if c.valid < c.durable { // what was cut off is not to come back
		if err := c.file.Truncate(c.valid); err != nil {
			return nil, err
		}
	}
	for n, d := range c.dirty {
		if err := c.put(d, n*blockSize, c.size); err != nil {
			return nil, err
		}
	}
	return c.file, c.settle(c.size)
}

// put writes b at an offset of the file, but nothing beyond a limit.
func (c *content) put(b []byte, off, limit int64) error {
	if off >= limit {
		return nil
	}
	_, err := c.file.WriteAt(b[:min(int64(len(b)), limit-off)], off)
	return err
}

// settle gives the file its size: it is all that there is.
func (c *content) settle(size int64) error {
	if err := c.file.Truncate(size); err != nil {
		return err
	}
	c.size, c.durable, c.valid = size, size, size
	clear(c.dirty)
	return nil
}

// cut drops what is not durable. If it is torn by r, each sector is durable or is not, and so is
// the size.
func (c *content) cut(r *rand.Rand) error {
	if r == nil || len(c.dirty) == 0 && c.size == c.durable && c.valid == c.durable {
		c.size, c.valid = c.durable, c.durable
		clear(c.dirty)
		return nil
	}
	if err := c.open(); err != nil {
		return err
	}
	size := c.durable
	if r.IntN(2) == 0 {
		if size = c.size; c.valid < c.durable {
			if err := c.file.Truncate(c.valid); err != nil {
				return err
			}
		}
	}
	for n, d := range c.dirty {
		for at := 0; at < blockSize; at += Sector {
			if r.IntN(2) == 0 {
				continue
			}
			if err := c.put(d[at:at+Sector], n*blockSize+int64(at), size); err != nil {
				return err
			}
		}
	}
	return c.settle(size)
}

// remove deletes the file.
func (c *content) remove() {
	if c.file != nil {
		_ = c.file.Close() // nobody will read it
	}
	_ = os.Remove(c.path) // it may never have been written
}

func contentPath(folder string, ino uint64) string { return fmt.Sprintf("%s/%d", folder, ino) }
