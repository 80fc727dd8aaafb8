package labtest_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

func TestFullLeavesATestToTheLargeTier(t *testing.T) {
	for tier, runs := range map[string]bool{"": false, "some": false, "all": true} {
		t.Setenv(labtest.TierEnv, tier)
		ran := false
		t.Run("tier "+tier, func(t *testing.T) {
			f, ended := &skipped{TB: t}, make(chan struct{})
			go func() {
				defer close(ended)
				labtest.Full(f, "another test")
				ran = true
			}()
			<-ended
			assert.Equal(t, runs, ran)
			if !runs {
				assert.Equal(t, labtest.LeftTo+"another test", f.said)
			}
		})
	}
}

// skipped notes how a test was skipped.
type skipped struct {
	testing.TB
	said string
}

func (s *skipped) Helper() {}

func (s *skipped) Skip(args ...any) {
	s.said = fmt.Sprint(args...)
	runtime.Goexit()
}
