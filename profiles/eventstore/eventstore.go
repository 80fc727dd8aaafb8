// Package eventstore is the profile of a test tool that writes every event of the
// systems under test: th2's event store. Generators make trees of events and send them
// in batches, directly or through a broker, to a store stage that validates, compresses
// and stores them. Every stage is measured, and every event is accounted for at the
// end.
//
//	generators ──Envelope──▶ Transport ──Delivery──▶ store stage ──record──▶ layer
//	 (workers)               direct, AMQP             composers, writers      Cassandra,
//	     ▲                        │                        │                  Redis, SQL
//	     └── mailbox ◀─ confirmed ┴──────── durable ───────┘
//
// Design works out a plan from values alone; a binding connects the plan to a store
// through an adapter, the application's data layer, and ties the parts of a run together:
// the clock, the generators with their quota and mailboxes, the way to the store, the
// drain, the queries, the series of samples, and the account of all events. The other
// parts are packages: wire has the encoding of events; generate makes them, transport
// carries them, and stage stores them through inmemory, onredis, onsql or oncassandra,
// which implement the adapter of model, and counts them by step; ledger accounts for them;
// report has the record of it and the documents that are made from that.
//
// A step is a segment of the run, and how long a stage took is measured by the platform,
// which keeps it by segment. What th2's page has besides is counted here, because the
// platform knows no bytes and no batches.
package eventstore

import (
	"embed"
	"io/fs"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// Name is the profile's name.
const Name = report.Profile

//go:embed presets/*.yaml
var presets embed.FS

// Profile returns the profile's description.
func Profile() workload.Profile {
	fsys, _ := fs.Sub(presets, "presets") // cannot fail: the name is valid
	return workload.Profile{
		Name:          Name,
		Title:         "Event storage",
		Summary:       "A test tool that writes every event of the systems under test.",
		Unit:          "events",
		Reads:         "th2 woodpecker and estore YAML; YAML of names and values",
		Writes:        "th2's performance report as Markdown, with charts",
		Thread:        "a generator",
		Formats:       []string{report.FormatID},
		Presets:       fsys,
		DefaultPreset: "quick",
		Params:        params(),
		Lacks:         workload.NoUsers(Name, "because what publishes events of machines does not wait for anybody to think"),
		Stores:        bindings(),
		Read:          read,
		Design:        Design,
	}
}
