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
	"strings"
)

// coherenceVersion is the release of Coherence CE that the lab starts. All its jars
// must be of one release.
const coherenceVersion = "25.03.2"

// The releases of Java that this Coherence runs on.
var coherenceJava = []int{17, 21, 25}

// healthFile contains the address at which a member reports whether it is ready.
const healthFile = "health"

func coherenceService() Service {
	return javaServer{
		name: "coherence", version: coherenceVersion, java: coherenceJava, main: "com.tangosol.net.Coherence",
		summary: "one Coherence CE member with a gRPC proxy and a heap of 512 MiB; the first start fetches some 40 MB through Maven; " +
			"Coherence opens its gRPC port on every interface",
		ports: 5, fetch: fetchCoherence, prepare: prepareCoherence, answers: coherenceAnswers,
	}.service()
}

// fetchCoherence makes sure that the jars are in the cache and returns their folder.
func fetchCoherence(ctx context.Context, h *host) (string, error) {
	of := func(id string) artefact { return artefact{"com.oracle.coherence.ce", id, coherenceVersion} }
	first := of("coherence")
	dependencies := first.inPOM("") + of("coherence-grpc-proxy").inPOM("") + of("coherence-json").inPOM("")
	return h.jarCache().fetch(ctx, "coherence-"+coherenceVersion, first, dependencies, 40)
}

// prepareCoherence makes the arguments of a member that is alone in its own cluster.
// ports are for gRPC, the cluster, the member, and its health.
func prepareCoherence(_ context.Context, h *host, dir, lib string, ports []int) ([]string, map[string]string, error) {
	properties := []string{
		"user.home=" + dir, "java.io.tmpdir=" + dir,
		// Two clusters with the same name would join each other.
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
		return nil, nil, err
	}
	for _, e := range extra {
		properties = append(properties, strings.Replace(e, " = ", "=", 1))
	}
	args := []string{"-cp", filepath.Join(lib, "*")}
	for _, p := range properties {
		args = append(args, "-D"+p)
	}
	return args, map[string]string{healthFile: Addr(ports[3])}, nil
}

// coherenceAnswers asks a member whether it is ready, and checks that its gRPC port
// speaks HTTP/2.
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
	return speaksHTTP2(ctx, h, p)
}

// speaksHTTP2 greets a server as an HTTP/2 client does, and reads the first frame of
// the answer, which must be SETTINGS.
func speaksHTTP2(ctx context.Context, h *host, p Process) error {
	conn, err := dialHTTP2(ctx, h, p)
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

func dialHTTP2(ctx context.Context, h *host, p Process) (net.Conn, error) {
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
