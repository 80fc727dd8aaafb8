package widget

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every question has the same keys: y is a yes, and enter, esc and n are a no.
func TestAQuestionIsAnsweredByTheSameKeysEverywhere(t *testing.T) {
	q := Question{Text: "Go?", Yes: "go", No: "stay"}
	assert.Equal(t, "Go? [y/N]", q.String())
	for name, want := range map[string]bool{"y": true, "Y": true, "n": false, "N": false, "esc": false, "enter": false} {
		yes, given := q.Answer(PressOf(name))
		assert.True(t, given, name)
		assert.Equal(t, want, yes, name)
	}
	_, given := q.Answer(PressOf("q"))
	assert.False(t, given)
	q.Key = "q"
	yes, given := q.Answer(PressOf("q"))
	assert.True(t, yes && given, "the key that asked")
	for _, b := range q.Keys() {
		yes, given := q.Answer(PressOf(b.Help().Key))
		assert.True(t, given, "a hint names a key that answers")
		assert.Equal(t, map[bool]string{true: "go", false: "stay"}[yes], b.Help().Desc)
	}
}
