package widget

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSecretsInTargets(t *testing.T) {
	for _, c := range []struct{ target, clean, password, masked string }{
		{"embedded:", "embedded:", "", "embedded:"},
		{"redis://h:6379", "redis://h:6379", "", "redis://h:6379"},
		{"redis://me:pw@h:6379/0", "redis://me@h:6379/0", "pw", "redis://me:••@h:6379/0"},
		{"redis://:p@ss:w/rd@h", "redis://h", "p@ss:w/rd", "redis://:•••••••••@h"},
		{"redis://me:p%40ss@h", "redis://me@h", "p@ss", "redis://me:••••••@h"},
		{"redis://me:***@h", "redis://me@h", "", "redis://me:•••@h"},
		{"redis://me:hal", "redis://me:hal", "", "redis://me:•••"},
		{"redis+sentinel://h/m?sentinel_password=abc&db=1", "redis+sentinel://h/m?sentinel_password=abc&db=1", "", "redis+sentinel://h/m?sentinel_password=•••&db=1"},
		{"sqlite:/tmp/a@b:c", "sqlite:/tmp/a@b:c", "", "sqlite:/tmp/a@b:c"},
	} {
		t.Run(c.target, func(t *testing.T) {
			clean, password := SplitSecret(c.target)
			assert.Equal(t, c.clean, clean)
			assert.Equal(t, c.password, password)
			assert.Equal(t, c.masked, MaskTyped(c.target))
			assert.Len(t, []rune(MaskTyped(c.target)), len([]rune(c.target)), "the cursor stays where it is")
		})
	}
	assert.NotContains(t, HideSecrets("redis+sentinel://h/m?sentinel_password=abc&db=1"), "abc")
}

func TestTheTargetIsShownWithoutItsPassword(t *testing.T) {
	for in, want := range map[string]string{
		"redis://me:secret@127.0.0.1:6379/0": "redis://me@127.0.0.1:6379/0",
		"redis://:p@ss@host":                 "redis://host",
		"embedded:":                          "embedded:",
		"mysql://host/db?a=b@c":              "mysql://host/db?a=b@c",
	} {
		assert.Equal(t, want, HideSecrets(in))
	}
}
