package authz

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestMemoryOfDecisions(t *testing.T) {
	assert.Nil(t, NewMemory(0))
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(time.Second)
		q := question{"u", "r", "member"}
		_, known := m.find(q)
		assert.False(t, known)
		m.keep(q, false)
		time.Sleep(900 * time.Millisecond)
		ok, known := m.find(q)
		assert.True(t, known)
		assert.False(t, ok)
		time.Sleep(200 * time.Millisecond)
		_, known = m.find(q)
		assert.False(t, known)
		for i := range memoryLimit + 5 {
			m.keep(question{principal: string(rune(i))}, true)
		}
		assert.LessOrEqual(t, len(m.kept), memoryLimit)
	})
}
