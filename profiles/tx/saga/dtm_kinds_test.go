package saga

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/ondtm"
	"github.com/perfbench/perfbench/profiles/tx/saga/onmemory"
)

// phase answers a request about what is prepared.
func (s *standIn) phase(req *http.Request, reply func(int, any)) {
	body, _ := io.ReadAll(req.Body)
	var sub ondtm.Submission
	if strings.HasSuffix(req.URL.Path, "registerBranch") {
		if err := s.Branch(req.Context(), body); err != nil {
			reply(409, err.Error())
		}
		return
	}
	if err := json.Unmarshal(body, &sub); err != nil {
		reply(400, err.Error())
		return
	}
	if strings.HasSuffix(req.URL.Path, "abort") {
		to := model.Aborting
		if sub.TransType == model.TransMsg {
			to = model.Failed
		}
		s.decided(req, sub.Gid, to, reply)
		return
	}
	g, k := &model.Saga{}, model.KindOf(sub.TransType)
	steps := len(sub.Steps)
	if k == model.KindMsg {
		steps++
	}
	g.Reset(sub.Gid, 0, steps, time.Now())
	g.As(k)
	g.Timeout = time.Duration(sub.Timeout) * time.Second
	s.prepared.Store(sub.Gid, sub)
	s.payloads.Store(sub.Gid, sub.Payloads)
	if err := s.Save(req.Context(), g); err != nil {
		reply(409, err.Error())
		return
	}
	go s.expire(g.Gid, g.Timeout)
}

// Branch registers a branch.
func (s *standIn) Branch(ctx context.Context, body []byte) error {
	var b map[string]string
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	g, err := s.Load(ctx, 0, b["gid"])
	if err != nil {
		return err
	}
	step := len(g.Rows) / 2
	g.Steps = append(g.Steps[:step], model.Transfer{})
	g.Register(step, time.Now())
	was, _ := s.prepared.Load(g.Gid)
	sub := was.(ondtm.Submission)
	sub.Steps, sub.Payloads = append(sub.Steps, b), append(sub.Payloads, b["data"])
	s.prepared.Store(g.Gid, sub)
	s.payloads.Store(g.Gid, sub.Payloads)
	return s.Register(ctx, g, step)
}

// expire decides what nobody has submitted when its time is over, and not before all who
// may still submit it have ended, however slow they are.
func (s *standIn) expire(gid string, after time.Duration) {
	select {
	case <-s.worked:
	case <-s.gone:
		return
	}
	for wait := after; ; wait = 5 * time.Millisecond {
		select {
		case <-time.After(wait):
		case <-s.gone:
			return
		}
		c := s.Of(gid)
		c.Over = true
		if _, err := c.Resume(context.Background(), 0, gid); err == nil {
			return
		}
	}
}

// Of is a coordinator that calls the participants of what was prepared.
func (s *standIn) Of(gid string) *coordinator.Coordinator {
	sub, _ := s.prepared.Load(gid)
	c := *s.c
	c.Counts, c.Calm, c.Store = &coordinator.Counts{}, true, s.calling(sub.(ondtm.Submission))
	return &c
}

// decided submits or aborts what was prepared, and carries it on to its end.
func (s *standIn) decided(req *http.Request, gid, to string, reply func(int, any)) {
	c := s.Of(gid)
	g, err := s.Load(req.Context(), 0, gid)
	if err == nil {
		from := g.Status
		g.Status, g.Updated = to, time.Now()
		err = c.Store.Change(req.Context(), g, from)
	}
	for err == nil && !model.Final(g.Status) {
		if g, err = c.Resume(req.Context(), 0, gid); errors.Is(err, coordinator.ErrUndecided) {
			err = nil // at once again
		}
	}
	if err != nil {
		reply(500, err.Error())
	}
}

// Carry has a branch carried out, or a local transaction asked after.
func (c *calling) Carry(_ context.Context, s *model.Saga, step int, op string) (model.Reply, error) {
	i := s.Branch(step)
	if op == model.BranchQuery {
		got, err := reading(http.Get(c.sub.Query + "?gid=" + s.Gid + "&trans_type=msg&branch_id=00&op=msg"))
		return got, err
	}
	url := fmt.Sprintf("%s?gid=%s&trans_type=%s&branch_id=%s&op=%s", c.sub.Steps[i][op], s.Gid, s.Of().Name, model.AppendBranch(nil, i), op)
	return reading(http.Post(url, "application/json", strings.NewReader(c.sub.Payloads[i])))
}

// The kinds that are prepared first run on a coordinator as sagas do; what is not
// submitted it decides by itself.
func TestOtherKindsOnACoordinator(t *testing.T) {
	tier.Slow(t, tier.Computes)
	t.Parallel()
	for _, name := range []string{model.TransTCC, model.TransMsg} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, worked := os.Getenv("PERFBENCH_TEST_DTM"), make(chan struct{})
			words := []string{
				"mode=saga", "transType=" + name, "threads=4", "transactions=120", "branches=3", "accountCount=20", "failRate=0.2",
				"duplicateRate=0.2", "lostSubmitRate=0.1", "timeout=1s", "checkInterval=0s", "payload=100",
			}
			if addr == "" {
				sp := &model.Spec{Shards: 1, Retry: time.Second}
				srv := httptest.NewServer(&standIn{c: &coordinator.Coordinator{Spec: sp}, Memory: onmemory.New(open(t, "memory:"), sp), worked: worked, gone: t.Context().Done()})
				defer srv.Close()
				addr = strings.TrimPrefix(srv.URL, "http://")
				words = append(words, "errorRate=0.05")
			}
			p, _ := ready(t, "dtm+http://"+addr, inputs(given(words...)))
			profiletest.Work(t, p)
			close(worked)
			v := p.Verify(t.Context())
			assert.Equal(t, workload.Passed, v.State, "%+v", v)
			f := p.Facts(nil).(*Facts)
			assert.Equal(t, int64(120), f.Done+f.Undone+f.Undecided)
			assert.Positive(t, f.Done)
			assert.Positive(t, f.Undone)
			assert.Positive(t, f.LostSubmits)
			assert.Equal(t, f.LostSubmits, f.AtEnd.Found)
			assert.Equal(t, int64(120), f.ReadBack)
			if name == model.TransMsg {
				assert.Equal(t, f.LostSubmits, f.AtEnd.Done, "their local transactions were carried out")
			} else {
				assert.Equal(t, f.LostSubmits, f.AtEnd.Undone)
			}
		})
	}
}
