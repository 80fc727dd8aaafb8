package authz

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// A knob is there where what is written carries what it turns, and is aimed at nothing
// else.
func TestWhereThereIsAPayload(t *testing.T) {
	type turned map[string][]string // tracks by knob
	for _, c := range []struct {
		set  []string
		want turned
	}{
		{nil, turned{"payload": {"load-0-0"}}},
		{[]string{"variant=v2"}, turned{}},
		{[]string{"load=never"}, turned{}},
		{[]string{"tests=valid,mix"}, turned{"payload": {"load-0-0"}}},
		{[]string{"tests=valid,mix", "mix=check=9,update=1"}, turned{"payload": {"load-0-0", "mix-0-0"}}},
		{[]string{"tests=mix", "mix=check=9,update=1", "load=never"}, turned{"payload": {"mix-0-0"}}},
		{[]string{"mode=user-profile"}, turned{"payload": {"load-0-0"}, "principal": {"users-0-0"}}},
		{[]string{"mode=user-profile", "load=never"}, turned{}},
		{[]string{"mode=user-profile", "load=never", "updateRate=0.5"}, turned{"payload": {"profile-0-0"}}},
	} {
		p, _ := design(t, c.set...)
		got := turned{}
		for _, k := range p.Knobs[2:] {
			for _, tr := range p.Tracks() {
				if tr.Turns(k) {
					got[k.Name] = append(got[k.Name], tr.Name)
				}
			}
		}
		assert.Equal(t, c.want, got, "%v", c.set)
	}
}

func TestSizesAtTheStart(t *testing.T) {
	plain, _ := design(t)
	p, _ := design(t, "payload=1KiB", "runs=2", "load-1-0.payload=2KiB")
	sizes := map[string]int{}
	for _, tr := range p.Tracks() {
		sizes[tr.Name] = tr.Start.Payload
	}
	assert.Equal(t, map[string]int{"load-0-0": 1024, "valid-0-0": 0, "sweep-0-0": 0, "load-1-0": 2048, "valid-1-0": 0, "sweep-1-0": 0}, sizes)
	assert.Greater(t, p.Bytes, 2*plain.Bytes+60*1024)
	assert.Contains(t, p.Writes[0], "each principal with 1 KiB beside")
	p, _ = design(t, "mode=user-profile", "payload=4KiB", "principal=512")
	assert.InDelta(t, 512, p.Tracks()[0].Start.Extra[extraPrincipal], 0)
	assert.Contains(t, p.Writes[0], "each principal with 512 B beside, each section with 4 KiB beside")

	for set, want := range map[string]string{"payload=much": "payload: ", "payload=9MiB": "payload: ", "mix=check=1,update=1": "variant=v2 has none"} {
		in := workload.Inputs{Values: given(t, set, "variant=v2", "tests=mix"), Seed: 1}
		if set[:3] != "mix" {
			in.Values = given(t, set, "runs=3")
		}
		_, err := Design(in)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\n", "it is said once")
	}
}

// What a section carries stands at its end, and can be taken out whatever it is.
func TestSectionsThatCarrySomething(t *testing.T) {
	b := &bound{}
	b.carried.sections.Note(100)
	text := filled("u:t:a", 1, 100)
	for _, data := range []string{`{"a":1}`, `{}`, `{ }`, `{"filling":"of the file itself"}`} {
		got := grow(data, text)
		var decoded map[string]any
		require.NoError(t, json.Unmarshal([]byte(got), &decoded), got)
		assert.Equal(t, text, decoded["filling"])
		assert.Equal(t, data, b.plain("u:t:a", 0, got, data))
		assert.Equal(t, data, b.plain("u:t:a", 0, data, data))
	}
	assert.Equal(t, `{"filling":"x"}`, grow("null", "x"), "a folder may have no section")
	c, any := b.carried.check()
	assert.True(t, any)
	assert.True(t, c.OK, "%+v", c)
	assert.NotEqual(t, `{"a":1}`, b.plain("u:t:a", 0, grow(`{"a":2}`, text), `{"a":1}`), "another section")
	for _, text := range []string{filled("u:t:b", 1, 100), filled("u:t:a", 2, 100), filled("u:t:a", 1, 101), text[:99]} {
		assert.Equal(t, `{"a":1}`, b.plain("u:t:a", 0, grow(`{"a":1}`, text), `{"a":1}`))
	}
	c, _ = b.carried.check()
	assert.False(t, c.OK)
	assert.Len(t, c.Examples, 4)
}
