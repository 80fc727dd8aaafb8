package lab

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

var javaVersion = regexp.MustCompile(`version "(?:1\.)?(\d+)`)

// findJava returns a java of one of the wanted releases: that of JAVA_HOME, one on the
// PATH, or one below /usr/lib/jvm. If none is suitable, the error says why.
func (n Need) findJava(look func(string) (string, error), environ []string) (string, error) {
	if look == nil {
		look = exec.LookPath
	}
	var candidates, seen []string
	if home := lookEnv(environ, "JAVA_HOME"); home != "" {
		candidates = append(candidates, filepath.Join(home, "bin", n.Binary))
	}
	if path, err := look(n.Binary); err == nil {
		candidates = append(candidates, path)
	}
	installed, _ := filepath.Glob("/usr/lib/jvm/*/bin/" + n.Binary) // the pattern is valid
	candidates = append(candidates, installed...)
	for _, path := range candidates {
		release, err := javaRelease(path)
		if err != nil {
			continue
		}
		if slices.Contains(n.Java, release) {
			return filepath.Abs(path)
		}
		if v := strconv.Itoa(release); !slices.Contains(seen, v) {
			seen = append(seen, v)
		}
	}
	found := "there is none"
	if len(seen) > 0 {
		found = "there is only Java " + strings.Join(seen, " and ")
	}
	return "", fault.Store(fmt.Errorf("it runs on Java %s, and %s in JAVA_HOME, on the PATH and in /usr/lib/jvm", words(n.Java), found),
		"it is in the Debian package "+n.Package+": apt-get install "+n.Package)
}

func words(numbers []int) string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = strconv.Itoa(n)
	}
	return strings.Join(out, " or ")
}

// javaRelease returns the release of a java: 17.
func javaRelease(path string) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, path, "-version").CombinedOutput()
	if err != nil {
		return 0, err
	}
	m := javaVersion.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%s does not report its version", path)
	}
	return strconv.Atoi(string(m[1]))
}

func lookEnv(environ []string, name string) string {
	for _, kv := range slices.Backward(environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// artefact names something that Maven can fetch.
type artefact struct{ group, id, version string }

// inPOM returns the artefact as a dependency, with more inside.
func (a artefact) inPOM(more string) string {
	return fmt.Sprintf("<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version>%s</dependency>", a.group, a.id, a.version, more)
}

// jarCache is what Maven has fetched for this user: folders of jars in the user's
// cache, one for each release, shared by all servers.
type jarCache struct {
	maven   string // its path
	environ []string
	step    func(format string, args ...any)
}

// jarCache returns that of the user for whom the service is started.
func (h *host) jarCache() jarCache { return jarCache{h.binaries["mvn"], h.opts.Environ, h.step} }

// jars returns the folder with an artefact and everything that it needs at run time.
// The first time, Maven fetches them, about that many MB, from wherever its own settings
// say.
func (c jarCache) jars(ctx context.Context, name string, a artefact, megabytes int) (string, error) {
	return c.fetch(ctx, name, a, a.inPOM(""), megabytes)
}

// fetch is jars for a dependency given as in a pom.
func (c jarCache) fetch(ctx context.Context, name string, a artefact, dependency string, megabytes int) (string, error) {
	cache, err := c.dir()
	if err != nil {
		return "", err
	}
	lib := filepath.Join(cache, name)
	if _, err := os.Stat(lib); err == nil {
		return lib, nil
	}
	unlock, err := Lock(ctx, cache, name, func(string) { c.step("waiting for another perfbench that fetches %s", name) })
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(lib); err == nil { // somebody else has fetched them meanwhile
		return lib, nil
	}
	c.step("first start: fetching %s %s through Maven, some %d MB; later starts find it in %s", a.id, a.version, megabytes, lib)
	tmp, err := os.MkdirTemp(cache, name+"-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // a leftover in the cache harms nobody
	pom := fmt.Sprintf(`<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>perfbench</groupId><artifactId>lab</artifactId><version>1</version>
<dependencies>%s</dependencies></project>
`, dependency)
	if err := os.WriteFile(filepath.Join(tmp, "pom.xml"), []byte(pom), 0o600); err != nil {
		return "", err
	}
	if err := c.run(ctx, tmp); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(tmp, "lib"), lib); err != nil {
		return "", fmt.Errorf("keep what was fetched: %w", err)
	}
	return lib, nil
}

func (c jarCache) dir() (string, error) {
	base := lookEnv(c.environ, "XDG_CACHE_HOME")
	if base == "" {
		home, err := c.home()
		if err != nil {
			return "", err
		}
		base = filepath.Join(home, ".cache")
	}
	dir := filepath.Join(base, "perfbench")
	return dir, os.MkdirAll(dir, 0o700)
}

func (c jarCache) home() (string, error) {
	if home := lookEnv(c.environ, "HOME"); home != "" {
		return home, nil
	}
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

// run has Maven copy the jars of the pom in dir to its folder lib, and reports how many files
// have arrived.
func (c jarCache) run(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, c.maven, "-B", "-DoutputDirectory="+filepath.Join(dir, "lib"), "-DincludeScope=runtime",
		"org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies")
	cmd.Dir = dir
	// Maven needs its own settings and proxies, and nothing of ours.
	cmd.Env = slices.DeleteFunc(slices.Clone(c.environ), func(kv string) bool { return strings.HasPrefix(kv, "PERFBENCH_") })
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	if err := Detach(cmd, true); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start Maven: %w", err)
	}
	ended := make(chan error, 1) // one value: the sender never waits
	go func() {
		err := cmd.Wait()
		_ = in.Close() // always nil
		ended <- err
	}()
	var problems []string
	files, told := 0, time.Now()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.Contains(line, "Downloaded from") {
			files++
		}
		if _, problem, ok := strings.Cut(line, "[ERROR] "); ok && len(problems) < 2 {
			problems = append(problems, problem)
		}
		if time.Since(told) > 2*time.Second {
			c.step("%d files fetched", files)
			told = time.Now()
		}
	}
	_, _ = io.Copy(io.Discard, out) // after a line that is too long
	if err := <-ended; err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fault.Store(fmt.Errorf("maven could not fetch it: %w: %s", err, strings.Join(problems, " | ")),
			"does  mvn  reach its repository from here? its settings are in ~/.m2/settings.xml")
	}
	return nil
}

func dialTLS(ctx context.Context, address string, f TLSFiles) (net.Conn, error) {
	config, err := clientTLS(f)
	if err != nil {
		return nil, err
	}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return conn, err
}
