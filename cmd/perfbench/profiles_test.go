package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/profiles"
)

func TestProfiles(t *testing.T) {
	for _, p := range profiles.All() {
		t.Run(p.Name, func(t *testing.T) { profiletest.Run(t, p) })
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range profiles.All() {
		assert.False(t, seen[p.Name], p.Name)
		seen[p.Name] = true
	}
}

func TestEveryDocumentHasAFormat(t *testing.T) {
	ids := map[string]bool{}
	for _, f := range cli.Formats() {
		assert.False(t, ids[f.Profile+" "+f.ID], "%s of %s", f.ID, f.Profile)
		ids[f.Profile+" "+f.ID] = true
		assert.NotEmpty(t, f.Doc)
		assert.NotNil(t, f.Encode)
		assert.NotEmpty(t, f.Names, f.ID)
	}
	for _, p := range profiles.All() {
		for _, id := range p.Formats {
			assert.True(t, ids[p.Name+" "+id], "%s writes %s", p.Name, id)
		}
	}
}
