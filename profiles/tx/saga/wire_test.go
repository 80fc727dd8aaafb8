package saga_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/store/dtm"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/txtest"
	"github.com/perfbench/perfbench/profiles/tx/saga"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/ondtm"
)

var mode = txtest.Of(saga.Params(), saga.Design)

// overheard is a server that notes what it is sent and answers as a test says.
type overheard struct {
	*httptest.Server
	mu     sync.Mutex // guards what follows
	asked  []string   // method, path with query, body
	types  []string   // content types of what was posted
	submit int        // status of a submit's reply; 0 cuts the connection
	query  string     // reply of a query
}

func overhear(t *testing.T) *overheard {
	t.Helper()
	w := &overheard{submit: http.StatusOK}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		w.mu.Lock()
		defer w.mu.Unlock()
		switch req.URL.Path {
		case "/api/dtmsvr/version":
			_, _ = io.WriteString(rw, `{"version":"1"}`)
			return
		case "/api/dtmsvr/query":
			w.asked = append(w.asked, req.Method+" "+req.URL.RequestURI()+" "+string(body))
			_, _ = io.WriteString(rw, w.query)
			return
		}
		w.asked = append(w.asked, req.Method+" "+req.URL.RequestURI()+" "+string(body))
		w.types = append(w.types, req.Header.Get("Content-Type"))
		if w.submit == 0 {
			panic(http.ErrAbortHandler)
		}
		rw.WriteHeader(w.submit)
	}))
	t.Cleanup(w.Close)
	return w
}

// answer sets what is answered from now on, and forgets what was asked.
func (w *overheard) answer(submit int, query string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.submit, w.query, w.asked, w.types = submit, query, nil, nil
}

// heard is what was asked, and the content types of what was posted.
func (w *overheard) heard() (asked, types []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked, w.types
}

func (w *overheard) target() string { return strings.Replace(w.URL, "http://", "dtm+http://", 1) }

// The documented benchmark's transaction goes over the wire as it is documented, on
// one line with its fields in order.
func TestSubmissionOverTheWire(t *testing.T) {
	w := overhear(t)
	p, _ := mode.Ready(t, w.target(), txtest.Inputs(mode.Given("mode=saga", "accounts=off", "threads=1", "transactions=1")))
	profiletest.Work(t, p)
	gid := string(model.AppendGid(nil, p.Binder.(saga.Binding).Spec.Stamp, 0, 0))
	asked, types := w.heard()
	assert.Equal(t, []string{"POST /api/dtmsvr/submit " + `{"gid":"` + gid + `","trans_type":"saga","wait_result":true,"concurrent":false,` +
		`"steps":[{"action":"","compensate":""},{"action":"","compensate":""}],"payloads":["{}","{}"],"protocol":""}`}, asked)
	assert.Equal(t, []string{"application/json"}, types)

	p, _ = mode.Ready(t, w.target(), txtest.Inputs(mode.Given("mode=saga", "threads=1", "transactions=1", "timeout=3s", "accountCount=5")))
	profiletest.Work(t, p)
	asked, _ = w.heard()
	assert.Contains(t, asked[1], `"protocol":"","timeout_to_fail":3}`)
	assert.Contains(t, asked[1], `"steps":[{"action":"http://127.0.0.1:`)
}

// A 409 says nothing by itself: the state is asked for. What no state tells is unknown.
func TestRepliesOfACoordinator(t *testing.T) {
	w := overhear(t)
	tg, _, err := drivers.Parse(w.target())
	require.NoError(t, err)
	c, err := drivers.Open(t.Context(), tg, store.OpenOptions{Threads: 1})
	require.NoError(t, err)
	d := ondtm.New(c.(*dtm.Conn), &model.Spec{})
	state := func(s string) string {
		return fmt.Sprintf(`{"transaction":{"gid":"g","status":%q},"branches":[{"status":"prepared"}]}`, s)
	}
	for name, x := range map[string]struct {
		status int
		query  string
		want   bool
		err    string
	}{
		"done":           {200, "", true, ""},
		"undone":         {409, state(model.Failed), false, ""},
		"done after all": {409, state(model.Succeed), true, ""},
		"still running":  {409, state(model.Submitted), false, "undecided"},
		"being undone":   {409, state(model.Aborting), false, "undecided"},
		"never stored":   {409, `{"transaction":null,"branches":[]}`, false, "undecided"},
		"broken":         {500, "", false, "status 500"},
		"cut off":        {0, "", false, "submit: "},
		"no answer":      {409, "<html>", false, "query: "},
	} {
		w.answer(x.status, x.query)
		got, err := d.Submit(t.Context(), "g", []byte("{}"))
		assert.Equal(t, x.want, got, name)
		if x.err == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, x.err, name)
		}
		asked, _ := w.heard()
		if x.status == 409 {
			assert.Equal(t, "GET /api/dtmsvr/query?gid=g ", asked[len(asked)-1], name)
		} else {
			assert.Len(t, asked, 1, name)
		}
	}
}

// Participants answer as a coordinator understands: 200 and SUCCESS, 409 and FAILURE,
// 425 and ONGOING, anything else for an error.
func TestRepliesOfParticipants(t *testing.T) {
	w := overhear(t)
	call := func(sp *model.Spec, query, body string) (int, string) {
		d := ondtm.New(profiletest.Open(t, w.target()).(*dtm.Conn), sp)
		require.NoError(t, d.Prepare(t.Context(), nil))
		rec := httptest.NewRecorder()
		d.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/?"+query, strings.NewReader(body)))
		return rec.Code, rec.Body.String()
	}
	q := url.Values{"gid": {"g"}, "trans_type": {"saga"}, "branch_id": {"01"}, "op": {model.BranchAction}}.Encode()
	sp := func() *model.Spec { return &model.Spec{Shards: 1, Accounts: 3, Balance: 100} }
	late, wrong := sp(), sp()
	late.OngoingRate, wrong.ErrorRate = 1, 1
	for name, x := range map[string]struct {
		sp          *model.Spec
		query, body string
		status      int
		word        string
	}{
		"done":            {sp(), q, `{"account":1,"amount":-50}`, 200, "SUCCESS"},
		"too much":        {sp(), q, `{"account":1,"amount":-500}`, 409, "FAILURE"},
		"told to refuse":  {sp(), q, `{"account":1,"amount":-5,"refuse":true}`, 409, "FAILURE"},
		"nothing to undo": {sp(), strings.Replace(q, "op=action", "op=compensate", 1), `{"account":1,"amount":-5,"refuse":true}`, 200, "SUCCESS"},
		"under way":       {late, q, `{"account":1,"amount":-50}`, 425, "ONGOING"},
		"reply lost":      {wrong, q, `{"account":1,"amount":-50}`, 500, "ERROR"},
		"no branch":       {sp(), "gid=g&op=action", `{}`, 400, "ERROR"},
		"no operation":    {sp(), "gid=g&branch_id=01", `{}`, 400, "ERROR"},
		"no payload":      {sp(), q, ``, 400, "ERROR"},
	} {
		status, body := call(x.sp, x.query, x.body)
		assert.Equal(t, x.status, status, name)
		assert.JSONEq(t, `{"dtm_result":"`+x.word+`"}`, body, name)
	}
}

// What is no dtm server is refused before anything starts.
func TestWhatIsNoCoordinator(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	tg, _, err := drivers.Parse(strings.Replace(srv.URL, "http://", "dtm+http://", 1))
	require.NoError(t, err)
	_, err = drivers.Open(t.Context(), tg, store.OpenOptions{Threads: 1})
	require.ErrorContains(t, err, "status 404")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	_, err = mode.Plan(txtest.Inputs(mode.Given("mode=saga", "timeout=1500ms")))
	require.NoError(t, err, "only a dtm server counts in whole seconds")
}
