package lab

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/perfbench/perfbench/internal/lab/proc"
)

// jolokia is an agent inside a Java server that tells over HTTP what its JVM and
// the server itself measure: heap, collections, processor time, latencies.
var jolokia = artefact{"org.jolokia", "jolokia-agent-jvm", "2.1.2"}

// policyFile holds what the agent may be asked.
const policyFile = "jolokia-policy.xml"

// policy lets the agent be read and nothing else: whoever is on this machine can
// ask it, and must not be able to change or call anything.
const policy = xml.Header + `<restrict>
  <http><method>get</method><method>post</method></http>
  <commands><command>read</command><command>list</command><command>search</command><command>version</command></commands>
</restrict>
`

// agent sees to it that the agent is in the cache, and returns its jar.
func (h *host) agent(ctx context.Context) (string, error) {
	// The jar has all that it needs in it.
	lib, err := h.fetch(ctx, jolokia.id+"-"+jolokia.version, jolokia, jolokia.inPOM("<classifier>javaagent</classifier>"+
		"<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"), 1)
	if err != nil {
		return "", err
	}
	jar := filepath.Join(lib, fmt.Sprintf("%s-%s-javaagent.jar", jolokia.id, jolokia.version))
	return jar, nil
}

// agentArg is the argument of java that loads the agent on a loopback port, with
// the policy file in the server's folder.
func agentArg(jar, dir string, port int) string {
	return "-javaagent:" + jar + "=" + strings.Join([]string{
		"host=127.0.0.1", fmt.Sprintf("port=%d", port), "discoveryEnabled=false",
		"policyLocation=file://" + filepath.Join(dir, policyFile),
	}, ",")
}

// agentURL is where the agent answers.
func agentURL(port int) string { return fmt.Sprintf("http://%s/jolokia/", proc.Addr(port)) }

// OutOfHeap returns what the log of the server that a target names says of its end,
// when it has ended for want of heap. It is empty of servers that still run, that ended
// otherwise, and that are not of the lab below dir.
func OutOfHeap(dir, target string) string {
	all, _ := Status(dir) // of a broken record nobody can tell
	for _, s := range all {
		for _, p := range s.Processes {
			if p.Alive || p.Addr == "" || !strings.Contains(target, p.Addr) {
				continue
			}
			if said := lastWord(filepath.Join(p.Dir, "log"), "java.lang.OutOfMemoryError"); said != "" {
				return said
			}
		}
	}
	return ""
}

// lastWord is the last line of the end of a log that has a word in it, from there on.
func lastWord(path, word string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const tail = 64 << 10
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, err = f.Seek(max(size-tail, 0), io.SeekStart)
		if err != nil {
			return ""
		}
	}
	text, _ := io.ReadAll(io.LimitReader(f, tail))
	at := strings.LastIndex(string(text), word)
	if at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(string(text[at:]), "\n")
	return strings.TrimSpace(line)
}

// Agent returns where the JVM of the running server that a target names tells what
// it measures: the URL of its Jolokia agent. It is empty of servers that are not of
// the lab below dir or have no such agent.
func Agent(dir, target string) string {
	all, _ := Status(dir) // of a broken record nobody can tell
	for _, s := range all {
		for _, p := range s.Processes {
			if s.Jolokia != "" && p.Alive && strings.Contains(target, p.Addr) {
				return s.Jolokia
			}
		}
	}
	return ""
}
