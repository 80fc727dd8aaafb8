package dtm_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/dtm"
	"github.com/perfbench/perfbench/internal/testing/storetest"
)

// ticks is a clock that goes on by one each time it is asked.
type ticks struct{ n int64 }

func (c *ticks) Now() int64 {
	c.n++
	return c.n
}

func openBench(t *testing.T, target string) (*dtm.Bench, error) {
	t.Helper()
	c, err := storetest.Dial(t, dtm.BenchDriver, dtm.BenchDriver.Open, target)
	if err != nil {
		return nil, err
	}
	return c.(*dtm.Bench), nil
}

// scripted answers each connection with a text, which may be no HTTP at all, and passes
// on what it was asked.
func scripted(t *testing.T, answer string) (target string, asked <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	ch := make(chan string, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				in := bufio.NewReader(c)
				var text strings.Builder
				for {
					line, err := in.ReadString('\n')
					text.WriteString(line)
					if err != nil {
						return // opened to see whether anybody is there
					}
					if line == "\r\n" {
						break
					}
				}
				ch <- text.String()
				_, _ = io.WriteString(c, answer)
			}()
		}
	}()
	return "dtm+bench://" + l.Addr().String(), ch
}

// What goes over the wire is what ab sends, for the published URL.
func TestTheBenchmarkIsAskedAsABAsks(t *testing.T) {
	const good = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n" + `{"dtm_result":"SUCCESS"}`
	target, asked := scripted(t, good)
	b, err := openBench(t, target+"?read_timeout=5s")
	require.NoError(t, err)
	c := b.Client(false)
	defer c.Close()
	r, err := c.Get(t.Context(), &ticks{})
	require.NoError(t, err)
	assert.Equal(t, dtm.Request{Reached: true, Dialled: true, Replied: true, Connected: 1, Sent: 2, First: 3, Status: 200, Bytes: len(good), Body: 24}, r)
	host := strings.TrimPrefix(target, "dtm+bench://")
	assert.Equal(t, "GET /api/busi_bench/benchEmptyUrl HTTP/1.0\r\nHost: "+host+"\r\nUser-Agent: perfbench\r\nAccept: */*\r\n\r\n", <-asked)

	b, err = openBench(t, target+"/api/busi_bench/bench")
	require.NoError(t, err)
	kept := b.Client(true)
	defer kept.Close()
	_, err = kept.Get(t.Context(), &ticks{})
	require.NoError(t, err, "a server that closes all the same is no failure")
	assert.True(t, strings.HasPrefix(<-asked, "GET /api/busi_bench/bench HTTP/1.0\r\nConnection: Keep-Alive\r\n"))
}

func TestConnectionsAreKeptWhereThatIsAsked(t *testing.T) {
	var made atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "null") }))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateActive { // the one that only looked never is
			made.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	b, err := openBench(t, strings.Replace(srv.URL, "http", "dtm+bench", 1))
	require.NoError(t, err)
	for _, keep := range []bool{false, true} {
		c := b.Client(keep)
		var dialled int
		for range 5 {
			r, err := c.Get(t.Context(), &ticks{})
			require.NoError(t, err)
			assert.Equal(t, 4, r.Body)
			assert.True(t, r.Reached)
			if r.Dialled {
				dialled++
			}
		}
		c.Close()
		assert.Equal(t, map[bool]int{false: 5, true: 1}[keep], dialled)
	}
	assert.GreaterOrEqual(t, made.Load(), int64(6))
}

// Replies that are no success fail by status and body, and what is no reply by what
// happened.
func TestFailuresByStatusAndBody(t *testing.T) {
	reply := func(status, body string) string {
		return "HTTP/1.0 " + status + "\r\n\r\n" + body
	}
	for name, x := range map[string]struct {
		answer string
		class  store.Class
		says   string
	}{
		"undone":            {reply("409 Conflict", `{"dtm_result":"FAILURE"}`), store.Conflict, `status 409: {"dtm_result":"FAILURE"}`},
		"under way":         {reply("425 Too Early", `{"dtm_result":"ONGOING"}`), store.Conflict, "status 425"},
		"undone by body":    {reply("200 OK", `{"dtm_result":"FAILURE"}`), store.Conflict, "status 200"},
		"broken":            {reply("500 Internal Server Error", `{"message":"no store"}`), store.Other, `status 500: {"message":"no store"}`},
		"elsewhere":         {reply("404 Not Found", "404 page not found"), store.Missing, "status 404"},
		"forbidden":         {reply("403 Forbidden", ""), store.Refused, "status 403"},
		"too much":          {reply("503 Service Unavailable", ""), store.Overloaded, "status 503"},
		"too late":          {reply("504 Gateway Timeout", ""), store.Timeout, "status 504"},
		"no reply":          {"", store.Unreachable, "before the reply ended"},
		"half a head":       {"HTTP/1.0 200 OK\r\nContent-Le", store.Unreachable, "before the reply ended"},
		"half a body":       {"HTTP/1.0 200 OK\r\nContent-Length: 24\r\n\r\n{", store.Unreachable, "before the reply ended"},
		"more than a body":  {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n{}", store.Other, "goes on past its end"},
		"no length":         {"HTTP/1.0 200 OK\r\nContent-Length: -4\r\n\r\n{}", store.Other, `it has "-4" bytes`},
		"chunks":            {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", store.Other, "chunks"},
		"another protocol":  {"-ERR unknown command\r\n", store.Other, "which is not HTTP"},
		"another one again": {"HTTP/1.0 abc\r\n\r\n", store.Other, "which is not HTTP"},
	} {
		target, _ := scripted(t, x.answer)
		b, err := openBench(t, target)
		require.NoError(t, err, name)
		c := b.Client(false)
		r, err := c.Get(t.Context(), &ticks{})
		c.Close()
		require.ErrorContains(t, err, x.says, name)
		assert.Equal(t, x.class.String(), b.Classify(err).String(), name)
		assert.True(t, r.Reached, name)
		assert.Equal(t, x.answer != "", r.Replied, name)
	}
	// A body that ends with its connection.
	target, _ := scripted(t, reply("200 OK", "null"))
	b, err := openBench(t, target)
	require.NoError(t, err)
	c := b.Client(true)
	defer c.Close()
	r, err := c.Get(t.Context(), &ticks{})
	require.NoError(t, err)
	assert.Equal(t, 4, r.Body)
}

func TestServerThatIsSilentOrAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	b, err := openBench(t, "dtm+bench://"+l.Addr().String()+"?read_timeout=50ms")
	require.NoError(t, err)
	c := b.Client(false)
	defer c.Close()
	_, err = c.Get(t.Context(), &ticks{})
	assert.Equal(t, store.Timeout, b.Classify(err), "%v", err)

	ctx, cancel := context.WithCancel(t.Context())
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel() // the request is here
		<-r.Context().Done()
	}))
	defer silent.Close()
	b, err = openBench(t, strings.Replace(silent.URL, "http", "dtm+bench", 1))
	require.NoError(t, err)
	waiting := b.Client(false)
	defer waiting.Close()
	_, err = waiting.Get(ctx, &ticks{})
	assert.Equal(t, store.Canceled, b.Classify(err), "%v", err)
	b, err = openBench(t, "dtm+bench://"+l.Addr().String())
	require.NoError(t, err)

	require.NoError(t, l.Close())
	r, err := c.Get(t.Context(), &ticks{})
	assert.Equal(t, store.Unreachable, b.Classify(err), "%v", err)
	assert.False(t, r.Reached)
	require.Error(t, b.Answer(t.Context()))
	_, err = openBench(t, "dtm+bench://"+l.Addr().String())
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
}

// Other URLs of the server wipe tables, or the whole store.
func TestURLsThatWipeAreRefused(t *testing.T) {
	for target, says := range map[string]string{
		"dtm+bench://localhost/api/busi_bench/reloadData":           "/api/busi_bench/reloadData is not a URL",
		"dtm+bench://localhost/api/busi_bench/benchFlashSalesReset": "is not a URL",
		"dtm+bench://localhost/bench":                               "/bench is not a URL",
		"dtm+bench://a,b":                                           "name exactly one host",
		"dtm+bench://localhost?read_timeout=soon":                   "read_timeout",
	} {
		_, err := openBench(t, target)
		require.ErrorContains(t, err, says, target)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), target)
	}
}

// At a coordinator nobody has a namespace: no data of a run are kept there, every
// transaction has a name of its own, and accounts are in our process. So there is no lease
// that a process could lose, and nothing of others that it could overwrite after a stop:
// its connections need no fence.
func TestNoNamespacesAtACoordinator(t *testing.T) {
	for _, c := range []store.Conn{&dtm.Conn{}, &dtm.Bench{}} {
		_, leases := store.Has[store.Leaser](c)
		_, keeps := store.Has[store.Keeper](c)
		assert.False(t, leases || keeps, "%T", c)
	}
}
