package fault

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFieldNamesAnInputAndLeavesTheMessage(t *testing.T) {
	cause := errors.New(`threads: "0" is not in 1..4096`)
	err := Hint(Code(Field("threads", cause), CodeInput), "use more")
	assert.Equal(t, "threads", FieldOf(err))
	assert.EqualError(t, err, cause.Error())
	assert.ErrorIs(t, err, cause)
	assert.Equal(t, "threads", FieldOf(Field("rate", err)), "the first name stays")
	assert.Equal(t, "threads", FieldOf(fmt.Errorf("preset small: %w", err)), "what is wrapped around keeps it")
	assert.NoError(t, Field("threads", nil))
	assert.Empty(t, FieldOf(Field("", cause)))
	assert.Empty(t, FieldOf(nil))
}

func TestPartsTakesJoinedErrorsApart(t *testing.T) {
	a, b, c := Field("threads", errors.New("a")), Hint(errors.New("b"), "do this"), Field("rate", errors.New("c"))
	err := Code(errors.Join(a, Code(errors.Join(b, c), CodeInput)), CodeInput)
	assert.Equal(t, []error{a, b, c}, Parts(err))
	assert.Empty(t, FieldOf(err), "several inputs are none")
	assert.Equal(t, "do this", HintOf(Parts(err)[1]))
	assert.Equal(t, []error{a}, Parts(a))
	assert.Empty(t, Parts(nil))

	var fields []string
	for _, p := range Parts(Field("target", errors.Join(a, b))) {
		fields = append(fields, FieldOf(p))
	}
	assert.Equal(t, []string{"threads", "target"}, fields, "what has no name of its own has that of the whole")

	wrapped := fmt.Errorf("preset: %w and %w", a, b)
	assert.Equal(t, []error{wrapped}, Parts(wrapped), "a sentence of two errors is one sentence")
}
