package tier_test

import (
	"flag"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/tier"
)

func TestATestIsLeftToItsTier(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(testing.TB, string)
		why   string
		runs  map[string]bool
	}{
		"full":  {tier.Full, tier.LeftTo, map[string]bool{"": false, "some": false, "all": true, "proofs": true}},
		"proof": {tier.Proof, tier.LeftToProofs, map[string]bool{"": false, "some": false, "all": false, "proofs": true}},
	} {
		for wanted, runs := range c.runs {
			t.Setenv(tier.Env, wanted)
			f := &left{TB: t, name: "TestProofOfIt"}
			assert.Equal(t, runs, f.goesOn(c.leave), "%s in tier %q", name, wanted)
			if !runs {
				assert.Equal(t, c.why+"another test", f.said)
			}
		}
	}
	run := flag.Lookup("test.run")
	asked := run.Value.String()
	t.Cleanup(func() { _ = run.Value.Set(asked) })
	for _, c := range []struct {
		wanted, run string
		runs        bool
	}{{"", "", false}, {"", "TestIt", true}, {"some", "", true}, {"all", "", true}, {"proofs", "", true}} {
		t.Setenv(tier.Env, c.wanted)
		assert.NoError(t, run.Value.Set(c.run))
		f := &left{TB: t, name: "TestIt"}
		assert.Equal(t, c.runs, f.goesOn(tier.Slow), "%+v", c)
		if !c.runs {
			assert.Equal(t, tier.LeftToTest+"another test", f.said)
		}
	}
	t.Setenv(tier.Env, "proofs")
	f := &left{TB: t, name: "TestIt"}
	assert.False(t, f.goesOn(tier.Proof))
	assert.Equal(t, "make proofs would not find TestIt: its name should begin with TestProof", f.said)
}

// left is a test that notes why it ended.
type left struct {
	testing.TB
	name, said string
}

// goesOn reports whether the test goes on after it was left to a tier.
func (l *left) goesOn(leave func(testing.TB, string)) (ran bool) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		leave(l, "another test")
		ran = true
	}()
	<-ended
	return ran
}

func (l *left) Helper() {}

func (l *left) Name() string { return l.name }

func (l *left) Skip(args ...any) {
	l.said = fmt.Sprint(args...)
	runtime.Goexit()
}

func (l *left) Fatalf(format string, args ...any) {
	l.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
