package main

import (
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles"
)

// allProfiles lists the profiles of this version.
func allProfiles() []workload.Profile { return profiles.All() }

// allFormats lists the formats of this version: those of every profile, then the
// documents of single ones.
func allFormats() []rundir.Format { return report.All(profiles.Formats()...) }
