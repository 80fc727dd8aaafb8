package eventstore

import (
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/redis"
)

func newCradle(*spec, cassandra.Typed) layer { return newHeld(false) }
func newLean(*spec, cassandra.Typed) layer   { return newHeld(false) }
func newStreams(*spec, redis.Typed) layer    { return newHeld(false) }
