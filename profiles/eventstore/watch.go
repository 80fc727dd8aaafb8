package eventstore

import "context"

// watch begins to watch processes of this machine; it ends with the run.
func (b *binding) watch(context.Context) {}

// addWatched adds what was watched so far.
func (b *binding) addWatched(*Facts) {}
