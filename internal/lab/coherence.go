package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// coherenceVersion is the release of Coherence CE that the lab starts. All its jars
// must be of one release.
const coherenceVersion = "25.03.2"

// The releases of Java that this Coherence runs on.
var coherenceJava = []int{17, 21, 25}

// healthFile holds where a member tells whether it is ready.
const healthFile = "health"

func coherenceService() Service {
	return Service{
		Name: "coherence",
		Summary: "one Coherence CE member with a gRPC proxy and a heap of 512 MiB; the first start fetches some 40 MB through Maven; " +
			"Coherence opens its gRPC port on every interface",
		Needs: []Need{
			{Binary: "mvn", Package: "maven"},
			{Binary: "java", Package: "openjdk-17-jre-headless", Java: coherenceJava},
		},
		limit:   10 * time.Minute, // the first start fetches
		start:   startCoherence,
		answers: coherenceAnswers,
		single:  true,
	}
}

// fetchCoherence sees to it that the jars are in the cache and returns their folder.
func fetchCoherence(ctx context.Context, h *host) (string, error) {
	of := func(id string) artefact { return artefact{"com.oracle.coherence.ce", id, coherenceVersion} }
	first := of("coherence")
	dependencies := first.inPOM("") + of("coherence-grpc-proxy").inPOM("") + of("coherence-json").inPOM("")
	return h.fetch(ctx, "coherence-"+coherenceVersion, first, dependencies, 40)
}

func startCoherence(ctx context.Context, h *host) error {
	lib, err := fetchCoherence(ctx, h)
	if err != nil {
		return err
	}
	jar, err := h.agent(ctx)
	if err != nil {
		return err
	}
	ports, err := freePorts(5, 0)
	if err != nil {
		return err
	}
	if h.opts.Port != 0 {
		ports[0] = h.opts.Port
	}
	dir := h.folder("coherence")
	args, err := h.coherenceArgs(dir, lib, ports)
	if err != nil {
		return err
	}
	p, err := h.spawn(ctx, spec{
		Name: "coherence", Addr: addr(ports[0]),
		Files: map[string]string{
			"java.args": strconv.Quote(agentArg(jar, dir, ports[4])) + "\n" + args,
			policyFile:  policy,
			healthFile:  addr(ports[3]),
		},
		Command: []string{"java", "@" + filepath.Join(dir, "java.args"), "com.tangosol.net.Coherence"},
	})
	if err != nil {
		return err
	}
	h.step("waiting until it answers, some 5 to 15 seconds")
	ctx, cancel := context.WithTimeoutCause(ctx, 2*startLimit, fmt.Errorf("not ready within %v", 2*startLimit))
	defer cancel()
	if err := h.ready(ctx, p); err != nil {
		return err
	}
	h.rec.Version, h.rec.Jolokia = coherenceVersion, agentURL(ports[4])
	h.rec.URL = "coherence://" + p.Addr + sqlTLSParams(h.rec.TLS)
	return nil
}

// coherenceArgs is the file of arguments of a member that is alone in a cluster of
// its own. The ports are those of gRPC, of the cluster, of the member, and of its
// health.
func (h *host) coherenceArgs(dir, lib string, ports []int) (string, error) {
	properties := []string{
		"java.net.preferIPv4Stack=true", "user.home=" + dir, "java.io.tmpdir=" + dir,
		// Two clusters of one name would join each other.
		fmt.Sprintf("coherence.cluster=perfbench-%d-%d", os.Getpid(), ports[1]),
		"coherence.wka=127.0.0.1", "coherence.localhost=127.0.0.1", "coherence.ttl=0", "coherence.discovery.address=127.0.0.1",
		fmt.Sprintf("coherence.clusterport=%d", ports[1]), fmt.Sprintf("coherence.localport=%d", ports[2]),
		"coherence.health.http.address=127.0.0.1", fmt.Sprintf("coherence.health.http.port=%d", ports[3]),
		"coherence.system.proxy.enabled=false", "coherence.extend.address=127.0.0.1",
		"coherence.grpc.server.address=127.0.0.1", fmt.Sprintf("coherence.grpc.server.port=%d", ports[0]),
		"coherence.distributed.localstorage=true", "coherence.log=stderr",
	}
	if f := h.rec.TLS; f != nil {
		auth := "none"
		if f.ClientAuth {
			auth = "required"
		}
		properties = append(properties, "coherence.grpc.server.socketprovider=tls-files", "coherence.security.clientauth="+auth,
			"coherence.security.key="+f.Key, "coherence.security.cert="+f.Cert, "coherence.security.ca.cert="+f.CA)
	}
	extra, err := settings(h.rec.Args, func(s string) string { return s })
	if err != nil {
		return "", err
	}
	for _, e := range extra {
		properties = append(properties, strings.Replace(e, " = ", "=", 1))
	}
	lines := []string{"-Xms512m", "-Xmx512m", "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError", "-cp", filepath.Join(lib, "*")}
	for _, p := range properties {
		lines = append(lines, "-D"+p)
	}
	for i, l := range lines {
		lines[i] = strconv.Quote(l)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// coherenceAnswers asks a member whether it is ready, and its gRPC port for the
// first words of HTTP/2.
func coherenceAnswers(ctx context.Context, h *host, p Process) error {
	health, err := os.ReadFile(filepath.Join(p.Dir, healthFile))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+string(health)+"/ready", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it is not ready: %s", resp.Status)
	}
	return h.speaksHTTP2(ctx, p)
}

// speaksHTTP2 greets a server as a client of HTTP/2 does, and reads the first
// frame of the answer, which must be SETTINGS.
func (h *host) speaksHTTP2(ctx context.Context, p Process) error {
	conn, err := h.dialHTTP2(ctx, p)
	if err != nil {
		return err
	}
	defer conn.Close()
	if end, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(end); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		return err
	}
	head := make([]byte, 9)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	if head[3] != 4 {
		return errors.New("what answers on its port does not speak HTTP/2")
	}
	return nil
}

func (h *host) dialHTTP2(ctx context.Context, p Process) (net.Conn, error) {
	if h.rec.TLS == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", p.Addr)
	}
	config, err := clientTLS(*h.rec.TLS)
	if err != nil {
		return nil, err
	}
	config.NextProtos = []string{"h2"}
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", p.Addr)
}
