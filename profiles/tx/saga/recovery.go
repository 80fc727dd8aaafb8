package saga

import (
	"slices"

	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// recovery counts unfinished sagas that were taken up again.
type recovery struct {
	Found     int64    `json:"found"`
	Done      int64    `json:"done"`
	Undone    int64    `json:"undone"`
	Undecided int64    `json:"undecided"`
	Seconds   float64  `json:"seconds"`
	Gids      []string `json:"examples,omitempty"`
}

// add counts a saga that was taken up.
func (r *recovery) add(s *model.Saga) {
	r.Found++
	switch {
	case s != nil && s.Status == model.Succeed:
		r.Done++
	case s != nil && s.Status == model.Failed:
		r.Undone++
	default:
		r.Undecided++
	}
	if s != nil && len(r.Gids) < maxExamples {
		r.Gids = append(r.Gids, s.Gid+" "+s.Status)
	}
}

const maxExamples = 10

func (r *recovery) join(o *recovery) {
	r.Found += o.Found
	r.Done += o.Done
	r.Undone += o.Undone
	r.Undecided += o.Undecided
	r.Seconds += o.Seconds
	r.Gids = append(slices.Clone(r.Gids), o.Gids...)
	r.Gids = r.Gids[:min(len(r.Gids), maxExamples)]
}
