package request_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
)

func TestTags(t *testing.T) {
	got, err := request.Tags([]string{"build=1.4=2", "who = me and you "})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"build": "1.4=2", "who": "me and you"}, got)
	got, err = request.Tags([]string{"build=1", "baseline"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"build": "1", "tag": "baseline"}, got, "a word alone")
	for _, texts := range [][]string{{"baseline knobs"}, {"baseline", "knobs"}, {" baseline  knobs"}} {
		got, err = request.Tags(texts)
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"tag": "baseline knobs"}, got, "%q", texts)
	}
	for text, want := range map[string]map[string]string{
		"outage, demo":        {"tag": "outage demo"},
		"base,slow":           {"tag": "base slow"},
		"tag=base,slow":       {"tag": "base slow"},
		"tag=a,b,build=7,c=d": {"tag": "a b", "build": "7", "c": "d"},
		"tag=1.4, x":          {"tag": "1.4, x"},
		"build=7, who=me,":    {"build": "7", "who": "me"},
		"outage,build=7":      {"tag": "outage", "build": "7"},
		"hosts=a,b":           {"hosts": "a,b"},
		"hosts=a, 1b=2":       {"hosts": "a, 1b=2"},
		"who=me and you, x=1": {"who": "me and you", "x": "1"},
	} {
		got, err = request.Tags([]string{text})
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, bad := range [][]string{{","}, {"outage, 1b"}, {"1.4"}, {"=1"}, {"1a=b"}, {"a b=c"}, {"a="}, {"a=b\nc"}, {"a=" + strings.Repeat("x", 201)}, {"a=b", "a=c"}, {"tag=1b", "c"}, {"c", "tag=1b"}, {""}, {"a 1b"}} {
		_, err := request.Tags(bad)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), "%q", bad)
		assert.ErrorContains(t, err, "tag: ")
	}
}
