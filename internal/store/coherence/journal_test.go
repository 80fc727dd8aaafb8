package coherence

import (
	"bytes"
	"log"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What the client logs does not get to the terminal; what others log does.
func TestJournal(t *testing.T) {
	var out bytes.Buffer
	j := &journal{next: &out, greeted: map[string]string{}, waiting: map[string]chan struct{}{"a": make(chan struct{})}}
	said := j.waiting["a"]
	l := log.New(j, "", log.LstdFlags)
	l.Println("INFO  Session [a] connected to [h:1] Coherence version: 25.03, more")
	assert.Contains(t, j.greeted["a"], "25.03")
	l.Println("WARNING event stream recv failed: EOF")
	l.Println("another program's line")
	assert.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")))
	assert.Contains(t, out.String(), "another program's line")
	l.Println("INFO Session [a] closed")
	select {
	case <-said:
	default:
		t.Error("who waits for the last word is told")
	}
	assert.Empty(t, j.greeted)
}
