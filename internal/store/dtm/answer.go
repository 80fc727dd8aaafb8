package dtm

import "context"

// Answer asks for the version.
func (c *Conn) Answer(ctx context.Context) error {
	_, err := c.Info(ctx)
	return err
}
