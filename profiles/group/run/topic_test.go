package run

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A receiver does not leave while it has messages that it has not recorded.
func TestAReceiverTakesOutWhatHasCome(t *testing.T) {
	topic := &topicRun{epoch: time.Now()}
	x := &inbox{t: topic, in: make(chan message, 4)}
	x.until.Store(2)
	x.ready.Store(true)
	topic.boxes = []*inbox{x}
	topic.sent.Store(2)
	k := &receiverTask{t: topic, x: x, last: time.Now()}
	assert.False(t, k.idle(), "two are owed")
	x.Put([]byte("one"))
	x.Put([]byte("two"))
	assert.EqualValues(t, 2, topic.delivered.Load())
	assert.False(t, k.idle(), "all have come and none was recorded")
	<-x.in
	<-x.in
	assert.True(t, k.idle())
}
