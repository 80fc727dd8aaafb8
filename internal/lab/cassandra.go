package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cassandraVersion is the release of Cassandra that the lab starts.
const cassandraVersion = "5.0.9"

// The releases of Java that this Cassandra runs on.
var cassandraJava = []int{17, 11}

func cassandraService() Service {
	return javaServer{
		name: "cassandra", version: cassandraVersion, java: cassandraJava, main: "org.apache.cassandra.service.CassandraDaemon",
		summary: "one Cassandra node with a heap of 512 MiB that grows to 2 GiB at most; the first start fetches some 70 MB through Maven",
		ports:   3, fetch: fetchCassandra, prepare: prepareCassandra, answers: cassandraAnswers, most: nodeHeap,
		powered: true, settings: cassandraSweeps(),
	}.service()
}

// fetchCassandra makes sure that the jars are in the cache and returns their folder.
func fetchCassandra(ctx context.Context, h *host) (string, error) {
	return h.jarCache().jars(ctx, "cassandra-"+cassandraVersion, artefact{"org.apache.cassandra", "cassandra-all", cassandraVersion}, 70)
}

// prepareCassandra makes the arguments and the configuration of a node. ports are for
// its clients and for other nodes.
func prepareCassandra(ctx context.Context, h *host, dir, lib string, ports []int) ([]string, map[string]string, error) {
	if h.opts.Disk != nil {
		if _, err := h.dataFolder(ctx, dir, ""); err != nil {
			return nil, nil, err
		}
	}
	conf, err := cassandraYAML(h, dir, ports[0], ports[1])
	if err != nil {
		return nil, nil, err
	}
	files := map[string]string{"cassandra.yaml": conf, "logback.xml": logback}
	if f := h.rec.TLS; f != nil {
		if files["server.pem"], err = concat(f.Key, f.Cert); err != nil {
			return nil, nil, err
		}
	}
	_, forJava := cassandraSettings(h.rec.Args)
	return append(forJava, cassandraArgs(dir, lib)...), files, os.MkdirAll(filepath.Join(dir, "data"), 0o700)
}

// cassandraSettings separates arguments for the node's configuration
// ("--commitlog_sync", "group") from those for its Java
// ("-Dcassandra.unsafesystem=true").
func cassandraSettings(args []string) (forNode, forJava []string) {
	for _, a := range args {
		if strings.HasPrefix(a, "-D") {
			forJava = append(forJava, a)
		} else {
			forNode = append(forNode, a)
		}
	}
	return forNode, forJava
}

// nodeHeap lets a node's heap grow to an eighth of the machine's memory, between 512
// MiB and 2 GiB: a node that receives tens of thousands of rows a second for a minute
// runs out of 512 MiB while compacting, and dies.
func nodeHeap(memory uint64) uint64 { return min(max(memory/8>>20, leastHeap), 2048) }

func concat(paths ...string) (string, error) {
	var b strings.Builder
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return "", err
		}
		b.Write(text)
	}
	return b.String(), nil
}

// cassandraLimits are the timeouts after which a node gives up on a request. They are
// long because a lab node shares its machine with the load generator: if it is slow,
// that is for its clients to notice.
var cassandraLimits = []string{
	"request_timeout", "read_request_timeout", "range_request_timeout", "write_request_timeout",
	"cas_contention_timeout", "native_transport_timeout",
}

// cassandraYAML returns the configuration of a single node that keeps little data and
// takes no snapshots.
func cassandraYAML(h *host, dir string, port, storage int) (string, error) {
	data := func(name string) string { return strconv.Quote(filepath.Join(dir, "data", name)) }
	lines := []string{
		"cluster_name: perfbench",
		"num_tokens: 1",
		"partitioner: org.apache.cassandra.dht.Murmur3Partitioner",
		"commitlog_segment_size: 16MiB",
		"auto_snapshot: false",
		"seed_provider:",
		"  - class_name: org.apache.cassandra.locator.SimpleSeedProvider",
		"    parameters:",
		"      - seeds: " + strconv.Quote(Addr(storage)),
		"listen_address: 127.0.0.1",
		"rpc_address: 127.0.0.1",
		fmt.Sprintf("storage_port: %d", storage),
		fmt.Sprintf("native_transport_port: %d", port),
		"endpoint_snitch: SimpleSnitch",
		"data_file_directories: [" + data("data") + "]",
		"commitlog_directory: " + data("commitlog"),
		"hints_directory: " + data("hints"),
		"saved_caches_directory: " + data("saved_caches"),
		"cdc_raw_directory: " + data("cdc_raw"),
	}
	lines = append(lines, syncLines(h.rec.Args)...)
	for _, limit := range cassandraLimits {
		if !slices.Contains(h.rec.Args, "--"+limit) {
			lines = append(lines, limit+": 60s")
		}
	}
	if f := h.rec.TLS; f != nil {
		lines = append(lines,
			"client_encryption_options:",
			"  enabled: true",
			"  optional: false",
			fmt.Sprintf("  require_client_auth: %t", f.ClientAuth),
			"  ssl_context_factory:",
			"    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory",
			"  keystore: "+strconv.Quote(filepath.Join(dir, "server.pem")),
			"  truststore: "+strconv.Quote(f.CA),
		)
	}
	forNode, _ := cassandraSettings(h.rec.Args)
	extra, err := settings(forNode, func(s string) string { return s })
	for i, e := range extra {
		name, _, _ := strings.Cut(e, " = ")
		if !slices.ContainsFunc(extra[i+1:], func(later string) bool { return strings.HasPrefix(later, name+" = ") }) { // it is refused twice
			lines = append(lines, strings.Replace(e, " = ", ": ", 1))
		}
	}
	return strings.Join(lines, "\n") + "\n", err
}

// syncLines say when the commit log is synced, as far as args do not: Cassandra takes only the period that
// belongs to the way in which it syncs.
func syncLines(args []string) (lines []string) {
	how := "periodic"
	for i, a := range args {
		if a == "--commitlog_sync" && i+1 < len(args) {
			how = args[i+1] // the last one counts
		}
	}
	if !slices.Contains(args, "--commitlog_sync") {
		lines = append(lines, "commitlog_sync: "+how)
	}
	period := map[string]string{"periodic": "commitlog_sync_period: 10000ms", "group": "commitlog_sync_group_window: 10ms"}[how]
	if name, _, _ := strings.Cut(period, ":"); period != "" && !slices.Contains(args, "--"+name) {
		lines = append(lines, period)
	}
	return lines
}

// cassandraSweeps are what decides what a node keeps, and what that costs.
func cassandraSweeps() map[string][]string {
	return map[string][]string{
		"commitlog_sync":              nil,
		"commitlog_sync_period":       {"--commitlog_sync", "periodic"},
		"commitlog_sync_group_window": {"--commitlog_sync", "group"},
	}
}

const logback = `<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{HH:mm:ss.SSS} %logger{20} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
`

// What Cassandra needs of the inside of Java.
const (
	javaExports = `java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/sun.nio.ch
		java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.sql/java.sql`
	javaOpens = `java.base/java.lang.module java.base/jdk.internal.loader java.base/jdk.internal.ref
		java.base/jdk.internal.reflect java.base/jdk.internal.math java.base/jdk.internal.module
		java.base/jdk.internal.util.jar jdk.management/com.sun.management.internal java.base/sun.nio.ch
		java.base/java.io java.base/java.lang java.base/java.lang.reflect java.base/java.util
		java.base/java.util.concurrent java.base/java.util.concurrent.atomic java.base/java.nio
		java.rmi/sun.rmi.transport.tcp`
)

// cassandraArgs are the arguments of java for a node.
func cassandraArgs(dir, lib string) []string {
	var args []string
	for x := range strings.FieldsSeq(javaExports) {
		args = append(args, "--add-exports="+x+"=ALL-UNNAMED")
	}
	for x := range strings.FieldsSeq(javaOpens) {
		args = append(args, "--add-opens="+x+"=ALL-UNNAMED")
	}
	agents, _ := filepath.Glob(filepath.Join(lib, "jamm-*.jar")) // the pattern is valid
	for _, a := range agents {
		args = append(args, "-javaagent:"+a)
	}
	return append(args,
		// Memtables are made of pieces of 1 MiB. With G1's smallest regions, each would be a huge
		// object that takes two of them, and a node that is written to without a limit would die.
		"-XX:G1HeapRegionSize=4m",
		"-Djdk.attach.allowAttachSelf=true",
		"-Duser.home="+dir, "-Djava.io.tmpdir="+filepath.Join(dir, "data"),
		"-Dcassandra.config=file://"+filepath.Join(dir, "cassandra.yaml"),
		"-Dcassandra.storagedir="+filepath.Join(dir, "data"),
		"-Dlogback.configurationFile="+filepath.Join(dir, "logback.xml"),
		"-Dcassandra-foreground=yes", "-Dcassandra.superuser_setup_delay_ms=0",
		"-Dcassandra.skip_wait_for_gossip_to_settle=0", "-Dcassandra.ring_delay_ms=1",
		"-Dcassandra.shutdown_announce_in_ms=0",
		// After a power cut it would not start with a commit log whose head had never been synced,
		// until somebody says this; what the log had is lost in any case.
		"-Dcassandra.commitlog.ignorereplayerrors=true",
		"-cp", dir+string(os.PathListSeparator)+filepath.Join(lib, "*"),
	)
}

// cassandraAnswers asks the node for the options that it supports, which it reports
// without a login. The port for clients opens last.
func cassandraAnswers(ctx context.Context, h *host, p Process) error {
	conn, err := dialPlainOrTLS(ctx, h, p)
	if err != nil {
		return err
	}
	defer conn.Close()
	if end, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(end); err != nil {
			return err
		}
	}
	const version, options, supported = 4, 5, 6
	if _, err := conn.Write([]byte{version, 0, 0, 0, options, 0, 0, 0, 0}); err != nil {
		return err
	}
	head := make([]byte, 9)
	for n := 0; n < len(head); {
		m, err := conn.Read(head[n:])
		if err != nil {
			return err
		}
		n += m
	}
	if head[0] != 0x80|version || head[4] != supported {
		return fmt.Errorf("what answers on its port is not Cassandra: %w", errPortTaken)
	}
	return nil
}

func dialPlainOrTLS(ctx context.Context, h *host, p Process) (net.Conn, error) {
	if h.rec.TLS == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", p.Addr)
	}
	return dialTLS(ctx, p.Addr, *h.rec.TLS)
}
