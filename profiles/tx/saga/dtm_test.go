package saga

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
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

// standIn is a small coordinator that keeps to the documented interface of dtm's
// server: it stores sagas, calls the branches' URLs, compensates in reverse order
// and takes up what is unfinished. It is no dtm; where one is to be had, name it
// with PERFBENCH_TEST_DTM=host:port, and the same test runs against it.
type standIn struct {
	*onmemory.Memory
	c *coordinator.Coordinator
	// payloads are those of the branches, by gid.
	payloads sync.Map
	// prepared are submissions that are to be submitted later, with their branches, by
	// gid.
	prepared sync.Map
	// worked is closed when nobody submits any more, gone at the end of the test.
	worked, gone <-chan struct{}
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	reply := func(status int, v any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	switch req.URL.Path {
	case "/api/dtmsvr/version":
		reply(200, map[string]string{"version": "stand-in"})
	case "/api/dtmsvr/query":
		got, _ := s.Read(req.Context(), 0, []string{req.URL.Query().Get("gid")})
		if got[0].Status == "" {
			reply(200, map[string]any{"transaction": nil, "branches": []any{}})
			return
		}
		rows := []map[string]any{}
		payloads, _ := s.payloads.Load(got[0].Gid)
		for i, r := range got[0].Rows {
			if got[0].Of() != model.KindMsg {
				i /= 2
			}
			rows = append(rows, map[string]any{"status": r, "bin_data": []byte(payloads.([]string)[i])})
		}
		reply(200, map[string]any{"transaction": map[string]string{"status": got[0].Status}, "branches": rows})
	case "/api/dtmsvr/prepare", "/api/dtmsvr/registerBranch", "/api/dtmsvr/abort":
		s.phase(req, reply)
	case "/api/dtmsvr/submit":
		var sub ondtm.Submission
		if err := json.NewDecoder(req.Body).Decode(&sub); err != nil {
			reply(400, err.Error())
			return
		}
		if sub.TransType != model.TransSaga {
			s.decided(req, sub.Gid, model.Submitted, reply)
			return
		}
		s.payloads.Store(sub.Gid, sub.Payloads)
		c := *s.c
		c.Counts, c.Rand = &coordinator.Counts{}, rand.New(rand.NewPCG(1, 2))
		c.Store = s.calling(sub)
		g := &model.Saga{}
		g.Reset(sub.Gid, 0, len(sub.Steps), time.Now())
		g.Empty = sub.Steps[0][model.BranchAction] == ""
		err := c.Submit(req.Context(), nil, g)
		for err != nil && strings.Contains(err.Error(), "undecided") { // its cron
			if rand.IntN(2) == 0 {
				go func() {
					for {
						select {
						case <-time.After(5 * time.Millisecond):
						case <-s.gone:
							return
						}
						if _, err := c.Resume(context.Background(), 0, sub.Gid); err == nil {
							return
						}
					}
				}()
				reply(409, map[string]string{"dtm_result": "FAILURE"})
				return
			}
			_, err = c.Resume(req.Context(), 0, sub.Gid)
			got, _ := s.Read(req.Context(), 0, []string{sub.Gid})
			g.Status = got[0].Status
		}
		if err == nil && g.Status == model.Succeed {
			reply(200, map[string]string{"dtm_result": "SUCCESS"})
			return
		}
		reply(409, map[string]string{"dtm_result": "FAILURE", "message": fmt.Sprint(err)})
	}
}

// calling carries out branches by calling their URLs.
type calling struct{ sub ondtm.Submission }

// calling is a store whose participants are those of a submission.
func (s *standIn) calling(sub ondtm.Submission) model.Store {
	st := s.Open()
	st.Participants = &calling{sub}
	return st
}

func (c *calling) Move(_ context.Context, s *model.Saga, pos int) (model.Reply, error) {
	r := s.Rows[pos]
	url := fmt.Sprintf("%s?gid=%s&trans_type=saga&branch_id=%s&op=%s", c.sub.Steps[r.Step][r.Op], s.Gid, model.AppendBranch(nil, r.Step), r.Op)
	return reading(http.Post(url, "application/json", strings.NewReader(c.sub.Payloads[r.Step])))
}

// reading reads a participant's reply.
func reading(resp *http.Response, err error) (model.Reply, error) {
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return model.ReplyDone, nil
	case http.StatusConflict:
		return model.ReplyRefused, nil
	case http.StatusTooEarly:
		return model.ReplyLater, nil
	}
	return 0, model.ErrParticipant
}

func TestSagasOnACoordinator(t *testing.T) {
	tier.Slow(t, tier.Computes)
	t.Parallel()
	addr := os.Getenv("PERFBENCH_TEST_DTM")
	words := []string{"mode=saga", "threads=4", "transactions=200", "accountCount=20", "failRate=0.2", "checkInterval=0s", "payload=20000"}
	if addr == "" {
		sp := &model.Spec{Shards: 1, Retry: time.Second}
		s := &standIn{c: &coordinator.Coordinator{Spec: sp}, Memory: onmemory.New(open(t, "memory:"), sp), gone: t.Context().Done()}
		srv := httptest.NewServer(s)
		defer srv.Close()
		addr = strings.TrimPrefix(srv.URL, "http://")
		words = append(words, "errorRate=0.05", "ongoingRate=0.05")
	}
	p, _ := ready(t, "dtm+http://"+addr, inputs(given(words...)))
	profiletest.Work(t, p)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	f := p.Facts(nil).(*Facts)
	assert.Equal(t, int64(200), f.Done+f.Undone+f.Undecided)
	assert.Positive(t, f.Done)
	assert.Positive(t, f.Undone)
	assert.Equal(t, int64(200), f.ReadBack)
	assert.Equal(t, 200, asked(v, checkPayload), "%+v", v)
}

// Branches that call nobody are done at once, as those of the documented benchmark are.
func TestEmptySagasOnACoordinator(t *testing.T) {
	addr := os.Getenv("PERFBENCH_TEST_DTM")
	if addr == "" {
		sp := &model.Spec{Shards: 1, Retry: time.Second}
		srv := httptest.NewServer(&standIn{c: &coordinator.Coordinator{Spec: sp}, Memory: onmemory.New(open(t, "memory:"), sp)})
		defer srv.Close()
		addr = strings.TrimPrefix(srv.URL, "http://")
	}
	p, _ := ready(t, "dtm+http://"+addr, inputs(given("mode=saga", "accounts=off", "threads=4", "transactions=100", "checkInterval=0s")))
	res := profiletest.Work(t, p)
	assert.Empty(t, res.Errors)
	assert.Equal(t, workload.Passed, p.Verify(t.Context()).State)
	assert.Equal(t, int64(100), p.Facts(nil).(*Facts).Done)
}
