// Package browsertest gives tests a real browser: Chromium without a window. It is for
// tests only. If it is not installed, the test fails in CI (CI=true) and is skipped
// elsewhere, naming the package.
//
//	c := browsertest.Start(t)
//	c.Open("/tmp/page.html")
//	title := browsertest.Eval[string](c, "document.title")
package browsertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Browser is a running Chromium with one tab, controlled over a pipe in the JSON of its
// DevTools protocol. A method that cannot do what it says fails the test, so only the
// test's goroutine may call it.
type Browser struct {
	t       testing.TB
	to      *os.File
	session string

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	events  map[string]chan message
	// complaints are the messages in the console.
	complaints []string
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// Start starts the browser with one empty tab; it ends with the test. If there is no
// browser the test is skipped, or fails in CI.
func Start(t testing.TB) *Browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no chromium, and with CI=true it must be here (Debian package chromium)")
		}
		t.Skip("NOT HERE: chromium (Debian package chromium): nothing is looked at in a real browser")
	}
	toRead, to, err := os.Pipe()
	require.NoError(t, err)
	from, fromWrite, err := os.Pipe()
	require.NoError(t, err)
	home, err := os.MkdirTemp("", "chromium")
	require.NoError(t, err)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-extensions", "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe", "--user-data-dir="+home, "about:blank")
	cmd.ExtraFiles = []*os.File{toRead, fromWrite} // its 3 and 4
	cmd.Env = append(os.Environ(), "HOME="+home)
	require.NoError(t, cmd.Start())
	require.NoError(t, toRead.Close())
	require.NoError(t, fromWrite.Close())
	c := &Browser{t: t, to: to, waiting: map[int]chan message{}, events: map[string]chan message{}}
	gone := make(chan struct{})
	go func() { defer close(gone); c.read(from) }()
	t.Cleanup(func() {
		c.Call("Browser.close", nil, nil)
		<-gone
		_ = cmd.Wait() // it was asked to end
		_ = to.Close()
		_ = from.Close()
		for range 100 { // helpers of the browser may still be writing
			if os.RemoveAll(home) == nil {
				break
			}
		}
	})
	var target struct{ TargetID string }
	c.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	c.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	c.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Accessibility"} {
		c.Call(domain+".enable", nil, nil)
	}
	return c
}

// read reads the browser's messages until it has gone.
func (c *Browser) read(from *os.File) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes(0)
		var m message
		if err == nil {
			err = json.Unmarshal(line[:len(line)-1], &m)
		}
		c.mu.Lock()
		switch {
		case err != nil:
			for id, ch := range c.waiting {
				close(ch)
				delete(c.waiting, id)
			}
			c.mu.Unlock()
			return
		case m.ID > 0:
			c.waiting[m.ID] <- m
			delete(c.waiting, m.ID)
		case m.Method == "Runtime.consoleAPICalled" || m.Method == "Runtime.exceptionThrown" || m.Method == "Log.entryAdded":
			c.complaints = append(c.complaints, string(m.Params))
		case c.events[m.Method] != nil:
			select {
			case c.events[m.Method] <- m:
			default:
			}
		}
		c.mu.Unlock()
	}
}

// Call makes the browser carry out a command of the DevTools protocol and decodes the
// answer into result, unless that is nil.
func (c *Browser) Call(method string, params map[string]any, result any) {
	c.t.Helper()
	c.mu.Lock()
	c.last++
	id, answer := c.last, make(chan message, 1)
	c.waiting[id] = answer
	c.mu.Unlock()
	if params == nil {
		params = map[string]any{}
	}
	command := map[string]any{"id": id, "method": method, "params": params}
	if c.session != "" && method != "Browser.close" {
		command["sessionId"] = c.session
	}
	data, err := json.Marshal(command)
	require.NoError(c.t, err)
	_, err = c.to.Write(append(data, 0))
	require.NoError(c.t, err)
	m, ok := <-answer
	if method == "Browser.close" {
		return
	}
	require.True(c.t, ok, "the browser has gone while it was asked for %s", method)
	require.Empty(c.t, string(m.Error), method)
	if result != nil {
		require.NoError(c.t, json.Unmarshal(m.Result, result))
	}
}

// Open shows a file and waits until it is loaded.
func (c *Browser) Open(path string) {
	c.t.Helper()
	loaded := make(chan message, 1)
	c.mu.Lock()
	c.events["Page.loadEventFired"] = loaded
	c.mu.Unlock()
	c.Call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	<-loaded
}

// Eval returns the value of a JavaScript expression on the page.
func Eval[T any](c *Browser, expression string) T {
	c.t.Helper()
	var out struct {
		Result           struct{ Value T }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	c.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &out)
	if out.ExceptionDetails != nil {
		c.t.Fatal(expression, ": ", out.ExceptionDetails.Exception.Description)
	}
	return out.Result.Value
}

// Mouse moves the pointer, presses and releases its button.
func (c *Browser) Mouse(kind string, x, y float64) {
	c.t.Helper()
	params := map[string]any{"type": kind, "x": x, "y": y}
	if kind != "mouseMoved" {
		params["button"], params["clickCount"] = "left", 1
	}
	c.Call("Input.dispatchMouseEvent", params, nil)
}

// Media sets the media that the page is shown on: "screen" or "print", "light" or
// "dark".
func (c *Browser) Media(kind, scheme string) {
	c.t.Helper()
	c.Call("Emulation.setEmulatedMedia", map[string]any{
		"media": kind, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	}, nil)
}

// Size sets the size of the window.
func (c *Browser) Size(width, height int) {
	c.t.Helper()
	c.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Quiet fails the test if there are messages in the console.
func (c *Browser) Quiet() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Empty(c.t, c.complaints, fmt.Sprint("the console of the browser"))
}
