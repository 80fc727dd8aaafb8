package lab

import (
	"context"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/mem"
)

// javaServer is a server that runs on Java, whose jars Maven fetches.
type javaServer struct {
	name, version, summary string
	// java are the releases of Java that it runs on, main is its class.
	java []int
	main string
	// ports is how many it needs; the first is for its clients, the last for the agent.
	ports   int
	fetch   func(ctx context.Context, h *host) (lib string, err error)
	answers func(ctx context.Context, h *host, p Process) error
	// most is to how many MiB its heap may grow on a machine with that many bytes of
	// memory, 0 if nobody knows; nil: it does not grow.
	most func(memory uint64) uint64
	// prepare returns the arguments of java and the files that go into the server's
	// folder dir.
	prepare func(ctx context.Context, h *host, dir, lib string, ports []int) (args []string, files map[string]string, err error)
	// powered and settings are those of Service.
	powered  bool
	settings map[string][]string
}

// leastHeap is the size in MiB with which a heap begins.
const leastHeap = 512

// heap returns the arguments that say how large the heap is.
func (s javaServer) heap(memory uint64) []string {
	most := uint64(leastHeap)
	if s.most != nil {
		most = s.most(memory)
	}
	return []string{fmt.Sprintf("-Xms%dm", leastHeap), fmt.Sprintf("-Xmx%dm", most)}
}

// briefJava are the arguments for a java that lives for seconds: it compiles quickly
// rather than well, and does not verify classes, which would take a quarter of the
// processor time of a start.
var briefJava = []string{
	"-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
	"-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote",
}

func (s javaServer) service() Service {
	return Service{
		Name:    s.name,
		Summary: s.summary,
		Needs: []Need{
			{Binary: "mvn", Package: "maven"},
			{Binary: "java", Package: "openjdk-17-jre-headless", Java: s.java},
		},
		limit:   10 * time.Minute, // the first start fetches
		start:   s.start,
		answers: s.answers,
		single:  true,
		powered: s.powered, settings: s.settings,
	}
}

// start starts one such server and waits until it answers.
func (s javaServer) start(ctx context.Context, h *host) error {
	lib, err := s.fetch(ctx, h)
	if err != nil {
		return err
	}
	jar, err := h.jarCache().agent(ctx)
	if err != nil {
		return err
	}
	ports, err := FreePorts(s.ports, 0)
	if err != nil {
		return err
	}
	if h.opts.Port != 0 {
		ports[0] = h.opts.Port
	}
	dir, agentPort := h.folder(s.name), ports[s.ports-1]
	args, files, err := s.prepare(ctx, h, dir, lib, ports)
	if err != nil {
		return err
	}
	engine, stop := []string{"-XX:+UseG1GC"}, ""
	if h.opts.Brief {
		engine, stop = briefJava, "KILL"
	}
	memory := uint64(0)
	if m, err := mem.VirtualMemory(); err == nil {
		memory = m.Total
	}
	args = slices.Concat(engine, s.heap(memory), []string{"-XX:+ExitOnOutOfMemoryError", "-Djava.net.preferIPv4Stack=true", agentArg(jar, dir, agentPort)}, args)
	for i, a := range args {
		args[i] = strconv.Quote(a)
	}
	const argsFile = "java.args"
	files[argsFile], files[policyFile] = strings.Join(args, "\n")+"\n", policy
	command := []string{"java", "@" + filepath.Join(dir, argsFile), s.main}
	p, err := h.spawn(ctx, spec{Name: s.name, Addr: Addr(ports[0]), Files: files, Command: command, Stop: stop})
	if err != nil {
		return err
	}
	h.step("waiting until it answers, some 5 to 15 seconds")
	ctx, cancel := context.WithTimeoutCause(ctx, 2*startLimit, fmt.Errorf("not ready within %v", 2*startLimit))
	defer cancel()
	if err := h.ready(ctx, p); err != nil {
		return err
	}
	h.rec.Version, h.rec.Jolokia = s.version, agentURL(agentPort)
	h.rec.URL = s.name + "://" + p.Addr + sqlTLSParams(h.rec.TLS)
	return nil
}

// jolokia is an agent inside a Java server that reports over HTTP what its JVM and the
// server itself measure: heap, collections, processor time, latencies.
var jolokia = artefact{"org.jolokia", "jolokia-agent-jvm", "2.1.2"}

// policyFile says which requests the agent accepts.
const policyFile = "jolokia-policy.xml"

// policy makes the agent read-only: anyone on this machine can query it, but must not
// be able to change or call anything.
const policy = xml.Header + `<restrict>
  <http><method>get</method><method>post</method></http>
  <commands><command>read</command><command>list</command><command>search</command><command>version</command></commands>
</restrict>
`

// agent makes sure that the agent is in the cache, and returns its jar.
func (c jarCache) agent(ctx context.Context) (string, error) {
	// The jar contains everything that it needs.
	lib, err := c.fetch(ctx, jolokia.id+"-"+jolokia.version, jolokia, jolokia.inPOM("<classifier>javaagent</classifier>"+
		"<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"), 1)
	if err != nil {
		return "", err
	}
	jar := filepath.Join(lib, fmt.Sprintf("%s-%s-javaagent.jar", jolokia.id, jolokia.version))
	return jar, nil
}

// agentArg returns the argument of java that loads the agent on a loopback port, with
// the policy file in the server's folder.
func agentArg(jar, dir string, port int) string {
	return "-javaagent:" + jar + "=" + strings.Join([]string{
		"host=127.0.0.1", fmt.Sprintf("port=%d", port), "discoveryEnabled=false",
		"policyLocation=file://" + filepath.Join(dir, policyFile),
	}, ",")
}

// agentURL returns the URL of the agent.
func agentURL(port int) string { return fmt.Sprintf("http://%s/jolokia/", Addr(port)) }
